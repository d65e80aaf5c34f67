"""What can go wrong, in the words of the service where it responded."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Generator, Mapping, Protocol, cast

from .types import Job, TaskResult

# Statuses after which the same request may succeed.
_PASSING = {408, 425, 429, 500, 502, 503, 504}


class LatheError(Exception):
    """An error of the service, or `unreachable` if it did not respond."""

    def __init__(
        self,
        error_code: str,
        msg: str,
        *,
        status: int | None = None,
        errors: Mapping[str, list[str]] | None = None,
        reason: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(msg)
        self.error_code = error_code
        self.msg = msg
        self.status = status
        self.errors = errors
        self.reason = reason
        self.request_id = request_id
        self.retry_after = retry_after

    @property
    def may_pass(self) -> bool:
        """Whether the same request may succeed later. A 409 may if it says when: one with the same key is in progress."""
        if self.status is None:
            return self.error_code == "unreachable"
        return self.status in _PASSING or (self.status == 409 and self.retry_after is not None)


class JobFailedError(LatheError):
    """A job that ended without its files; code and message are those of the first of its tasks that failed."""

    def __init__(self, job: Job) -> None:
        failed = [task for task in job.get("tasks", []) if task["status"] in ("failed", "canceled")]
        failed.sort(key=lambda task: task["endedAt"] or "")
        first: TaskResult = failed[0]["result"] if failed else {}
        code = first.get("errorCode") or job["result"].get("errorCode") or "task_failed"
        msg = first.get("msg") or job["result"].get("msg") or f"The job {job['id']} failed."
        super().__init__(code, msg)
        self.job = job


class LocalFileError(LatheError, OSError):
    """A file of this machine that cannot be read or written; `path` names it, and the cause is the error of Python."""

    def __init__(self, error_code: str, msg: str, *, path: str, errno: int | None = None) -> None:
        super().__init__(error_code, msg)
        self.path = self.filename = path
        self.errno = errno

    def __str__(self) -> str:
        return self.msg


class LocalFileNotFoundError(LocalFileError, FileNotFoundError):
    """A file to read, or the folder of a file to write, that does not exist."""


class LocalFileExistsError(LocalFileError, FileExistsError):
    """A file to write that exists, and is not to be overwritten."""


def local_file_error(path: str, cause: OSError) -> LocalFileError:
    """Makes the error of a local file; each is also an instance of what Python raises."""
    if isinstance(cause, FileNotFoundError):
        return LocalFileNotFoundError("no_such_file", f"{path} does not exist.", path=path, errno=cause.errno)
    if isinstance(cause, FileExistsError):
        return LocalFileExistsError("exists", f"{path} already exists.", path=path, errno=cause.errno)
    if isinstance(cause, IsADirectoryError):
        return LocalFileError("is_a_folder", f"Expected a file but {path} is a folder.", path=path, errno=cause.errno)
    reason = cause.strerror or str(cause)
    return LocalFileError("local_file", f"{path} cannot be used: {reason}.", path=path, errno=cause.errno)


@contextmanager
def local_file(path: object) -> Generator[None, None, None]:
    """Turns the errors of Python about a local file into errors of this package."""
    try:
        yield
    except OSError as error:
        if isinstance(error, LatheError):
            raise
        raise local_file_error(str(path), error) from error


class Headers(Protocol):
    """Headers of a response."""

    def get(self, name: str, /) -> str | None: ...


def error_of(status: int, headers: Headers, body: bytes) -> LatheError:
    """Returns the error that a response stands for: one of the service, of API Gateway, or of the file store."""
    retry_after = seconds_in(headers.get("Retry-After"))
    text = body.decode("utf-8", "replace")
    fields = _object_in(text)
    if isinstance(fields.get("errorCode"), str) and isinstance(fields.get("msg"), str):
        return LatheError(
            fields["errorCode"],
            fields["msg"],
            status=status,
            errors=fields.get("errors"),
            reason=fields.get("reason"),
            request_id=fields.get("requestId"),
            retry_after=retry_after,
        )
    # API Gateway sends a message alone, the file store XML.
    code = re.search(r"<Code>([^<]*)</Code>", text)
    message = re.search(r"<Message>([^<]*)</Message>", text)
    msg = fields.get("message") or (message and message[1]) or f"The service responded with status {status}."
    return LatheError(code[1] if code else f"http_{status}", msg, status=status, retry_after=retry_after)


def _object_in(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def seconds_in(header: str | None) -> float | None:
    if header is None:
        return None
    if header.strip().isdigit():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time())
    except ValueError:
        return None
