"""Scenarios against a running service, which LATHE_URL and LATHE_API_KEY name, and against servers that fail."""

from __future__ import annotations

import io
import json
import os
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

from lathe_client import JobFailedError, Lathe, LatheError, RetryPolicy

QUICK = RetryPolicy(retries=3, min_pause=0.001, max_pause=0.002)
TWO_TASKS = {"import": {"operation": "import/upload"}, "export": {"operation": "export/url", "input": "import"}}


def picture(width: int = 32, height: int = 16) -> bytes:
    """Returns a red PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xdc\x1e\x28" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


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
        result = self.lathe.convert(self.path, to="webp")
        self.assertIsNone(result.job)
        self.assertEqual([file["filename"] for file in result.files], ["in.webp"])
        stream = io.BytesIO()
        self.lathe.download(result.files[0], stream)
        self.assertEqual(stream.getvalue()[8:12], b"WEBP")

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
        with self.assertRaises(FileExistsError):
            self.lathe.download(result.files[0], target, overwrite=False)
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

    def test_merges(self) -> None:
        merged = self.lathe.merge([self.path, picture()])
        self.assertEqual(merged.files[0]["format"], "pdf")

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


class _Unseekable(io.BytesIO):
    def seekable(self) -> bool:
        return False


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
