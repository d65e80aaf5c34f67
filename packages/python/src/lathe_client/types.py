"""What the service returns, as dictionaries of known fields."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Status = Literal["created", "processing", "completed", "failed", "canceled"]
Operation = Literal["convert", "compress", "merge", "crop", "trim"]


class _FileFields(TypedDict):
    url: str | None
    filename: str
    size: int
    format: str
    media_type: str


class File(_FileFields, total=False):
    """A file of a result: with a link, or with its content if it was converted within one request."""

    content: bytes


class TaskResult(TypedDict, total=False):
    """What a task has, or why it failed."""

    url: str
    files: list[File]
    warnings: list[str]
    form: dict[str, Any]
    errorCode: str
    msg: str
    conversionSeconds: float


class _TaskFields(TypedDict):
    id: str
    version: int
    name: str
    operation: str
    status: Status
    payload: dict[str, Any]
    dependsOn: list[str]
    user: str
    result: TaskResult
    createdAt: str
    startedAt: str | None
    endedAt: str | None
    updatedAt: str
    expiresAt: str


class Task(_TaskFields, total=False):
    """One operation."""

    job: str
    progress: float
    warnings: list[str]


class JobResult(TypedDict, total=False):
    """Why a job failed."""

    errorCode: str
    msg: str


class Webhook(TypedDict):
    """The webhook of a job; its secret is shown only once."""

    id: str
    url: str
    secret: str


class _JobFields(TypedDict):
    id: str
    version: int
    status: Status
    result: JobResult
    createdAt: str
    startedAt: str | None
    endedAt: str | None
    updatedAt: str
    expiresAt: str


class Job(_JobFields, total=False):
    """A set of tasks."""

    tag: str
    tasks: list[Task]
    tasksTruncated: bool
    warnings: list[str]
    conversionSeconds: float
    webhook: Webhook


class EnumValue(TypedDict):
    """A value that an option can have."""

    value: str
    hint: str


class _OptionFields(TypedDict):
    name: str
    hint: str
    data_type: Literal["boolean", "string", "number", "integer"]
    default_value: str
    type: str


class Option(_OptionFields, total=False):
    """An option of an operation for a pair of formats."""

    label: str
    enum_values: list[EnumValue]
    units: str
    properties: dict[str, Any]
    conditions: list[dict[str, Any]]


class Health(TypedDict, total=False):
    """The version of the service, which engines it can use, and where WebSockets connect."""

    status: str
    version: str
    engines: list[dict[str, Any]]
    websocket: dict[str, Any]
