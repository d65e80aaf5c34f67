"""The client for asyncio."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event as Flag
from types import TracebackType
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Iterator, Mapping, Sequence, TypeVar

from .client import Event, Lathe, Result, RunOptions, Seen, id_of, is_over
from .errors import LatheError
from .transfers import Input, Progress, Target, reusable, write_file
from .transport import RetryPolicy
from .types import File, Health, Job, Operation, Option, Task

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Value = TypeVar("_Value")


class AsyncLathe:
    """Calls a Lathe service from a coroutine, with the methods of Lathe.

    Requests run in threads of its own, because the standard library has no asynchronous HTTP. A coroutine that is
    canceled cancels its job, as soon as the request that creates it has returned (25 seconds at most).
    """

    def __init__(
        self,
        key: str | None = None,
        url: str | None = None,
        *,
        retry: RetryPolicy = RetryPolicy(),
        timeout: float = 60.0,
        max_requests: int = 16,
    ) -> None:
        """Takes the key and URL of the service, and how many requests may be in progress."""
        self._lathe = Lathe(key, url, retry=retry, timeout=timeout)
        self._threads = ThreadPoolExecutor(max_requests, thread_name_prefix="lathe")

    async def __aenter__(self) -> AsyncLathe:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Waits for the requests in progress and releases the threads."""
        await asyncio.to_thread(self._threads.shutdown)

    @property
    def url(self) -> str:
        """Root of the API."""
        return self._lathe.url

    async def request(self, method: str, path: str, **options: Any) -> Any:
        """Sends any request to the API (query, body, headers, idempotency_key) and returns the body of its response."""
        return await self._call(self._lathe.request, method, path, **options)

    async def create_job(self, tasks: Mapping[str, Mapping[str, Any]], **options: Any) -> Job:
        """Creates a job with all its tasks, with the options of Lathe.create_job."""
        return await self._call(self._lathe.create_job, tasks, **options)

    async def job(self, job_id: str) -> Job:
        """Returns a job with its tasks."""
        return await self._call(self._lathe.job, job_id)

    async def task(self, task_id: str) -> Task:
        """Returns a task."""
        return await self._call(self._lathe.task, task_id)

    def jobs(self, **filters: Any) -> AsyncIterator[Job]:
        """Yields jobs, newest first, page by page as they are read (status, tag, include, per_page)."""
        return self._each(self._lathe.jobs(**filters))

    def tasks(self, **filters: Any) -> AsyncIterator[Task]:
        """Yields tasks, newest first, page by page as they are read (status, operation, job, include, per_page)."""
        return self._each(self._lathe.tasks(**filters))

    async def upload(
        self, task: Task, source: Input, *, filename: str | None = None, on_progress: Progress | None = None
    ) -> None:
        """Uploads a path, bytes or an open file to an import/upload task. on_progress is called in another thread."""
        await self._call(self._lathe.upload, task, source, filename=filename, on_progress=on_progress)

    async def follow(self, job: Job | str) -> AsyncIterator[Event]:
        """Yields the events of a job, each state once, until it and all its tasks have ended."""
        seen = Seen()
        current, pause = await self.job(id_of(job)), 0.0
        while True:
            for event in seen.events_of(current):
                yield event
            if is_over(current):
                return
            await asyncio.sleep(pause)
            current, pause = await self._call(self._lathe.wait_once, id_of(job))

    async def wait(self, job: Job | str) -> Job:
        """Waits until a job and all its tasks have ended, however they did, and returns it."""
        while True:
            current, pause = await self._call(self._lathe.wait_once, id_of(job))
            if is_over(current):
                return current
            await asyncio.sleep(pause)

    def read(self, file: File | str, *, on_progress: Progress | None = None) -> AsyncIterator[bytes]:
        """Yields a file of a result chunk by chunk."""
        return self._each(self._lathe.read(file, on_progress=on_progress))

    async def download(
        self, file: File | str, to: Target, *, overwrite: bool = True, on_progress: Progress | None = None
    ) -> None:
        """Writes a file of a result to a path or an open file. Nothing is written after it was canceled."""
        stopped = Flag()

        def chunks() -> Iterator[bytes]:
            for chunk in self._lathe.read(file, on_progress=on_progress):
                if stopped.is_set():
                    raise LatheError("canceled", "The download was canceled.")
                yield chunk

        try:
            await self._call(write_file, chunks(), to, overwrite)
        finally:
            stopped.set()

    async def convert(
        self,
        source: Input,
        *,
        to: str,
        input_format: str | None = None,
        options: Mapping[str, Any] | None = None,
        **rest: Unpack[RunOptions],
    ) -> Result:
        """Converts a file, or what a URL leads to; raises JobFailedError if the job fails."""
        return await self.perform("convert", [source], to=to, input_format=input_format, options=options, **rest)

    async def compress(
        self, source: Input, *, options: Mapping[str, Any] | None = None, **rest: Unpack[RunOptions]
    ) -> Result:
        """Reduces the size of a file and keeps its format."""
        return await self.perform("compress", [source], options=options, **rest)

    async def crop(
        self, source: Input, *, to: str | None = None, options: Mapping[str, Any], **rest: Unpack[RunOptions]
    ) -> Result:
        """Crops an image, a video or the pages of a PDF (x, y, width, height)."""
        return await self.perform("crop", [source], to=to, options=options, **rest)

    async def trim(
        self, source: Input, *, to: str | None = None, options: Mapping[str, Any], **rest: Unpack[RunOptions]
    ) -> Result:
        """Cuts audio or video to a part (trim_start, trim_end)."""
        return await self.perform("trim", [source], to=to, options=options, **rest)

    async def merge(
        self,
        sources: Sequence[Input],
        *,
        to: str = "pdf",
        options: Mapping[str, Any] | None = None,
        **rest: Unpack[RunOptions],
    ) -> Result:
        """Merges images and PDFs into one file, in the order given."""
        return await self.perform("merge", sources, to=to, options=options, **rest)

    async def perform(
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

        def start() -> Result | Job:
            return self._lathe.start([reusable(source) for source in sources], process, options or {}, **rest)

        starting = asyncio.wrap_future(self._threads.submit(start))
        try:
            started = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The request goes on in its thread, and may create a job.
            with suppress(LatheError):
                started = await starting
                if not isinstance(started, Result):
                    await self.cancel(started)
            raise
        if isinstance(started, Result):
            return started
        try:
            ended = started if is_over(started) else await self.wait(started)
        except BaseException:
            with suppress(LatheError):
                await asyncio.shield(self.cancel(started))
            raise
        return self._lathe.result_of(started, ended)

    async def cancel(self, job: Job | str) -> None:
        """Cancels all tasks of a job that have not ended."""
        await self._call(self._lathe.cancel, job)

    async def cancel_task(self, task: Task | str) -> None:
        """Cancels a task, and with it those that depend on it; one that has ended meanwhile stays as it is."""
        await self._call(self._lathe.cancel_task, task)

    async def delete_job(self, job: Job | str) -> None:
        """Deletes a job with its tasks and files."""
        await self._call(self._lathe.delete_job, job)

    async def formats(self, **query: str) -> list[str]:
        """Returns all formats, or those that one can be converted to or from (input_format, output_format, operation)."""
        return await self._call(self._lathe.formats, **query)

    async def options(self, input_format: str, output_format: str, *, operation: str = "convert") -> list[Option]:
        """Returns the options of an operation for a pair of formats."""
        return await self._call(self._lathe.options, input_format, output_format, operation=operation)

    async def health(self) -> Health:
        """Returns the version of the service, which engines it can use, and where WebSockets connect."""
        return await self._call(self._lathe.health)

    async def _call(self, function: Callable[..., _Value], *args: Any, **options: Any) -> _Value:
        return await asyncio.wrap_future(self._threads.submit(function, *args, **options))

    async def _each(self, values: Iterator[_Value]) -> AsyncIterator[_Value]:
        while True:
            found = await self._call(lambda: _next_of(values))
            if found is None:
                return
            yield found[0]


def _next_of(values: Iterator[_Value]) -> tuple[_Value] | None:
    """Returns the next value, or None at the end: a coroutine cannot receive a StopIteration."""
    for value in values:
        return (value,)
    return None
