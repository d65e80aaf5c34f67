"""Archives a mailbox, or a folder of .eml files, as one PDF/A per message."""

from __future__ import annotations

import csv
import hashlib
import mailbox
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timezone
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from lathe_client import JobFailedError, Lathe, LatheError

CONCURRENCY = 4
#: The level of PDF/A. 3b allows attachments of any kind, which the option `attachments` embeds.
LEVEL = "3b"
ATTACHMENTS = "embed"


@dataclass(frozen=True)
class Message:
    """A message as it was received. Its digest names it, because message ids can be missing or repeated."""

    raw: bytes
    digest: str
    sent: str
    sender: str
    subject: str

    @classmethod
    def parse(cls, raw: bytes) -> Message:
        parsed = message_from_bytes(raw, policy=policy.default)
        return cls(
            raw=raw,
            digest=hashlib.sha256(raw).hexdigest(),
            sent=_date_of(parsed),
            sender=_header(parsed, "from"),
            subject=_header(parsed, "subject"),
        )

    @property
    def filename(self) -> str:
        subject = re.sub(r"\W+", "-", self.subject).strip("-")[:60] or "no-subject"
        return f"{self.sent[:10]}-{subject}-{self.digest[:8]}.pdf"


def _header(message: EmailMessage, name: str) -> str:
    # Headers of old mail can be malformed in ways that the parser refuses to decode.
    try:
        return str(message.get(name, ""))
    except Exception:
        return ""


def _date_of(message: EmailMessage) -> str:
    try:
        sent = message["date"].datetime
    except Exception:
        sent = None
    if not isinstance(sent, datetime):
        return "undated"
    if sent.tzinfo is None:
        sent = sent.replace(tzinfo=timezone.utc)
    return sent.astimezone(timezone.utc).isoformat()


def messages_in(source: Path) -> Iterator[Message]:
    """Yields the messages of an mbox file, or of the .eml files below a folder."""
    if source.is_dir():
        for path in sorted(source.rglob("*.eml")):
            yield Message.parse(path.read_bytes())
        return
    box = mailbox.mbox(source, create=False)
    try:
        for key in box.iterkeys():
            yield Message.parse(box.get_bytes(key))
    finally:
        box.close()


def archive(lathe: Lathe, message: Message, path: Path) -> str:
    """Writes the PDF/A of a message, and returns the warnings about it."""
    job = lathe.create_job(
        {
            "mail": {"operation": "import/upload"},
            "pdf": {
                "operation": "convert",
                "input": "mail",
                "input_format": "eml",
                "output_format": "pdf",
                "options": {"attachments": ATTACHMENTS},
            },
            "pdfa": {"operation": "pdf/a", "input": "pdf", "options": {"level": LEVEL}},
            "link": {"operation": "export/url", "input": "pdfa"},
        },
        tag="mail-archive",
    )
    try:
        lathe.upload(job["tasks"][0], message.raw, filename="message.eml")
        ended = lathe.wait(job)
    except BaseException:
        lathe.cancel(job)
        raise
    if ended["status"] != "completed":
        raise JobFailedError(ended)
    results = {task["name"]: task["result"] for task in ended["tasks"]}
    lathe.download(results["link"]["files"][0], path)
    # The archive has the file now; the service need not keep private mail for hours.
    lathe.delete_job(job)
    return " ".join([*results["pdf"].get("warnings", []), *results["pdfa"].get("warnings", [])])


def main() -> int:
    if len(sys.argv) != 3:
        print("Usage: python archive.py <mbox file or folder of .eml files> <output folder>", file=sys.stderr)
        return 2
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    if not source.exists():
        print(f"{source} does not exist.", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    lathe = Lathe()  # LATHE_URL and LATHE_API_KEY

    def row_of(message: Message) -> dict[str, str]:
        row = {"sent": message.sent, "from": message.sender, "subject": message.subject, "sha256": message.digest}
        path = folder / message.filename
        if path.exists():  # Downloads are complete if they exist, so a second run continues the first.
            return {**row, "file": path.name}
        try:
            return {**row, "file": path.name, "warnings": archive(lathe, message, path)}
        except LatheError as error:
            return {**row, "error": f"{error.error_code}: {error.msg}"}

    failed = total = 0
    with ThreadPoolExecutor(CONCURRENCY) as pool, open(folder / "index.csv", "w", newline="", encoding="utf-8") as file:
        index = csv.DictWriter(file, ["sent", "from", "subject", "sha256", "file", "warnings", "error"])
        index.writeheader()
        for row in pool.map(row_of, messages_in(source)):
            index.writerow(row)
            total += 1
            if "error" in row:
                failed += 1
                print(f"{row['sent'][:10]} {row['subject']}: {row['error']}", file=sys.stderr)
    print(f"{total - failed} of {total} messages are in {folder}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
