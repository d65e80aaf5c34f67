"""The client."""

from __future__ import annotations

import json
import os
import secrets
import time
from base64 import b64encode
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from io import BytesIO
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Generator, Iterator, Mapping, Sequence, TypedDict, cast
from urllib.parse import quote
from zipfile import ZipFile

from .errors import JobFailedError, LatheError, seconds_in
from .transfers import (
    Input,
    Progress,
    Target,
    is_web_address,
    post_form,
    read_file,
    reusable,
    small_files,
    upload_file,
    write_file,
)
from .transport import RetryPolicy, Transport
from .types import File, Health, Job, Operation, Option, Task

if TYPE_CHECKING:
    # Python 3.10 has no such name, and needs none at run time.
    from typing_extensions import Unpack

# How often the tasks are looked at that a failed job has left to end, in seconds.
_LAST_TASKS = 1.0


@dataclass(frozen=True)
class Event:
    """What happened to a job or one of its tasks, with its state after that."""

    event: str
    data: Job | Task


@dataclass(frozen=True)
class Result:
    """The result files, and what of the input could not be converted.

    A small file is converted within one request, without a job: its file has no link, but its content.
    """

    job: Job | None
    files: list[File]
    warnings: list[str] = field(default_factory=list[str])


class RunOptions(TypedDict, total=False):
    """What every operation takes. Its files are used in addition to the inputs, such as the picture of a watermark."""

    filename: str | None
    tag: str | None
    webpage: bool
    instant: bool
    files: Mapping[str, Input] | None
    on_progress: Progress | None


class Lathe:
    """Calls a Lathe service. Requests that fail for reasons that pass are sent again, and create nothing twice."""

    def __init__(
        self,
        key: str | None = None,
        url: str | None = None,
        *,
        retry: RetryPolicy = RetryPolicy(),
        timeout: float = 60.0,
    ) -> None:
        """Takes the key and the address of the service; both default to LATHE_API_KEY and LATHE_URL."""
        address = url or os.environ.get("LATHE_URL") or "http://localhost:3000"
        self._transport = Transport(address, key or os.environ.get("LATHE_API_KEY"), retry, timeout)

    @property
    def url(self) -> str:
        """Root of the API."""
        return self._transport.url

    def request(self, method: str, path: str, **options: Any) -> Any:
        """Sends any request to the API (query, body, headers, idempotency_key) and returns the body of its response."""
        return self._transport.json(method, path, **options)

    def create_job(
        self,
        tasks: Mapping[str, Mapping[str, Any]],
        *,
        tag: str | None = None,
        webhook_url: str | None = None,
        idempotency_key: str | None = None,
        wait_seconds: int = 0,
    ) -> Job:
        """Creates a job with all its tasks; returns it when it has ended, or after as many seconds, 25 at most."""
        body: dict[str, Any] = {"tasks": tasks}
        if tag is not None:
            body["tag"] = tag
        if webhook_url is not None:
            body["webhook_url"] = webhook_url
        headers = {"Prefer": f"wait={wait_seconds}"} if wait_seconds > 0 else {}
        created = self.request("POST", "/v1/process/jobs", body=body, headers=headers, idempotency_key=idempotency_key)
        return cast(Job, created)

    def job(self, job_id: str) -> Job:
        """Returns a job with its tasks."""
        return cast(Job, self.request("GET", f"/v1/process/jobs/{quote(job_id, safe='')}"))

    def task(self, task_id: str) -> Task:
        """Returns a task."""
        return cast(Task, self.request("GET", f"/v1/process/tasks/{quote(task_id, safe='')}"))

    def jobs(self, **filters: Any) -> Iterator[Job]:
        """Yields jobs, newest first, page by page as they are read (status, tag, include, per_page)."""
        return self._pages("/v1/process/jobs", filters)

    def tasks(self, **filters: Any) -> Iterator[Task]:
        """Yields tasks, newest first, page by page as they are read (status, operation, job, include, per_page)."""
        return self._pages("/v1/process/tasks", filters)

    def upload(
        self, task: Task, source: Input, *, filename: str | None = None, on_progress: Progress | None = None
    ) -> None:
        """Uploads a path, bytes or an open file to an import/upload task.

        A file of more than 100 MB is sent in parts: called again after an error, with the same task and file, it resumes.
        """
        form = task["result"].get("form")
        if form is None:
            raise TypeError(f"Expected a task of import/upload but {task['name']} is one of {task['operation']}.")
        upload_file(self._transport, form, source, filename, on_progress)

    def follow(self, job: Job | str) -> Iterator[Event]:
        """Yields the events of a job, each state once, until it and all its tasks have ended."""
        seen = Seen()
        current, pause = self.job(id_of(job)), 0.0
        while True:
            yield from seen.events_of(current)
            if is_over(current):
                return
            time.sleep(pause)
            current, pause = self.wait_once(id_of(job))

    def wait(self, job: Job | str, *, timeout: float | None = None) -> Job:
        """Waits until a job and all its tasks have ended, however they did, and returns it."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            current, pause = self.wait_once(id_of(job))
            if is_over(current):
                return current
            if deadline is not None and time.monotonic() + pause >= deadline:
                raise TimeoutError(f"The job {current['id']} has not ended within {timeout} seconds.")
            time.sleep(pause)

    def read(self, file: File | str, *, on_progress: Progress | None = None) -> Iterator[bytes]:
        """Yields a file of a result chunk by chunk."""
        return read_file(self._transport, file, on_progress)

    def download(
        self, file: File | str, to: Target, *, overwrite: bool = True, on_progress: Progress | None = None
    ) -> None:
        """Writes a file of a result to a path or an open file."""
        write_file(self.read(file, on_progress=on_progress), to, overwrite)

    def convert(
        self,
        source: Input,
        *,
        to: str,
        input_format: str | None = None,
        options: Mapping[str, Any] | None = None,
        **rest: Unpack[RunOptions],
    ) -> Result:
        """Converts a file, or what a URL leads to; raises JobFailedError if the job fails.

        Takes filename, tag, webpage (a URL is rendered as a page), instant (False for a job) and on_progress (of an
        upload) too.
        """
        return self.perform("convert", [source], to=to, input_format=input_format, options=options, **rest)

    def compress(
        self, source: Input, *, options: Mapping[str, Any] | None = None, **rest: Unpack[RunOptions]
    ) -> Result:
        """Reduces the size of a file and keeps its format."""
        return self.perform("compress", [source], options=options, **rest)

    def crop(
        self, source: Input, *, to: str | None = None, options: Mapping[str, Any], **rest: Unpack[RunOptions]
    ) -> Result:
        """Crops an image, a video or the pages of a PDF (x, y, width, height)."""
        return self.perform("crop", [source], to=to, options=options, **rest)

    def trim(
        self, source: Input, *, to: str | None = None, options: Mapping[str, Any], **rest: Unpack[RunOptions]
    ) -> Result:
        """Cuts audio or video to a part (trim_start, trim_end)."""
        return self.perform("trim", [source], to=to, options=options, **rest)

    def merge(
        self,
        sources: Sequence[Input],
        *,
        to: str = "pdf",
        options: Mapping[str, Any] | None = None,
        **rest: Unpack[RunOptions],
    ) -> Result:
        """Merges images and PDFs into one file, in the order given."""
        return self.perform("merge", sources, to=to, options=options, **rest)

    def perform(
        self,
        operation: Operation,
        sources: Sequence[Input],
        *,
        to: str | None = None,
        input_format: str | None = None,
        options: Mapping[str, Any] | None = None,
        **rest: Unpack[RunOptions],
    ) -> Result:
        """Performs an operation that is chosen at run time."""
        process = {"operation": operation, "output_format": to, "input_format": input_format}
        started = self.start([reusable(source) for source in sources], process, options or {}, **rest)
        if isinstance(started, Result):
            return started
        with self._canceling(started):
            ended = started if is_over(started) else self.wait(started)
            return self.result_of(started, ended)

    def cancel(self, job: Job | str) -> None:
        """Cancels all tasks of a job that have not ended."""
        for task in self.job(id_of(job)).get("tasks", []):
            if task["endedAt"] is None:
                self.cancel_task(task)

    def cancel_task(self, task: Task | str) -> None:
        """Cancels a task, and with it those that depend on it; one that has ended meanwhile stays as it is."""
        try:
            self.request("POST", f"/v1/process/tasks/{quote(id_of(task), safe='')}/cancel")
        except LatheError as error:
            if error.status != 409:
                raise

    def delete_job(self, job: Job | str) -> None:
        """Deletes a job with its tasks and files."""
        self.request("DELETE", f"/v1/process/jobs/{quote(id_of(job), safe='')}")

    def formats(
        self, *, input_format: str | None = None, output_format: str | None = None, operation: str = "convert"
    ) -> list[str]:
        """Returns all formats, or those that one can be converted to or from."""
        is_pair = input_format is not None or output_format is not None
        path = f"/v1/query/formats/{operation}" if is_pair else "/v1/query/formats"
        found = self.request("GET", path, query={"input_format": input_format, "output_format": output_format})
        return sorted({item["ext"] for item in found["formats"]})

    def options(self, input_format: str, output_format: str, *, operation: str = "convert") -> list[Option]:
        """Returns the options of an operation for a pair of formats."""
        query = {"input_format": input_format, "output_format": output_format}
        found = self.request("GET", f"/v1/query/options/{operation}", query=query)
        return cast("list[Option]", found["options"])

    def health(self) -> Health:
        """Returns the version of the service, which engines it can use, and where WebSockets connect."""
        return cast(Health, self.request("GET", "/health"))

    def start(
        self,
        sources: list[Input],
        process: dict[str, Any],
        options: Mapping[str, Any],
        *,
        filename: str | None = None,
        tag: str | None = None,
        webpage: bool = False,
        instant: bool = True,
        files: Mapping[str, Input] | None = None,
        on_progress: Progress | None = None,
    ) -> Result | Job:
        """Performs an operation within one request, or returns a job that has its files and may not have ended."""
        others = {role: reusable(source) for role, source in (files or {}).items()}
        if instant and tag is None and not webpage:
            started = self._instant(sources, process, options, filename, others)
            if started is not None:
                return started
        # Small files are in the tasks, unless the progress of their upload is wanted.
        every = [*sources, *others.values()]
        name = filename if len(sources) == 1 else None
        small = None if on_progress else small_files(every, name, _MAX_INLINE)
        if small is None:
            imports = [_import_of(source, webpage and number < len(sources)) for number, source in enumerate(every)]
        else:
            imports = [_inline_import(file) for file in small]
        inputs = [f"import-{number}" for number in range(1, len(sources) + 1)]
        tasks = dict(zip([*inputs, *others], imports))
        is_held = all(task["operation"] != "import/upload" for task in tasks.values())
        if not is_held:
            self._check_option_names(sources, process, options, filename)
        given = {key: value for key, value in process.items() if value is not None}
        named = {role: role for role in others}
        tasks["process"] = {**given, **named, "input": inputs, "options": dict(options)}
        tasks["export"] = {"operation": "export/url", "input": "process"}
        once = secrets.token_hex(16)
        try:
            seconds = self._transport.wait_seconds if is_held else 0
            job = self.create_job(tasks, tag=tag, idempotency_key=once, wait_seconds=seconds)
        except KeyboardInterrupt:
            # The request may have created the job. With the same key, it returns that one.
            with suppress(LatheError):
                self.cancel(self.create_job(tasks, tag=tag, idempotency_key=once))
            raise
        with self._canceling(job):
            for number, (task, source) in enumerate(zip(job.get("tasks", []), every)):
                if task["operation"] == "import/upload":
                    self.upload(task, source, filename=None if number else name, on_progress=on_progress)
        return job

    def _check_option_names(
        self, sources: list[Input], process: dict[str, Any], options: Mapping[str, Any], filename: str | None
    ) -> None:
        """Raises an error about an option that does not exist, before files are uploaded."""
        formats = {process["input_format"] or _extension_of(source, filename) for source in sources}
        if not options or "" in formats:
            return
        known: set[str] = set()
        for found in formats:
            to = process["output_format"] or found
            try:
                known.update(option["name"] for option in self.options(found, to, operation=process["operation"]))
            except LatheError as error:
                if error.status != 400:
                    raise
                # The content may be of another format than the name says: the service decides.
                return
        for name in options:
            if name not in known:
                near = get_close_matches(name, known, 1)
                hint = f"Did you mean {near[0]}?" if near else f"Options: {', '.join(sorted(known)) or 'none'}."
                problem = f"{process['operation']} has no such option for {', '.join(sorted(formats))}. {hint}"
                raise LatheError(
                    "bad_request",
                    f"options.{name}: {problem}",
                    errors={f"options.{name}": [problem]},
                    reason="invalid_options",
                )

    def result_of(self, created: Job, ended: Job) -> Result:
        """Returns the result of a job that has ended, or raises JobFailedError."""
        if ended["status"] != "completed":
            raise JobFailedError(ended)
        # Only the response to the creation has the warnings about the request.
        return _result_of(cast(Job, {**created, **ended}))

    @contextmanager
    def _canceling(self, job: Job) -> Generator[None, None, None]:
        """Cancels a job if anything fails but the job: it would wait an hour for a file that does not come."""
        try:
            yield
        except JobFailedError:
            raise
        except BaseException:
            # What the caller has to know is the first error.
            with suppress(LatheError):
                self.cancel(job)
            raise

    def _instant(
        self,
        sources: list[Input],
        process: dict[str, Any],
        options: Mapping[str, Any],
        filename: str | None,
        others: Mapping[str, Input],
    ) -> Result | Job | None:
        """Performs an operation on small files within one request; returns None if that takes another job."""
        operation = process["operation"]
        fields = {key: str(value) for key, value in process.items() if key != "operation" and value is not None}
        fields["options"] = json.dumps(dict(options))
        first = filename if len(sources) == 1 else None
        small = small_files([*sources, *others.values()], first, _MAX_INSTANT)
        if small is None:
            return None
        files = list(zip([*("file" for _ in sources), *others], small))
        try:
            path = f"/v1/instant/{operation}"
            status, headers, body = post_form(self._transport, path, fields, files, self._instant_retries)
        except LatheError as error:
            if error.status in _NEEDS_JOB:
                return None
            raise
        if status == 202:
            return cast(Job, json.loads(body))
        name, media_type = headers.get_filename() or "file", headers.get_content_type()
        contents = {name: body}
        if headers.get("Lathe-Archive"):
            media_type = headers["Lathe-Archive"]
            with ZipFile(BytesIO(body)) as archive:
                contents = {entry: archive.read(entry) for entry in archive.namelist()}
        made = [_file_of(entry, content, media_type) for entry, content in contents.items()]
        return Result(None, made, json.loads(headers.get("Lathe-Warnings") or "[]"))

    def _instant_retries(self, error: LatheError) -> int:
        """Says how often to repeat a request: what a job can avoid is left to one."""
        if error.status == 429:
            return 2 if error.retry_after is not None and error.retry_after <= _MAX_INSTANT_PAUSE else 0
        return 0 if error.status in _NEEDS_JOB else self._transport.retry.retries

    def wait_once(self, job_id: str) -> tuple[Job, float]:
        """Waits for as long as the service holds a request; returns the job and the pause before another wait.

        The service holds only so many for an account, and none for the tasks of a job that has ended.
        """
        try:
            path = f"/v1/process/jobs/{quote(job_id, safe='')}/wait"
            job, headers = self._transport.call("GET", path, retries=0)
            asked = seconds_in(headers.get("Retry-After"))
            return job, (_LAST_TASKS if job["endedAt"] else 0.0) if asked is None else asked
        except LatheError as error:
            if not error.may_pass:
                raise
            # Too many clients wait at once, or this connection was lost: the job itself is shown at once, or retried.
            time.sleep(self._transport.retry.pause_before(1) if error.retry_after is None else error.retry_after)
            return self.job(job_id), 0.0

    def _pages(self, path: str, filters: Mapping[str, Any]) -> Iterator[Any]:
        page = 1
        while True:
            found = self.request("GET", path, query={**filters, "page": page})
            yield from found["docs"]
            if not found["hasNextPage"]:
                return
            page += 1


#: The maximum of the service for all files of an instant request.
_MAX_INSTANT = 4_400_000
#: The maximum of the service for a file within a task.
_MAX_INLINE = 1_000_000
#: Statuses of instant requests that a job may avoid: unknown to the service, too large, too many, failed, busy, too slow.
_NEEDS_JOB = {404, 405, 413, 429, 500, 502, 503, 504}
#: The longest pause before an instant request is repeated, in seconds.
_MAX_INSTANT_PAUSE = 2.0


def _inline_import(file: tuple[str, bytes]) -> dict[str, Any]:
    name, content = file
    data = f"data:application/octet-stream;base64,{b64encode(content).decode()}"
    return {"operation": "import/base64", "file": data, "filename": name}


def _file_of(name: str, content: bytes, media_type: str) -> File:
    return {
        "url": None,
        "filename": name,
        "size": len(content),
        "format": name.rpartition(".")[2],
        "media_type": media_type,
        "content": content,
    }


def _import_of(source: Input, webpage: bool) -> dict[str, Any]:
    if not is_web_address(source):
        return {"operation": "import/upload"}
    return {"operation": "import/webpage" if webpage else "import/url", "url": source}


def _result_of(job: Job) -> Result:
    tasks = job.get("tasks", [])
    exports = [task for task in tasks if task["operation"] == "export/url"]
    return Result(
        job,
        [file for task in exports for file in task["result"].get("files", [])],
        [*job.get("warnings", []), *(warning for task in tasks for warning in task["result"].get("warnings", []))],
    )


def is_over(job: Job) -> bool:
    return job["endedAt"] is not None and all(task["endedAt"] is not None for task in job.get("tasks", []))


class Seen:
    """The states of a job and its tasks that were reported."""

    def __init__(self) -> None:
        self._known: dict[str, Job | Task] = {}

    def events_of(self, job: Job) -> Iterator[Event]:
        """Yields the events that lead to a state of a job."""
        tasks: list[tuple[str, Job | Task]] = [("task", task) for task in job.get("tasks", [])]
        for kind, subject in [*tasks, ("job", job)] if job["endedAt"] else [("job", job), *tasks]:
            before = self._known.get(subject["id"])
            if subject["status"] == "created" or (before and before["version"] >= subject["version"]):
                continue
            self._known[subject["id"]] = subject
            yield Event(_event_of(kind, subject["status"], before), subject)


def _event_of(kind: str, status: str, before: Job | Task | None) -> str:
    if status != "processing":
        return f"{kind}_{status}"
    return f"{kind}_updated" if before and before["status"] == "processing" else f"{kind}_started"


def _extension_of(source: Input, filename: str | None) -> str:
    if is_web_address(source):
        return ""
    name = filename or (str(source) if isinstance(source, (str, os.PathLike)) else str(getattr(source, "name", "")))
    return PurePath(name).suffix[1:].lower()


def id_of(subject: Job | Task | str) -> str:
    return subject if isinstance(subject, str) else subject["id"]
