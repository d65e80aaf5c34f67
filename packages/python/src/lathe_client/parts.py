"""Uploads large files in parts, which are repeated alone and resumed."""

from __future__ import annotations

import json
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import IO, Any, Callable, Iterator, Union
from urllib.parse import quote

from .errors import LatheError
from .transport import Transport

_PARTS_AT_ONCE = 4
# Parts are read while they are sent, so that large ones take no more memory.
_CHUNK = 256 * 1024
# A URL may expire while a slow connection has not used it.
_MAX_SIGNATURES = 3


def upload_in_parts(
    transport: Transport,
    endpoint: str,
    file: IO[bytes],
    *,
    start: int,
    size: int,
    name: str,
    modified: int | None,
    on_progress: Callable[[int, Union[int, None]], None] | None,
) -> None:
    """Uploads a file to the endpoint of a form, without the parts that are stored already."""
    uploads = f"{endpoint}/s3/multipart"
    about = {"filename": name, "size": size, **({} if modified is None else {"modified": modified})}
    started = _send(transport, uploads, about)
    part_size = started["partSize"]
    upload = f"{uploads}/{quote(started['uploadId'], safe='')}"
    lengths = [min(part_size, size - at) for at in range(0, size, part_size)]
    stored = {part["PartNumber"]: part for part in _send(transport, upload)}
    tags = {
        number: stored[number]["ETag"]
        for number, length in enumerate(lengths, 1)
        if number in stored and stored[number]["Size"] == length
    }
    loaded = sum(lengths[number - 1] for number in tags)

    reading = Lock()

    def chunks(number: int) -> Iterator[bytes]:
        position = start + (number - 1) * part_size
        end = position + lengths[number - 1]
        while position < end:
            with reading:
                file.seek(position)
                chunk = file.read(min(_CHUNK, end - position))
            if not chunk:
                raise LatheError("size_changed", f"Expected {size} bytes of {name} but it has become shorter.")
            position += len(chunk)
            yield chunk

    def put(number: int) -> tuple[int, str]:
        return number, _put_part(transport, f"{upload}/{number}", lengths[number - 1], lambda: chunks(number))

    def finish(done: set[Future[tuple[int, str]]]) -> None:
        nonlocal loaded
        for future in done:
            number, tag = future.result()
            tags[number] = tag
            loaded += lengths[number - 1]
            if on_progress:
                on_progress(loaded, size)

    if on_progress:
        on_progress(loaded, size)
    missing = [number for number in range(1, len(lengths) + 1) if number not in tags]
    with ThreadPoolExecutor(_PARTS_AT_ONCE) as pool:
        pending: set[Future[tuple[int, str]]] = set()
        for number in missing:
            # Not all at once: after a failure, no further part is sent.
            while len(pending) >= _PARTS_AT_ONCE:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                finish(done)
            pending.add(pool.submit(put, number))
        finish(pending)
    parts = [{"PartNumber": number, "ETag": tags[number]} for number in sorted(tags)]
    _send(transport, f"{upload}/complete", {"parts": parts})


def _put_part(transport: Transport, part: str, length: int, content: Callable[[], Iterator[bytes]]) -> str:
    def attempt() -> str | None:
        headers = {"Content-Length": str(length)}
        with transport.open(url, method="PUT", headers=headers, data=content()) as response:
            return response.headers.get("ETag")

    for signature in range(1, _MAX_SIGNATURES + 1):
        url = _send(transport, part)["url"]
        try:
            tag = transport.attempts(url, attempt)
        except LatheError as error:
            if error.status != 403 or signature == _MAX_SIGNATURES:
                raise
            continue
        if tag is None:
            raise LatheError("invalid_response", f"Expected the tag of a part from {url}.")
        return str(tag).replace('"', "")
    raise AssertionError("unreachable")


def _send(transport: Transport, url: str, body: Any = None) -> Any:
    headers = {"Accept": "application/json", **({} if body is None else {"Content-Type": "application/json"})}
    data = None if body is None else json.dumps(body).encode()

    def attempt() -> bytes:
        with transport.open(url, method="GET" if body is None else "POST", headers=headers, data=data) as response:
            return response.read()

    return json.loads(transport.attempts(url, attempt))
