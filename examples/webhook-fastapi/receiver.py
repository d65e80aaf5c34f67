"""Receives webhooks in FastAPI: verified, stored once, and handled after they are acknowledged."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

log = logging.getLogger("uvicorn.error")
webhook = Webhook(os.environ["WEBHOOK_SECRET"])
database = sqlite3.connect(os.environ.get("DATABASE", "webhooks.sqlite"), isolation_level=None)
arrived = asyncio.Event()

#: Bodies have at most 300 KB and a little.
MAX_BYTES = 1_000_000
RETRY_SECONDS = 10


def prepare() -> None:
    database.execute("PRAGMA journal_mode = WAL")
    database.execute(
        """CREATE TABLE IF NOT EXISTS events (
            id TEXT PRIMARY KEY,
            body BLOB NOT NULL,
            received_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
            handled_at TEXT
        )"""
    )


async def handle(event: dict[str, Any]) -> None:
    """Your code. It runs again for the same event if the process ends before it has finished."""
    job = event["data"]
    if event["type"] == "job.failed":
        log.warning("%s %s %s", event["type"], job["id"], job["result"].get("msg"))
    elif event["type"] == "job.completed":
        # A job of more than 300 KB comes without its tasks; fetch it by its id then.
        links = [file["url"] for task in job.get("tasks", []) for file in task["result"].get("files", [])]
        log.info("%s %s %s", event["type"], job["id"], " ".join(links))


async def work() -> None:
    """Handles the stored events one after the other."""
    while True:
        arrived.clear()
        row = database.execute("SELECT id, body FROM events WHERE handled_at IS NULL ORDER BY rowid LIMIT 1").fetchone()
        if row is None:
            await arrived.wait()
            continue
        try:
            await handle(json.loads(row[1]))
        except Exception:
            log.exception("%s is handled again in %s seconds", row[0], RETRY_SECONDS)
            await asyncio.sleep(RETRY_SECONDS)
            continue
        database.execute("UPDATE events SET handled_at = CURRENT_TIMESTAMP WHERE id = ?", (row[0],))


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    prepare()
    worker = asyncio.create_task(work())
    yield
    worker.cancel()
    with suppress(asyncio.CancelledError):
        await worker
    database.close()


app = FastAPI(lifespan=lifespan)


async def body_of(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise HTTPException(413)
    return body


@app.post("/", status_code=204)
async def receive(request: Request) -> Response:
    # The signature is of the body as it was received, so it must not be parsed before.
    body = await body_of(request)
    try:
        # Refuses messages of more than five minutes ago, so a recorded request cannot be sent again later.
        webhook.verify(body, dict(request.headers))
    except WebhookVerificationError as error:
        raise HTTPException(401, str(error)) from error
    # A delivery that comes twice, or is replayed within the five minutes, has the same id. It is stored before it is
    # acknowledged, and handled afterwards: the service waits for at most 15 seconds.
    database.execute(
        "INSERT INTO events (id, body) VALUES (?, ?) ON CONFLICT (id) DO NOTHING", (request.headers["webhook-id"], body)
    )
    arrived.set()
    return Response(status_code=204)
