/*
 * A webhook receiver to start from. Copy it, and replace `keep` with what your system needs. It requires Node 24:
 *
 *     npm install https://api.fieldledger.example/client-1.0.0.tgz
 *     npm pkg set type=module        # if npm has created a package of type commonjs
 *     WEBHOOK_SECRET=whsec_... API_URL=https://api.fieldledger.example API_KEY=fl... node receiver.ts
 *
 * - Idempotent: a delivery's id is stored in the same transaction as its event, so a duplicate changes nothing.
 * - Order-independent: an older state never replaces a newer one.
 * - Complete: at startup and every ten minutes, it reads the changes since the last time, which makes up for events
 *   that never arrived. Without API_KEY it doesn't.
 *
 * It can be killed at any moment. Test it with `npx --no fieldledger webhook play day --to http://localhost:3000/`.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

import { type Client, createClient, type Event, verifyWebhook, WebhookError } from '@fieldledger/client';

const { WEBHOOK_SECRET, API_URL, API_KEY, DATABASE, PORT, RECONCILE_SECONDS } = process.env;
/** The maximum size of a delivery in bytes (the reference, "Webhooks"). */
const BODY_BYTES_MAX = 10_000_000;
/** The name of the checkpoint that holds the id of the store last read (`Store-Generation`). */
const GENERATION = 'generation';

const db = new DatabaseSync(DATABASE || 'receiver.db', { timeout: 5_000 });
db.exec(`
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS deliveries (id TEXT PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS records (list TEXT, id TEXT, changed_at TEXT, body TEXT, PRIMARY KEY (list, id));
  CREATE TABLE IF NOT EXISTS checkpoints (name TEXT PRIMARY KEY, since TEXT);
`);
const noteDelivery = db.prepare('INSERT OR IGNORE INTO deliveries VALUES (?)');
const putRecord = db.prepare(`
  INSERT INTO records VALUES (?, ?, ?, ?)
  ON CONFLICT (list, id) DO UPDATE SET changed_at = excluded.changed_at, body = excluded.body
  WHERE excluded.changed_at >= changed_at`);
const putCheckpoint = db.prepare('INSERT OR REPLACE INTO checkpoints VALUES (?, ?)');
const findCheckpoint = db.prepare('SELECT since FROM checkpoints WHERE name = ?');

/** Stores a record; replace this with your own work. All times have one length, so that they can be compared as text. */
function keep(list: string, id: string, changedAt: string, record: object): void {
  putRecord.run(list, id, changedAt, JSON.stringify(record));
}

function receive({ id, event, createdAt, data }: Event): void {
  inTransaction(() => {
    if (noteDelivery.run(id).changes === 0) return;
    switch (event) {
      case 'job.created':
      case 'job.updated':
      case 'job.completed':
        keep('jobs', data.id, data.updatedAt, data);
        break;
      case 'form.submitted':
        keep('submissions', data.id, data.createdAt, data);
        break;
      case 'invoice.issued':
      case 'credit_note.issued':
        keep('invoices', data.id, data.updatedAt, data);
        break;
      case 'quote.accepted':
        keep('quotes', data.id, data.updatedAt, data);
        break;
      // These two events describe what happened to an invoice; the changed invoice arrives when the list is read.
      case 'payment.recorded':
        keep('payments', data.paymentId, createdAt, data);
        break;
      case 'invoice.paid':
        keep('settlements', `${data.invoiceId} ${data.paidOn}`, createdAt, data);
        break;
      default:
      // Pings and events of later versions need no action.
    }
  });
}

interface Row {
  id: string;
  createdAt: string;
  /** The time of the record's last change; submissions have none, because they never change. */
  updatedAt?: string;
}
interface Pages {
  pages: () => AsyncIterable<{ data: Row[]; date: Date | undefined; generation: string | undefined }>;
}

/** Reads the records of a list that changed since it was last read (the reference, "Staying in sync"). */
async function reconcile(
  list: string,
  read: (query: { updatedSince?: string }) => Pages,
  name = list,
): Promise<void> {
  const since = findCheckpoint.get(name)?.since;
  let startedAt: Date | undefined;
  const pages = read(typeof since === 'string' ? { updatedSince: since } : {}).pages();
  for await (const { data, date, generation } of pages) {
    if (generation !== undefined && isOtherStore(generation)) return reconcile(list, read, name);
    startedAt ??= date;
    inTransaction(() => {
      for (const row of data) keep(list, row.id, row.updatedAt ?? row.createdAt, row);
    });
  }
  // The minute allows for clocks that differ. Rows that are read twice change nothing.
  if (startedAt) putCheckpoint.run(name, new Date(startedAt.getTime() - 60_000).toISOString());
}

/** Whether the service was restored, and so lost records: those that can be read again are then deleted here. */
function isOtherStore(generation: string): boolean {
  const known = findCheckpoint.get(GENERATION)?.since;
  if (known === generation) return false;
  inTransaction(() => {
    // Payments and settlements arrive only in events.
    if (known !== undefined)
      db.exec("DELETE FROM checkpoints; DELETE FROM records WHERE list NOT IN ('payments', 'settlements')");
    putCheckpoint.run(GENERATION, generation);
  });
  return known !== undefined;
}

async function reconcileAll(api: Client): Promise<void> {
  await tried('jobs', () => reconcile('jobs', api.listJobs));
  await tried('quotes', () => reconcile('quotes', api.listQuotes));
  await tried('invoices', () => reconcile('invoices', api.listInvoices));
  await tried('forms', async () => {
    for await (const { id } of api.listForms()) {
      const name = `submissions of ${id}`;
      await tried(name, () => reconcile('submissions', (query) => api.listFormSubmissions(id, query), name));
    }
  });
}

async function tried(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // Other lists may still be readable, and this one may be later.
    console.error(`${name} could not be read:`, error);
  }
}

async function reconcileForever(api: Client): Promise<never> {
  for (;;) {
    await reconcileAll(api);
    await pause(Number(RECONCILE_SECONDS || 600) * 1000);
  }
}

/** Handles a request and returns the HTTP status of the response. The service retries a delivery unless it is a 2xx. */
async function statusFor(req: IncomingMessage, secret: string): Promise<number> {
  if (req.method !== 'POST') return 405;
  const chunks: Buffer[] = [];
  let length = 0;
  // Keeps the connection, so that a response can be sent without reading the rest.
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) return 413;
    chunks.push(chunk);
  }
  try {
    receive(await verifyWebhook(Buffer.concat(chunks), req.headers, secret));
    return 204;
  } catch (error) {
    if (error instanceof WebhookError) return 401;
    console.error(error);
    return 500;
  }
}

function inTransaction(work: () => void): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

if (!WEBHOOK_SECRET) throw new Error('WEBHOOK_SECRET must be set to the signing secret, whsec_ included.');
const server = createServer((req, res) => {
  void statusFor(req, WEBHOOK_SECRET)
    // The connection broke, so nobody is waiting for the response.
    .catch(() => 400)
    .then((status) => res.writeHead(status).end());
});
server.listen(Number(PORT || 3000), () => console.log('Listening on', server.address()));
if (API_URL && API_KEY) void reconcileForever(createClient({ baseUrl: API_URL, key: API_KEY }));
