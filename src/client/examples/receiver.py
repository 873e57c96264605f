"""A receiver to start from. Copy it, and put what your system needs in place of `keep`. It needs Python 3.9, nothing else:

    WEBHOOK_SECRET=whsec_... API_URL=https://api.fieldledger.example API_KEY=fl... python3 receiver.py

- Idempotent: the id of a delivery is kept in the same transaction as its event, so a repetition changes nothing.
- In any order: an older state never replaces a newer one.
- Complete: at the start and every ten minutes it reads what changed since it last looked, and so makes up for events
  that never came. Without API_KEY it doesn't.

It can be killed at any moment. `fieldledger webhook play day --to http://localhost:3000/` tries it.
"""

import hashlib
import hmac
import json
import os
import re
import sqlite3
import sys
import threading
import time
from datetime import timedelta
from email.utils import parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

# A file or a setting may end with a line end, which Python would print with the header that it refuses.
SECRET, API_URL, API_KEY = ("".join(os.environ.get(name, "").split()) for name in ["WEBHOOK_SECRET", "API_URL", "API_KEY"])
RECONCILE_SECONDS = float(os.environ.get("RECONCILE_SECONDS") or "600")
# No delivery is larger (the reference, "Webhooks").
BODY_BYTES_MAX = 10_000_000

# One connection, one thread at a time: whoever holds the lock. `with lock, db:` is one transaction.
lock = threading.Lock()
db = sqlite3.connect(os.environ.get("DATABASE") or "receiver.db", check_same_thread=False)
db.executescript("""
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY);
    CREATE TABLE IF NOT EXISTS records (list TEXT, id TEXT, changed_at TEXT, body TEXT, PRIMARY KEY (list, id));
    CREATE TABLE IF NOT EXISTS checkpoints (name TEXT PRIMARY KEY, since TEXT);
""")

# The list of the API that an event's record is in.
LIST_OF = {
    "job.created": "jobs",
    "job.updated": "jobs",
    "job.completed": "jobs",
    "form.submitted": "submissions",
    "invoice.issued": "invoices",
    "credit_note.issued": "invoices",
    "quote.accepted": "quotes",
}


def keep(list_name, record_id, changed_at, record):
    """Your own work goes here. Times are all of one length, so that their texts compare as they do."""
    db.execute(
        """INSERT INTO records VALUES (?, ?, ?, ?)
        ON CONFLICT (list, id) DO UPDATE SET changed_at = excluded.changed_at, body = excluded.body
        WHERE excluded.changed_at >= changed_at""",
        (list_name, record_id, changed_at, json.dumps(record)),
    )


def keep_row(list_name, row):
    # A submission never changes, and so has no updatedAt.
    keep(list_name, row["id"], row.get("updatedAt") or row["createdAt"], row)


def receive(event):
    with lock, db:
        if db.execute("INSERT OR IGNORE INTO deliveries VALUES (?)", (event["id"],)).rowcount == 0:
            return
        kind, data = event["event"], event["data"]
        if kind in LIST_OF:
            keep_row(LIST_OF[kind], data)
        # These two say what happened to an invoice; the changed invoice itself comes when the list is read.
        elif kind == "payment.recorded":
            keep("payments", data["paymentId"], event["createdAt"], data)
        elif kind == "invoice.paid":
            keep("settlements", f"{data['invoiceId']} {data['paidOn']}", event["createdAt"], data)
        # Others, such as a ping or what a later version sends, need nothing.


def reconcile(list_name, path=None):
    """Reads what changed in a list since it was last read (the reference, "Staying in sync")."""
    path = path or list_name
    found = read("SELECT since FROM checkpoints WHERE name = ?", path)
    query = {"limit": 100}
    if found:
        query["updatedSince"] = found[0][0]
    started_at = None
    while True:
        headers, page = ask(f"{API_URL}/api/v1/{path}?{urlencode(query)}")
        if is_other_store(headers["Store-Generation"]):
            return reconcile(list_name, path)
        started_at = started_at or parsedate_to_datetime(headers["Date"])
        with lock, db:
            for row in page["data"]:
                keep_row(list_name, row)
        if page["nextCursor"] is None:
            break
        query["cursor"] = page["nextCursor"]
    # A minute for clocks that differ. Rows that are read twice change nothing.
    since = (started_at - timedelta(minutes=1)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    with lock, db:
        db.execute("INSERT OR REPLACE INTO checkpoints VALUES (?, ?)", (path, since))


def is_other_store(generation):
    """A service that was restored has lost records. Then all that can be read again is forgotten, and all is read again."""
    found = read("SELECT since FROM checkpoints WHERE name = 'generation'")
    if generation is None or found == [(generation,)]:
        return False
    with lock, db:
        if found:
            db.execute("DELETE FROM checkpoints")
            # Payments and settlements come with events alone.
            db.execute("DELETE FROM records WHERE list NOT IN ('payments', 'settlements')")
        db.execute("INSERT INTO checkpoints VALUES ('generation', ?)", (generation,))
    return bool(found)


def read(query, *values):
    with lock:
        return db.execute(query, values).fetchall()


def ask(url):
    """Asks the API, and again after as many seconds as it says."""
    request = Request(url)
    # The key is meant for nobody else, wherever an answer may lead.
    request.add_unredirected_header("Authorization", f"Bearer {API_KEY}")
    while True:
        try:
            with urlopen(request, timeout=60) as answer:
                return answer.headers, json.load(answer)
        except HTTPError as error:
            if not error.headers.get("Retry-After"):
                raise
            time.sleep(int(error.headers["Retry-After"]))


def reconcile_forever():
    def tried(list_name, path=None):
        try:
            reconcile(list_name, path)
        except Exception as error:  # The next list may be readable, and this one later.
            print(f"{path or list_name} could not be read: {error}", file=sys.stderr)

    while True:
        for list_name in ["jobs", "quotes", "invoices", "forms"]:
            tried(list_name)
        for (form,) in read("SELECT id FROM records WHERE list = 'forms'"):
            tried("submissions", f"forms/{form}/submissions")
        time.sleep(RECONCILE_SECONDS)


def is_genuine(header, raw_body):
    match = re.fullmatch(r"t=([0-9]{1,12}),v1=([0-9a-f]{64})", header)
    if not match or abs(time.time() - int(match[1])) > 300:
        return False
    expected = hmac.new(SECRET.encode(), match[1].encode() + b"." + raw_body, hashlib.sha256)
    return hmac.compare_digest(expected.hexdigest(), match[2])


class Receiver(BaseHTTPRequestHandler):
    timeout = 10

    def do_POST(self):
        # An error from here on closes the connection without an answer, and so the service sends it again.
        raw_body = self.read_body()
        if raw_body is None:
            return self.answer(413)
        if not is_genuine(self.headers.get("Service-Signature", ""), raw_body):
            return self.answer(401)
        receive(json.loads(raw_body))
        self.answer(204)

    def read_body(self):
        """The body as it was sent; None for one that is too large."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            length = int(self.headers.get("Content-Length", 0))
            return self.rfile.read(length) if 0 <= length <= BODY_BYTES_MAX else None
        # Proxies may send a body in chunks (RFC 9112, section 7.1), which http.server leaves to its user.
        chunks, length = [], 0
        while True:
            line = re.fullmatch(rb"([0-9A-Fa-f]{1,8})[ \t]*(;.*)?\r\n", self.rfile.readline(1000))
            size = int(line[1], 16)
            length += size
            if length > BODY_BYTES_MAX:
                return None
            if size == 0:
                # Trailers end with an empty line.
                while self.rfile.readline(1000).strip():
                    pass
                return b"".join(chunks)
            chunks.append(self.rfile.read(size))
            self.rfile.readline(1000)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_args):
        """Says nothing of each request."""


if __name__ == "__main__":
    if not SECRET:
        sys.exit("WEBHOOK_SECRET must be set to the signing secret, whsec_ included.")
    server = ThreadingHTTPServer(("", int(os.environ.get("PORT") or "3000")), Receiver)
    print("Listening on port", server.server_port, flush=True)
    if API_URL and API_KEY:
        threading.Thread(target=reconcile_forever, daemon=True).start()
    server.serve_forever()
