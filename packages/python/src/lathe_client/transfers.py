"""Uploads files to forms, and downloads files of results."""

from __future__ import annotations

import http.client
import io
import os
import secrets
import time
import urllib.request
from contextlib import contextmanager
from email.message import Message
from pathlib import Path
from typing import IO, Any, Callable, Generator, Iterator, Union

from .errors import LatheError, local_file
from .parts import upload_in_parts
from .transport import Retries, Transport, unreachable

Progress = Callable[[int, Union[int, None]], None]
Input = Union[str, "os.PathLike[str]", bytes, IO[bytes]]
Target = Union[str, "os.PathLike[str]", IO[bytes]]

_CHUNK = 256 * 1024
# Larger files are uploaded in parts.
_MAX_FORM_BYTES = 100_000_000


def upload_file(
    transport: Transport, form: dict[str, Any], source: Input, filename: str | None, on_progress: Progress | None
) -> None:
    """Uploads a file to an upload task: in parts if it is large, and otherwise by the form."""
    with _opened(source) as (file, name, size, start):
        endpoint = form.get("endpoint")
        if endpoint is None or size <= _MAX_FORM_BYTES:
            file.seek(start)
            post_file(transport, form, file, filename or name, on_progress)
            return
        modified = None
        if isinstance(source, (str, os.PathLike)):
            modified = os.stat(source).st_mtime_ns // 1_000_000
        upload_in_parts(
            transport,
            endpoint,
            file,
            start=start,
            size=size,
            name=filename or name,
            modified=modified,
            on_progress=on_progress,
        )


def post_file(
    transport: Transport, form: dict[str, Any], source: Input, filename: str | None, on_progress: Progress | None
) -> None:
    """Posts a file to the form of an upload task: every parameter first, then the file, which the store requires last."""
    boundary = f"lathe-{secrets.token_hex(16)}"
    with _opened(source) as (file, name, size, start):
        head = _head_of(form["parameters"], boundary, filename or name)
        tail = f"\r\n--{boundary}--\r\n".encode()

        def body() -> Iterator[bytes]:
            yield head
            loaded = 0
            while loaded < size:
                chunk = file.read(min(_CHUNK, size - loaded))
                if not chunk:
                    raise LatheError("size_changed", f"Expected {size} bytes of {name} but it ended after {loaded}.")
                loaded += len(chunk)
                yield chunk
                if on_progress:
                    on_progress(loaded, size)
            yield tail

        def attempt() -> None:
            file.seek(start)
            headers = {
                "Content-Type": f"multipart/form-data; boundary={boundary}",
                "Content-Length": str(len(head) + size + len(tail)),
            }
            transport.open(form["url"], method="POST", headers=headers, data=body()).close()

        transport.attempts(form["url"], attempt)


def reusable(source: Input) -> Input:
    """Returns an input that can be read again: what cannot seek is read into memory."""
    if isinstance(source, (str, bytes, bytearray, os.PathLike)) or source.seekable():
        return source
    copy = io.BytesIO(source.read())
    copy.name = getattr(source, "name", "file")
    return copy


def small_files(sources: list[Input], filename: str | None, limit: int) -> list[tuple[str, bytes]] | None:
    """Reads files, the first under another name if one is given; returns None if they are too large, or are not files."""
    files: list[tuple[str, bytes]] = []
    for source in sources:
        if is_web_address(source):
            return None
        with _opened(source) as (file, name, size, start):
            limit -= size
            file.seek(start)
            if limit < 0:
                return None
            files.append((filename if filename and not files else name, file.read(size)))
            file.seek(start)
    return files


def is_web_address(source: Input) -> bool:
    """Returns whether an input is a URL, which the service fetches."""
    return isinstance(source, str) and source.lower().startswith(("http://", "https://"))


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Keeps the headers of a redirect: they say about the result what its store does not."""

    def __init__(self) -> None:
        self.headers = Message()

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        self.headers = headers
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def post_form(
    transport: Transport,
    path: str,
    fields: dict[str, str],
    files: list[tuple[str, tuple[str, bytes]]],
    retries: Retries,
) -> tuple[int, Message, bytes]:
    """Posts fields and files, each with the name of its field, to the service; returns the status, the headers and the body of the response."""
    boundary = f"lathe-{secrets.token_hex(16)}"
    parts = [_fields_of(fields, boundary).encode()]
    for field, (name, content) in files:
        parts += [_file_head(name, boundary, field).encode(), content, b"\r\n"]
    data = b"".join(parts) + f"--{boundary}--\r\n".encode()
    headers = {
        **transport.authorization(),
        "Content-Type": f"multipart/form-data; boundary={boundary}",
        "Prefer": f"wait={transport.wait_seconds}",
        # For the job that the service may create.
        "Idempotency-Key": secrets.token_hex(16),
    }
    url = f"{transport.url}{path}"

    def attempt() -> tuple[int, Message, bytes]:
        redirects = _Redirects()
        with transport.open(url, method="POST", headers=headers, data=data, redirects=redirects) as response:
            for name, value in redirects.headers.items():
                if name.lower().startswith("lathe-"):
                    response.headers[name] = value
            return response.status, response.headers, response.read()

    return transport.attempts(url, attempt, retries)


def _head_of(parameters: dict[str, str], boundary: str, filename: str) -> bytes:
    return (_fields_of(parameters, boundary) + _file_head(filename, boundary)).encode()


def _fields_of(parameters: dict[str, str], boundary: str) -> str:
    return "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{_escaped(name)}"\r\n\r\n{value}\r\n'
        for name, value in parameters.items()
    )


def _file_head(filename: str, boundary: str, field: str = "file") -> str:
    names = f'name="{_escaped(field)}"; filename="{_escaped(filename)}"'
    return (
        f"--{boundary}\r\nContent-Disposition: form-data; {names}\r\n"
        "Content-Type: application/octet-stream\r\n\r\n"
    )


def _escaped(name: str) -> str:
    """Escapes a name as browsers do in forms."""
    return name.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "%0D%0A").replace('"', "%22")


@contextmanager
def _opened(source: Input) -> Generator[tuple[IO[bytes], str, int, int], None, None]:
    """Opens an input; returns it with its name, its size from here, and where it starts."""
    if isinstance(source, (bytes, bytearray)):
        yield io.BytesIO(source), "file", len(source), 0
    elif isinstance(source, (str, os.PathLike)):
        with local_file(source):
            file = open(source, "rb")
        with file:
            yield file, Path(source).name, os.fstat(file.fileno()).st_size, 0
    else:
        if not source.seekable():
            # An upload announces its size, and may have to be repeated.
            source = io.BytesIO(source.read())
        start = source.tell()
        size = source.seek(0, os.SEEK_END) - start
        yield source, os.path.basename(str(getattr(source, "name", "file"))), size, start


def read_file(transport: Transport, link: Any, on_progress: Progress | None) -> Iterator[bytes]:
    """Yields a file chunk by chunk, and goes on where it was after a connection is lost."""
    if not isinstance(link, str) and link.get("content") is not None:
        yield link["content"]
        return
    url = link if isinstance(link, str) else link["url"]
    total = None if isinstance(link, str) else link["size"]
    loaded = failures = 0
    while True:
        headers = {"Range": f"bytes={loaded}-"} if loaded else {}
        response = transport.attempts(url, lambda: transport.open(url, headers=headers))
        with response:
            if loaded and response.status != 206:
                raise LatheError("invalid_response", f"{url} cannot be read from byte {loaded} on.", status=response.status)
            if total is None and response.headers.get("Content-Length"):
                total = int(response.headers["Content-Length"])
            while True:
                failure: BaseException | None = None
                try:
                    chunk = response.read(_CHUNK)
                except (OSError, http.client.HTTPException) as error:
                    chunk, failure = b"", error
                if not chunk:
                    break
                failures = 0
                loaded += len(chunk)
                if on_progress:
                    on_progress(loaded, total)
                yield chunk
        if failure is None and (total is None or loaded >= total):
            return
        failures += 1
        if failures > transport.retry.retries:
            raise unreachable(url, failure or EOFError(f"it ended after {loaded} of {total} bytes"))
        time.sleep(transport.retry.pause_before(failures))


def write_file(chunks: Iterator[bytes], target: Target, overwrite: bool) -> None:
    """Writes a file to a path or an open file. At a path it appears only when it is whole."""
    if not isinstance(target, (str, os.PathLike)):
        for chunk in chunks:
            target.write(chunk)
        return
    path = Path(target)
    draft = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
    with local_file(path):
        if not overwrite and path.exists():
            raise FileExistsError(path)
        try:
            with open(draft, "xb") as file:
                for chunk in chunks:
                    file.write(chunk)
            if overwrite:
                os.replace(draft, path)
            else:
                # Unlike a rename, a link fails where another file has appeared meanwhile.
                os.link(draft, path)
        finally:
            draft.unlink(missing_ok=True)
