"""Sends requests, and sends them again after failures that pass."""

from __future__ import annotations

import http.client
import json
import random
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from email.message import Message
from typing import Any, Callable, Iterable, Mapping, TypeVar, Union, cast

from .errors import LatheError, error_of

#: How often a request is sent again, or a function of the error that says so; None for the policy.
Retries = Union[int, Callable[[LatheError], int], None]

_Value = TypeVar("_Value")

_NETWORK_ERRORS = (OSError, http.client.HTTPException)


@dataclass(frozen=True)
class RetryPolicy:
    """How often, and after which pauses in seconds, a request is sent again."""

    retries: int = 5
    min_pause: float = 0.4
    max_pause: float = 20.0

    def pause_before(self, retry: int) -> float:
        """Returns how long to wait where the service does not say: a random part of a pause that grows."""
        return min(self.max_pause, self.min_pause * 2.0 ** (retry - 1)) * random.uniform(0.5, 1)


class Transport:
    """Sends requests to one service with a key."""

    def __init__(self, url: str, key: str | None, retry: RetryPolicy, timeout: float) -> None:
        self.url = url.rstrip("/")
        self.retry = retry
        self._key = key
        self._timeout = timeout

    def json(self, method: str, path: str, **options: Any) -> Any:
        """Sends a request, with what `call` takes, and returns the body of its response, or raises a LatheError."""
        return self.call(method, path, **options)[0]

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        retries: Retries = None,
    ) -> tuple[Any, Message]:
        """Sends a request and returns the body and the headers of its response, or raises a LatheError."""
        given = {name: value for name, value in (query or {}).items() if value is not None}
        url = f"{self.url}{path}" + (f"?{urllib.parse.urlencode(given)}" if given else "")
        sent = {"Accept": "application/json", **self.authorization(), **(headers or {})}
        if method == "POST":
            # The same for every attempt, so that one thing only is created.
            sent["Idempotency-Key"] = idempotency_key or secrets.token_hex(16)
        data = None
        if body is not None:
            sent["Content-Type"] = "application/json"
            data = json.dumps(body).encode()

        def attempt() -> tuple[bytes, Message]:
            with self.open(url, method=method, headers=sent, data=data) as response:
                return response.read(), response.headers

        text, response_headers = self.attempts(url, attempt, retries)
        try:
            return (json.loads(text) if text else None), response_headers
        except ValueError as error:
            msg = f"{self.url} responded with something other than JSON: is it the address of a Lathe service?"
            raise LatheError("invalid_response", msg) from error

    def authorization(self) -> dict[str, str]:
        """Returns the header that identifies the caller to the service."""
        return {} if self._key is None else {"Authorization": f"Bearer {self._key}"}

    def open(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        data: bytes | Iterable[bytes] | None = None,
        redirects: urllib.request.HTTPRedirectHandler | None = None,
    ) -> http.client.HTTPResponse:
        """Sends one request and returns the response to read."""
        request = urllib.request.Request(url, data=data, method=method)
        for name, value in (headers or {}).items():
            # The key is for the service and not for a store that it redirects to.
            add = request.add_unredirected_header if name == "Authorization" else request.add_header
            add(name, value)
        opener = urllib.request.build_opener(*([redirects] if redirects else []))
        return cast(http.client.HTTPResponse, opener.open(request, timeout=self._timeout))

    @property
    def wait_seconds(self) -> int:
        """How long the service may hold a request: 25 seconds, or less if the client would time out."""
        return max(1, min(25, int(self._timeout) - 2))

    def attempts(self, url: str, attempt: Callable[[], _Value], retries: Retries = None) -> _Value:
        """Makes attempts at a request until one succeeds, fails for good or is the last."""
        retry = 0
        while True:
            try:
                return attempt()
            except urllib.error.HTTPError as response:
                with response:
                    error = error_of(response.code, response.headers, response.read())
            except _NETWORK_ERRORS as cause:
                error = unreachable(url, cause)
            retry += 1
            limit = retries(error) if callable(retries) else self.retry.retries if retries is None else retries
            if retry > limit or not error.may_pass:
                raise error
            time.sleep(self.retry.pause_before(retry) if error.retry_after is None else error.retry_after)


def unreachable(url: str, cause: BaseException) -> LatheError:
    """Makes the error of a connection that failed."""
    parts = urllib.parse.urlsplit(url)
    reason = getattr(cause, "reason", None) or cause
    error = LatheError("unreachable", f"{parts.scheme}://{parts.netloc} cannot be reached ({reason}).")
    error.__cause__ = cause
    return error
