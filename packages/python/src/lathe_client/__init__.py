"""Client of Lathe, a file-conversion API. Uses the standard library alone."""

from .aio import AsyncLathe
from .client import Event, Lathe, Result, RunOptions
from .errors import JobFailedError, LatheError, LocalFileError, LocalFileExistsError, LocalFileNotFoundError
from .transport import RetryPolicy
from .types import File, Health, Job, Option, Task

__all__ = [
    "AsyncLathe",
    "Event",
    "File",
    "Health",
    "Job",
    "JobFailedError",
    "Lathe",
    "LatheError",
    "LocalFileError",
    "LocalFileExistsError",
    "LocalFileNotFoundError",
    "Option",
    "Result",
    "RetryPolicy",
    "RunOptions",
    "Task",
]
