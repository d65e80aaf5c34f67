"""Scenarios against a running service, which LATHE_URL and LATHE_API_KEY name, and against servers that fail."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import struct
import tempfile
import threading
import time
import unittest
import zlib
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable, Iterator
from unittest.mock import patch
from urllib.parse import urlsplit

from lathe_client import parts, transfers
from lathe_client import (
    AsyncLathe,
    JobFailedError,
    Lathe,
    LatheError,
    LocalFileError,
    LocalFileExistsError,
    LocalFileNotFoundError,
    RetryPolicy,
)
from lathe_client.transport import Transport

QUICK = RetryPolicy(retries=3, min_pause=0.001, max_pause=0.002)
TWO_TASKS = {"import": {"operation": "import/upload"}, "export": {"operation": "export/url", "input": "import"}}


def picture(width: int = 32, height: int = 16) -> bytes:
    """Returns a red PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xdc\x1e\x28" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def silence(seconds: int, rate: int = 8000) -> bytes:
    """Returns a WAV of 16-bit silence."""
    data = bytes(2 * rate * seconds)
    header = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16, b"data", len(data))
    return header + data


Respond = Callable[[BaseHTTPRequestHandler, int], None]


@contextmanager
def serving(respond: Respond) -> Iterator[tuple[str, list[BaseHTTPRequestHandler]]]:
    """Runs a server that responds as a test says; yields its address and the requests that it gets."""
    requests: list[BaseHTTPRequestHandler] = []

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            requests.append(self)
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            respond(self, len(requests))

        do_GET = do_POST = handle_any

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()


def reply(handler: BaseHTTPRequestHandler, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


@contextmanager
def counting() -> Iterator[list[str]]:
    """Yields the paths of the requests that clients send meanwhile."""
    paths: list[str] = []
    send = Transport.open

    def noting(self: Transport, url: str, **options: Any) -> Any:
        paths.append(urlsplit(url).path)
        return send(self, url, **options)

    with patch.object(Transport, "open", noting):
        yield paths


class Service(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.lathe = Lathe()
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = Path(cls.folder.name, "in.png")
        cls.path.write_bytes(picture())

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def test_converts_a_small_file_within_one_request(self) -> None:
        with counting() as requests:
            result = self.lathe.convert(self.path, to="webp")
        self.assertEqual(requests, ["/v1/instant/convert"])
        self.assertIsNone(result.job)
        self.assertEqual([file["filename"] for file in result.files], ["in.webp"])
        stream = io.BytesIO()
        self.lathe.download(result.files[0], stream)
        self.assertEqual(stream.getvalue()[8:12], b"WEBP")

    def test_returns_each_of_several_files(self) -> None:
        pdf = self.lathe.merge([self.path, picture()]).files[0]
        result = self.lathe.convert(pdf["content"], to="jpg", filename="bøth.pdf")
        self.assertIsNone(result.job)
        names = [(file["filename"], file["media_type"]) for file in result.files]
        self.assertEqual(names, [("bøth-1.jpg", "image/jpeg"), ("bøth-2.jpg", "image/jpeg")])
        self.assertTrue(all(file["content"].startswith(b"\xff\xd8") for file in result.files))

    def test_waits_for_a_job_within_its_creation(self) -> None:
        # The first start of a function may take longer than a request waits.
        self.lathe.convert(os.environ["LATHE_REMOTE_FILE"], to="webp")
        with counting() as requests:
            result = self.lathe.convert(self.path, to="webp", tag="held")
            self.lathe.convert(os.environ["LATHE_REMOTE_FILE"], to="webp")
        self.assertEqual(result.job["status"], "completed")
        self.assertEqual(requests, ["/v1/process/jobs"] * 2)

    def test_converts_a_stream_that_can_be_read_once(self) -> None:
        for options in ({}, {"instant": False}):
            result = self.lathe.convert(_Unseekable(picture()), to="webp", filename="in.png", **options)
            self.assertEqual(b"".join(self.lathe.read(result.files[0]))[8:12], b"WEBP")

    def test_converts_a_file_and_downloads_it(self) -> None:
        sent: list[tuple[int, int | None]] = []
        result = self.lathe.convert(
            self.path, to="webp", options={"quality": 80}, tag="python", on_progress=lambda *now: sent.append(now)
        )
        self.assertEqual([file["filename"] for file in result.files], ["in.webp"])
        self.assertEqual(sent[-1], (self.path.stat().st_size,) * 2)
        self.assertEqual(result.warnings, [])
        target = Path(self.folder.name, "out.webp")
        self.lathe.download(result.files[0], target)
        content = target.read_bytes()
        self.assertEqual((content[:4], content[8:12], len(content)), (b"RIFF", b"WEBP", result.files[0]["size"]))
        with self.assertRaises(FileExistsError) as exists:
            self.lathe.download(result.files[0], target, overwrite=False)
        self.assertIsInstance(exists.exception, LocalFileExistsError)
        stream = io.BytesIO()
        self.lathe.download(result.files[0], stream)
        self.assertEqual(stream.getvalue(), content)
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.endswith(".part")], [])
        self.assertIn(result.job["id"], [job["id"] for job in self.lathe.jobs(tag="python", per_page=1)])

    def test_converts_what_a_url_leads_to(self) -> None:
        result = self.lathe.convert(os.environ["LATHE_REMOTE_FILE"], to="jpg")
        self.assertEqual(result.files[0]["format"], "jpg")

    def test_uploads_bytes_and_streams_and_follows(self) -> None:
        inputs: list[Any] = [picture(), io.BytesIO(picture()), _Unseekable(picture())]
        for source in inputs:
            job = self.lathe.create_job(TWO_TASKS)
            events = self.lathe.follow(job)
            self.assertEqual(next(events).event, "job_started")
            self.lathe.upload(job["tasks"][0], source, filename='a "b".png')
            names = [event.event for event in events]
            self.assertEqual(names[-1], "job_completed")
            self.assertEqual(names.count("task_completed"), 2)
            file = self.lathe.task(job["tasks"][1]["id"])["result"]["files"][0]
            self.assertEqual(b"".join(self.lathe.read(file)), picture())

    def test_resumes_the_upload_of_a_large_file(self) -> None:
        content = os.urandom(40 * 1024 * 1024)
        path = Path(self.folder.name) / "large.bin"
        path.write_bytes(content)
        task = self.lathe.create_job(TWO_TASKS)["tasks"][0]
        sent: list[int] = []
        put_part = parts._put_part

        def put(transport: Transport, part: str, length: int, content: Callable[[], Iterator[bytes]]) -> str:
            if not sent or len(sent) == 1 and part.endswith("/2"):
                sent.append(length)
                return put_part(transport, part, length, content)
            raise LatheError("unreachable", "The connection was lost.")

        with patch.object(transfers, "_MAX_FORM_BYTES", 1_000_000), patch.object(parts, "_PARTS_AT_ONCE", 1):
            with patch.object(parts, "_put_part", put), self.assertRaises(LatheError):
                self.lathe.upload(task, path)
            progress: list[int] = []
            with counting() as requests:
                self.lathe.upload(task, path, on_progress=lambda loaded, _total: progress.append(loaded))
        self.assertEqual(progress[0], sum(sent))
        self.assertEqual(progress[-1], len(content))
        signed = [path for path in requests if re.search(r"/s3/multipart/[^/]+/\d+$", path)]
        self.assertEqual([path.rsplit("/", 1)[1] for path in signed], ["3"])
        file = self.lathe.wait(self.lathe.task(task["id"])["job"])["tasks"][1]["result"]["files"][0]
        self.assertEqual(b"".join(self.lathe.read(file)), content)

    def test_merges(self) -> None:
        merged = self.lathe.merge([self.path, picture()])
        self.assertEqual(merged.files[0]["format"], "pdf")

    def test_crops_and_trims(self) -> None:
        cropped = self.lathe.crop(self.path, options={"width": 8, "height": 4}).files[0]
        self.assertEqual(struct.unpack(">II", cropped["content"][16:24]), (8, 4))
        trimmed = self.lathe.trim(silence(3), options={"trim_start": "1", "trim_end": "2"}).files[0]
        self.assertLess(trimmed["size"], 8000 * 2 * 1.5)

    def test_works_on_documents_with_files_by_their_roles(self) -> None:
        pdf = self.lathe.merge([self.path, picture()]).files[0]["content"]
        for instant in (True, False):
            result = self.lathe.perform(
                "pdf/watermark", [pdf], filename="two.pdf", files={"picture": self.path}, instant=instant
            )
            self.assertEqual([file["filename"] for file in result.files], ["two.pdf"])

    def test_finds_a_misspelled_option_before_an_upload(self) -> None:
        large = io.BytesIO(picture() + bytes(4_400_001))
        large.name = "large.png"  # type: ignore[attr-defined]
        with counting() as requests, self.assertRaises(LatheError) as raised:
            self.lathe.convert(large, to="webp", options={"qualty": 80})
        self.assertEqual((raised.exception.reason, requests), ("invalid_options", ["/v1/query/options/convert"]))
        self.assertIn("Did you mean quality?", raised.exception.msg)

    def test_raises_why_a_job_failed(self) -> None:
        with self.assertRaises(LatheError) as refused:
            self.lathe.convert(b"nothing", to="webp", input_format="png")
        self.assertEqual((refused.exception.status, refused.exception.error_code), (422, "processing_failed"))
        with self.assertRaises(JobFailedError) as raised:
            self.lathe.convert(b"nothing", to="webp", input_format="png", instant=False)
        self.assertEqual(raised.exception.error_code, "processing_failed")
        self.assertEqual(raised.exception.job["status"], "failed")

    def test_raises_what_the_service_says(self) -> None:
        with self.assertRaises(LatheError) as raised:
            self.lathe.create_job({"a": {"operation": "convert", "input": "b", "output_format": "webp"}})
        self.assertEqual((raised.exception.status, raised.exception.error_code), (400, "bad_request"))
        self.assertTrue(raised.exception.errors)
        with self.assertRaises(LatheError) as raised:
            Lathe("wrong").job("0123456789abcdef01234567")
        self.assertEqual(raised.exception.status, 401)

    def test_creates_one_job_for_a_key(self) -> None:
        first, second = (self.lathe.create_job(TWO_TASKS, idempotency_key="python-once") for _ in range(2))
        self.assertEqual(first["id"], second["id"])
        self.lathe.cancel(first)
        self.assertEqual(self.lathe.wait(first)["result"]["errorCode"], "task_canceled")
        self.lathe.delete_job(first)
        with self.assertRaises(LatheError) as raised:
            self.lathe.job(first["id"])
        self.assertEqual(raised.exception.status, 404)

    def test_lists_formats_and_options(self) -> None:
        self.assertIn("webp", self.lathe.formats(input_format="png"))
        self.assertIn("pdf_page_size", [option["name"] for option in self.lathe.options("jpg", "pdf")])
        self.assertEqual(self.lathe.health()["status"], "ok")


class Asynchronous(unittest.IsolatedAsyncioTestCase):
    """The client for asyncio against the service."""

    async def test_converts_several_files_at_once(self) -> None:
        async with AsyncLathe() as lathe:
            results = await asyncio.gather(*(lathe.convert(picture(), to=to) for to in ("webp", "jpg", "gif")))
            self.assertEqual([result.files[0]["format"] for result in results], ["webp", "jpg", "gif"])
            merged = await lathe.merge([picture(), picture()], instant=False)
            assert merged.job is not None
            self.assertEqual(merged.job["status"], "completed")
            with tempfile.TemporaryDirectory() as folder:
                target = Path(folder, "out.pdf")
                await lathe.download(merged.files[0], target)
                chunks = [chunk async for chunk in lathe.read(merged.files[0])]
                self.assertEqual(target.read_bytes(), b"".join(chunks))
            self.assertIn(merged.job["id"], [job["id"] async for job in lathe.jobs(per_page=50)])
            self.assertEqual((await lathe.health())["status"], "ok")
            with self.assertRaises(JobFailedError):
                await lathe.convert(b"nothing", to="webp", input_format="png", instant=False)

    async def test_follows_a_job(self) -> None:
        async with AsyncLathe() as lathe:
            job = await lathe.create_job(TWO_TASKS)
            events = lathe.follow(job)
            self.assertEqual((await anext(events)).event, "job_started")
            await lathe.upload(job["tasks"][0], picture(), filename="in.png")
            self.assertEqual([event.event async for event in events][-1], "job_completed")

    async def test_cancels_the_job_of_a_coroutine_that_is_canceled(self) -> None:
        async with AsyncLathe() as lathe:
            job = await lathe.create_job(TWO_TASKS)
            with patch.object(lathe._lathe, "start", lambda *_args, **_options: job):
                working = asyncio.create_task(lathe.convert(b"never", to="webp"))
                await asyncio.sleep(0.3)
                working.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await working
            self.assertEqual((await lathe.job(job["id"]))["result"]["errorCode"], "task_canceled")


class LocalFiles(unittest.TestCase):
    """Errors of files of this machine."""

    def test_says_that_a_file_cannot_be_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            absent = os.path.join(folder, "absent.png")
            with self.assertRaises(LocalFileNotFoundError) as raised:
                Lathe(url="http://127.0.0.1:1").convert(absent, to="webp")
            self.assertEqual((raised.exception.error_code, raised.exception.path), ("no_such_file", absent))
            self.assertEqual(str(raised.exception), f"{absent} does not exist.")
            self.assertIsInstance(raised.exception, (LatheError, FileNotFoundError))
            with self.assertRaises(LocalFileError) as raised_for_folder:
                Lathe(url="http://127.0.0.1:1").convert(folder, to="webp")
            self.assertEqual(raised_for_folder.exception.error_code, "is_a_folder")

    def test_says_that_a_file_cannot_be_written(self) -> None:
        file = {"url": None, "filename": "a", "size": 1, "format": "", "media_type": "", "content": b"a"}
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(LocalFileNotFoundError):
                Lathe().download(file, os.path.join(folder, "absent", "a"))
            with self.assertRaises(LocalFileError):
                Lathe().download(file, folder)
            self.assertEqual(os.listdir(folder), [])


class _Unseekable(io.BytesIO):
    def seekable(self) -> bool:
        return False


LINK = {"url": "http://localhost/a.pdf", "filename": "a.pdf", "size": 1}
ENDED = {
    "id": "a",
    "status": "completed",
    "endedAt": "2026-01-01T00:00:00Z",
    "result": {},
    "tasks": [{"id": "b", "operation": "export/url", "endedAt": "2026", "result": {"files": [LINK]}}],
}
RUNNING = {**ENDED, "status": "processing", "endedAt": None, "tasks": [{**ENDED["tasks"][0], "endedAt": None}]}


class Fallbacks(unittest.TestCase):
    """What becomes of an instant request that the service does not perform."""

    def convert(self, responses: dict[str, tuple[Any, ...]], **options: Any) -> tuple[Any, list[Any]]:
        def respond(handler: BaseHTTPRequestHandler, _number: int) -> None:
            reply(handler, *responses[handler.path])

        with serving(respond) as (url, requests):
            try:
                return Lathe("secret", url, retry=QUICK).convert(b"text", to="pdf", **options), requests
            except LatheError as error:
                return error, requests

    def test_becomes_a_job_at_once(self) -> None:
        for status in (404, 405, 413, 500, 502, 503, 504):
            failed = (status, {"errorCode": "any", "msg": "Any."}, {"Retry-After": "3"})
            result, requests = self.convert({"/v1/instant/convert": failed, "/v1/process/jobs": (201, ENDED)})
            self.assertEqual(result.files, [LINK])
            self.assertEqual([request.path for request in requests], ["/v1/instant/convert", "/v1/process/jobs"])
            self.assertEqual(requests[1].headers["Prefer"], "wait=25")

    def test_becomes_a_job_if_the_account_has_too_many(self) -> None:
        for seconds, count in (("0", 3), ("60", 1)):
            refused = (429, {"errorCode": "too_many_requests", "msg": "Slower."}, {"Retry-After": seconds})
            result, requests = self.convert({"/v1/instant/convert": refused, "/v1/process/jobs": (201, ENDED)})
            self.assertEqual((result.files, len(requests)), ([LINK], count + 1))

    def test_goes_on_with_the_job_of_the_service(self) -> None:
        wait = "/v1/process/jobs/a/wait"
        result, requests = self.convert({"/v1/instant/convert": (202, RUNNING), wait: (200, ENDED)})
        self.assertEqual((result.job["status"], result.files), ("completed", [LINK]))
        self.assertEqual([request.path for request in requests], ["/v1/instant/convert", wait])

    def test_goes_on_if_a_job_has_not_ended(self) -> None:
        wait = "/v1/process/jobs/a/wait"
        created = (201, {**RUNNING, "warnings": ["Unknown field."]})
        result, requests = self.convert({"/v1/process/jobs": created, wait: (200, ENDED)}, instant=False)
        self.assertEqual((result.files, result.warnings), ([LINK], ["Unknown field."]))
        self.assertEqual([request.path for request in requests], ["/v1/process/jobs", wait])

    def test_fails_with_what_the_service_says(self) -> None:
        error, requests = self.convert({"/v1/instant/convert": (422, {"errorCode": "any", "msg": "No."})})
        self.assertEqual((error.status, error.msg, len(requests)), (422, "No.", 1))

    def test_follows_a_redirect_without_the_key_and_keeps_the_warnings(self) -> None:
        disposition = {"Content-Disposition": 'attachment; filename="a.pdf"'}
        redirect = {"Location": "/large", "Lathe-Warnings": '["Replaced."]'}
        result, requests = self.convert({"/v1/instant/convert": (303, b"", redirect), "/large": (200, b"%PDF", disposition)})
        self.assertEqual((result.files[0]["filename"], result.warnings), ("a.pdf", ["Replaced."]))
        self.assertEqual([request.headers["Authorization"] for request in requests], ["Bearer secret", None])

    def test_cancels_a_job_if_it_is_interrupted_while_it_is_created(self) -> None:
        replies: dict[str, Any] = {"/v1/process/jobs": RUNNING, "/v1/process/jobs/a": RUNNING}
        with serving(lambda handler, _number: reply(handler, 200, replies.get(handler.path, {}))) as (url, requests):
            lathe = Lathe(url=url, retry=QUICK)
            create, interrupted = lathe.create_job, []

            def interrupt(*args: Any, **options: Any) -> Any:
                job = create(*args, **options)
                if interrupted:
                    return job
                interrupted.append(job)
                raise KeyboardInterrupt

            with patch.object(lathe, "create_job", interrupt), self.assertRaises(KeyboardInterrupt):
                lathe.convert(b"text", to="pdf", instant=False)
            keys = {request.headers["Idempotency-Key"] for request in requests[:2]}
            self.assertEqual((len(keys), requests[-1].path), (1, "/v1/process/tasks/b/cancel"))


class Failures(unittest.TestCase):
    def test_honours_retry_after_with_the_same_idempotency_key(self) -> None:
        def respond(handler: BaseHTTPRequestHandler, number: int) -> None:
            if number == 1:
                reply(handler, 503, {"message": "Service Unavailable"}, {"Retry-After": "1"})
            elif number == 2:
                handler.connection.close()
            else:
                reply(handler, 201, {"id": "a"})

        with serving(respond) as (url, requests):
            began = time.monotonic()
            self.assertEqual(Lathe(url=url, retry=QUICK).create_job(TWO_TASKS), {"id": "a"})
            self.assertGreaterEqual(time.monotonic() - began, 1)
            self.assertEqual(len({request.headers["Idempotency-Key"] for request in requests}), 1)
            self.assertEqual(len(requests), 3)

    def test_gives_up_after_its_retries(self) -> None:
        with serving(lambda handler, _number: reply(handler, 500, {"message": "Internal"})) as (url, requests):
            with self.assertRaises(LatheError) as raised:
                Lathe(url=url, retry=QUICK).health()
            self.assertEqual((raised.exception.status, raised.exception.msg), (500, "Internal"))
            self.assertEqual(len(requests), QUICK.retries + 1)

    def test_says_that_a_service_is_not_there(self) -> None:
        with serving(lambda *_args: None) as (url, _requests):
            pass
        with self.assertRaises(LatheError) as raised:
            Lathe(url=url, retry=RetryPolicy(retries=0)).health()
        self.assertEqual(raised.exception.error_code, "unreachable")

    def test_looks_at_the_job_where_too_many_wait(self) -> None:
        ended = {"id": "a", "status": "completed", "endedAt": "2026-01-01T00:00:00Z", "tasks": []}

        def respond(handler: BaseHTTPRequestHandler, number: int) -> None:
            if number == 1:
                reply(handler, 503, {"message": "Service Unavailable"}, {"Retry-After": "0"})
            else:
                reply(handler, 200, ended)

        with serving(respond) as (url, requests):
            self.assertEqual(Lathe(url=url, retry=QUICK).wait("a"), ended)
            paths = [request.path for request in requests]
            self.assertEqual(paths, ["/v1/process/jobs/a/wait", "/v1/process/jobs/a"])

    def test_pauses_between_waits_that_are_not_held(self) -> None:
        open_job = {"id": "a", "status": "processing", "endedAt": None, "tasks": []}
        ended = {**open_job, "status": "completed", "endedAt": "2026-01-01T00:00:00Z"}

        def respond(handler: BaseHTTPRequestHandler, number: int) -> None:
            reply(handler, 200, *((open_job, {"Retry-After": "1"}) if number == 1 else (ended, {})))

        with serving(respond) as (url, requests):
            began = time.monotonic()
            self.assertEqual(Lathe(url=url, retry=QUICK).wait("a"), ended)
            self.assertGreater(time.monotonic() - began, 0.95)
            self.assertEqual(len(requests), 2)

    def test_resumes_a_download(self) -> None:
        content = bytes(range(256)) * 1000

        def respond(handler: BaseHTTPRequestHandler, number: int) -> None:
            start = int(handler.headers.get("Range", "bytes=0-")[6:-1])
            handler.send_response(206 if start else 200)
            handler.send_header("Content-Length", str(len(content) - start))
            handler.end_headers()
            handler.wfile.write(content[start : start + 100_000] if number == 1 else content[start:])

        with serving(respond) as (url, requests):
            file = {"url": url, "size": len(content)}
            self.assertEqual(b"".join(Lathe(retry=QUICK).read(file)), content)
            self.assertEqual([request.headers.get("Range") for request in requests], [None, "bytes=100000-"])


if __name__ == "__main__":
    unittest.main()
