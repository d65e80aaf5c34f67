"""Client of Lathe, a file-conversion API. Uses the standard library alone."""

from .client import Event, Lathe, Result
from .errors import JobFailedError, LatheError
from .transport import RetryPolicy

__all__ = ["Event", "JobFailedError", "Lathe", "LatheError", "Result", "RetryPolicy"]
