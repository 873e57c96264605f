"""Sends an outbox table to the feed: its rows in their order, until each is answered. Copy it. It needs Python 3.9 alone:

    FEED_URL=https://feed.example.com FEED_TOKEN=fl-feed... OUTBOX=outbox.db python3 sender.py

Your system inserts a row in the transaction that changes something: `body` is a change of the feed as JSON, with its `id`.
One sender runs for a table. It can be killed at any moment: what was applied by then is skipped. A refused row keeps its
error, and the rows behind it go on: correct it and set its status to NULL, and it is sent again.
"""

import json
import os
import sqlite3
import sys
import time
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request, urlopen

ADDRESS = os.environ["FEED_URL"].strip().rstrip("/") + "/feed/v1/changes"
TOKEN = "".join(os.environ["FEED_TOKEN"].split())  # A file or a setting may end with a line end.
BATCH_ROWS = 100
BATCH_BYTES = 1_000_000  # A row may be longer; a request has at most 8 MiB.

db = sqlite3.connect(os.environ.get("OUTBOX") or "outbox.db", isolation_level=None)
db.execute(
    "CREATE TABLE IF NOT EXISTS outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL, status TEXT, error TEXT)"
)


def next_batch():
    found = db.execute("SELECT id, body FROM outbox WHERE status IS NULL ORDER BY id LIMIT ?", (BATCH_ROWS,))
    batch, size = [], 0
    for row, body in found.fetchall():
        # A change is one line of at most 8 MiB, and a blank line is none.
        line = body.replace("\r", " ").replace("\n", " ").strip("\ufeff\t ").encode()
        if not line or len(line) > 8_388_608:
            line = b'"blank, or longer than 8 MiB"'  # It is refused so, and those behind it go on.
        size += len(line) + 1
        if batch and size > BATCH_BYTES:
            break
        batch.append((row, line))
    return batch


def post(lines):
    """Gives the answers, or none, and the seconds that the feed asks to wait."""
    request = Request(ADDRESS, b"\n".join(lines), {"Content-Type": "application/x-ndjson"})
    # The token is meant for nobody else, wherever an answer may lead.
    request.add_unredirected_header("Authorization", f"Bearer {TOKEN}")
    retry_after, reason = "", "the answer wasn't whole"
    try:
        with urlopen(request, timeout=60) as response:
            answers = [json.loads(line) for line in response.read().split(b"\n") if line]
        if len(answers) == len(lines):
            return answers, 0
    except HTTPError as error:
        reason = f"HTTP status {error.code}"
        if error.code < 500 and error.code not in (408, 425, 429):
            sys.exit(f"{reason} {error.read().decode(errors='replace')}")  # Sending again doesn't help.
        retry_after = error.headers.get("Retry-After", "")
    except (OSError, HTTPException, ValueError) as error:
        reason = type(error).__name__ if isinstance(error, ValueError) else error  # A header stays unsaid.
    print("Sending again:", reason, file=sys.stderr)
    return [], int(retry_after) if retry_after.isdigit() else 0


tries = 0
while True:
    batch = next_batch()
    answers, retry_after = post([line for _row, line in batch]) if batch else ([], 1)
    answered = 0
    for (row, _line), answer in zip(batch, answers):
        error = answer.get("error")
        if answer["status"] not in ("applied", "skipped", "refused") or (error and error["code"] == "unavailable"):
            break
        db.execute("UPDATE outbox SET status = ?, error = ? WHERE id = ?", (answer["status"], error and json.dumps(error), row))
        answered += 1
    tries = 0 if answered == len(batch) else tries + 1
    if tries or not batch:
        time.sleep(max(retry_after, tries and min(30, 0.25 * 2 ** min(tries, 8))))
