/*
 * A receiver to start from. Copy it, and put what your system needs in place of `keep`. It needs Node 24:
 *
 *     npm install https://api.fieldledger.example/client-1.0.0.tgz
 *     npm pkg set type=module        # where npm has made a package of type commonjs
 *     WEBHOOK_SECRET=whsec_... API_URL=https://api.fieldledger.example API_KEY=fl... node receiver.ts
 *
 * - Idempotent: the id of a delivery is kept in the same transaction as its event, so a repetition changes nothing.
 * - In any order: an older state never replaces a newer one.
 * - Complete: at the start and every ten minutes it reads what changed since it last looked, and so makes up for
 *   events that never came. Without API_KEY it doesn't.
 *
 * It can be killed at any moment. `npx --no fieldledger webhook play day --to http://localhost:3000/` tries it.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

import { type Client, createClient, type Event, verifyWebhook, WebhookError } from '@fieldledger/client';

const { WEBHOOK_SECRET, API_URL, API_KEY, DATABASE, PORT, RECONCILE_SECONDS } = process.env;
/** No delivery is larger (the reference, "Webhooks"). */
const BODY_BYTES_MAX = 10_000_000;
/** Under this name the store that was read (`Store-Generation`) is kept among the checkpoints. */
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

/** Your own work goes here. Times are all of one length, so that their texts compare as they do. */
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
      // These two say what happened to an invoice; the changed invoice itself comes when the list is read.
      case 'payment.recorded':
        keep('payments', data.paymentId, createdAt, data);
        break;
      case 'invoice.paid':
        keep('settlements', `${data.invoiceId} ${data.paidOn}`, createdAt, data);
        break;
      default:
      // A ping, or what a later version sends, needs nothing.
    }
  });
}

interface Row {
  id: string;
  createdAt: string;
  /** A submission has none: it never changes. */
  updatedAt?: string;
}
interface Pages {
  pages: () => AsyncIterable<{ data: Row[]; date: Date | undefined; generation: string | undefined }>;
}

/** Reads what changed in a list since it was last read (the reference, "Staying in sync"). */
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
  // A minute for clocks that differ. Rows that are read twice change nothing.
  if (startedAt) putCheckpoint.run(name, new Date(startedAt.getTime() - 60_000).toISOString());
}

/** A service that was restored has lost records. Then all that can be read again is forgotten, and all is read again. */
function isOtherStore(generation: string): boolean {
  const known = findCheckpoint.get(GENERATION)?.since;
  if (known === generation) return false;
  inTransaction(() => {
    // Payments and settlements come with events alone.
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
    // The next list may be readable, and this one later.
    console.error(`${name} could not be read:`, error);
  }
}

async function reconcileForever(api: Client): Promise<never> {
  for (;;) {
    await reconcileAll(api);
    await pause(Number(RECONCILE_SECONDS || 600) * 1000);
  }
}

/** Gives the status to answer with. Only after a 2xx is a delivery not sent again. */
async function statusFor(req: IncomingMessage, secret: string): Promise<number> {
  if (req.method !== 'POST') return 405;
  const chunks: Buffer[] = [];
  let length = 0;
  // The answer can still be given when the rest isn't read.
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
    // The connection broke: nobody waits for the answer.
    .catch(() => 400)
    .then((status) => res.writeHead(status).end());
});
server.listen(Number(PORT || 3000), () => console.log('Listening on', server.address()));
if (API_URL && API_KEY) void reconcileForever(createClient({ baseUrl: API_URL, key: API_KEY }));
