import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';

import type { Job } from '../../src/contract/records.ts';
import type { Engine } from '../../src/store/engine.ts';
import { listInvoices } from '../../src/store/invoices.ts';
import { createListReader } from '../../src/store/lists.ts';
import { createRecordFinder, listRecords } from '../../src/store/records.ts';
import { openTestDatabase } from '../_server.ts';
import { createAsker } from './_asker.ts';
import { createAdmission } from './_admission.ts';
import type { Bench } from './_bench.ts';
import { COMPANY, customerId, fillCompany, jobChangedAt, jobId } from './_company.ts';
import { type ServerProcess, startProduct } from './_process.ts';
import { aligned, quantile, takeTurns } from './_rounds.ts';
import { openWire, type Wire } from './_wire.ts';

const JOBS = 20_000;
const INVOICES = 5_000;
const ROUNDS = 15;
/** Requests of a round, one after the other. */
const REQUESTS = 300;
/** Requests whose round trips are counted, once the connections are made. */
const COUNTED = 50;

/** Reads on PostgreSQL beside the statements that they can't do without. */
export const postgres: Bench = {
  about: 'round trips of a read on PostgreSQL, and the time of its queries beside bare ones of the same rows',
  run: async () => {
    const figures = await benchPostgres();
    return { figures, text: textOf(figures) };
  },
};

interface Read {
  name: string;
  path: string;
  /** The rows by the functions of the store. */
  store: () => Promise<unknown>;
  /** The rows by nothing but pg. */
  sql: string;
  values: unknown[];
}

interface ReadFigures {
  read: string;
  roundTrips: number;
  /** Medians of the rounds' p50, in milliseconds: the whole request over HTTP, what it asks of the database, and pg. */
  requestMs: number;
  storeMs: number;
  bareMs: number;
  /** The median of the rounds' ratios. */
  storeOfBare: number;
}

function readsOf(engine: Engine): Read[] {
  const limit = 50;
  const rows = limit + 1;
  const findJob = createRecordFinder<Job>(engine, 'jobs');
  const read = createListReader(engine);
  const page = { after: '', limit };
  const filters = { status: 'issued', kind: 'invoice', customer: customerId(3) } as const;
  const walk = 'SELECT id, body FROM jobs WHERE company = $1 AND id > $2 ORDER BY id LIMIT $3';
  const late = jobChangedAt(JOBS - 30);
  return [
    {
      name: 'one record',
      path: `/api/v1/jobs/${jobId(JOBS / 2)}`,
      store: () => findJob(COMPANY, jobId(JOBS / 2)),
      sql: 'SELECT body FROM jobs WHERE company = $1 AND id = $2',
      values: [COMPANY, jobId(JOBS / 2)],
    },
    {
      name: 'a page of 50',
      path: `/api/v1/jobs?limit=${limit}`,
      store: () => listRecords<Job>(read, 'jobs', COMPANY, undefined, page),
      sql: walk,
      values: [COMPANY, '', rows],
    },
    {
      name: 'a filtered page of 50',
      path: `/api/v1/invoices?kind=invoice&customer=${customerId(3)}&limit=${limit}`,
      store: () => listInvoices(read, COMPANY, filters, page),
      sql: `SELECT id, body FROM invoices
        WHERE company = $1 AND customer = $2 AND status = 'issued' AND kind = 'invoice' AND id > $3
        ORDER BY id LIMIT $4`,
      values: [COMPANY, customerId(3), '', rows],
    },
    {
      name: 'the 30 changed last',
      path: `/api/v1/jobs?limit=${limit}&updatedSince=${late}`,
      store: () => listRecords<Job>(read, 'jobs', COMPANY, late, page),
      sql: `SELECT id, body FROM jobs
        WHERE company = $1 AND updated_at >= $2 AND COALESCE(id, id) > $3 ORDER BY COALESCE(id, id) LIMIT $4`,
      values: [COMPANY, late, '', rows],
    },
  ];
}

async function benchPostgres(): Promise<ReadFigures[]> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-bench-'));
  try {
    await using database = await openTestDatabase('postgres');
    const key = await fillCompany(database.engine, { jobs: JOBS, invoices: INVOICES });
    await using wire = await openWire(database.url);
    const logFile = join(folder, 'log');
    const figures: ReadFigures[] = [];
    // One server behind the relay, whose time doesn't count, and one without.
    await using counted = await startProduct(wire.url, { logFile });
    await using timed = await startProduct(database.url, { logFile });
    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    for (const read of readsOf(database.engine)) {
      const roundTrips = await countRoundTrips(wire, counted, key, read);
      const times = await time(read, { engine: database.engine, pool, server: timed, key });
      figures.push({ read: read.name, roundTrips, ...times });
    }
    await pool.end();
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function countRoundTrips(wire: Wire, server: ServerProcess, key: string, read: Read): Promise<number> {
  const ask = createAsker(server.url, key);
  for (let request = 0; request < COUNTED; request += 1) await ask(read.path);
  const before = wire.roundTrips();
  for (let request = 0; request < COUNTED; request += 1) await ask(read.path);
  return (wire.roundTrips() - before) / COUNTED;
}

/** The queries of a request are those of its key, of its allowance and of its rows. */
async function time(
  { name, path, store, sql, values }: Read,
  { engine, pool, server, key }: { engine: Engine; pool: pg.Pool; server: ServerProcess; key: string },
) {
  const ask = createAsker(server.url, key);
  const admit = createAdmission(engine);
  const query = bareQueries(pool, key);
  const sides = [
    () => ask(path),
    async () => {
      await admit(`Bearer ${key}`, '', 'jobs:read');
      await store();
    },
    async () => {
      await query.admit();
      await query.rows(name, sql, values);
    },
  ];
  const timed = sides.map((work) => () => medianMs(work));
  const [request = [], ofStore = [], bare = []] = await takeTurns(timed, ROUNDS);
  const ratios = ofStore.map((ms, round) => ms / (bare[round] ?? ms));
  const [requestMs = 0, storeMs = 0, bareMs = 0, storeOfBare = 0] = [request, ofStore, bare, ratios].map(
    (ms) => quantile(ms, 0.5),
  );
  return { requestMs, storeMs, bareMs, storeOfBare };
}

/** The same by nothing but pg, each statement named, so that PostgreSQL parses it once as it does the server's own. */
function bareQueries(pool: pg.Pool, key: string) {
  const [, company, keyId] = key.split('.');
  // JSON stays text, as it does in the server.
  const types = { getTypeParser: () => (text: string) => text };
  const rows = (name: string, text: string, values: unknown[]) => pool.query({ name, text, values, types });
  return {
    rows,
    async admit() {
      const nowMs = Date.now();
      await rows('key', KEY_QUERY, [company, keyId, `bare:${keyId}`, nowMs, nowMs + 60_000]);
    },
  };
}

/** The key, and the request counted: no request can do without the one or the other. */
const KEY_QUERY = `
  WITH counted AS (
    INSERT INTO rate_counts AS kept (key, points, expire) VALUES ($3, 1, $5)
    ON CONFLICT (key) DO UPDATE SET
      points = CASE WHEN kept.expire <= $4 THEN 1 ELSE kept.points + 1 END,
      expire = CASE WHEN kept.expire <= $4 THEN $5 ELSE kept.expire END
    RETURNING points, expire
  )
  SELECT
    secret_sha256, scopes, revoked_at, api_enabled, subscription_active, invoicing_enabled, modules, time_zone,
    points, expire
  FROM api_keys JOIN companies ON companies.id = api_keys.company CROSS JOIN counted
  WHERE api_keys.company = $1 AND api_keys.id = $2`;

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let request = 0; request < REQUESTS; request += 1) {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  return quantile(times, 0.5);
}

function textOf(figures: readonly ReadFigures[]): string {
  return aligned([
    ['p50 in ms', 'round trips', 'request', 'its queries', 'bare queries', 'queries of bare'],
    ...figures.map(({ read, roundTrips, requestMs, storeMs, bareMs, storeOfBare }) => {
      const times = [requestMs, storeMs, bareMs, storeOfBare].map((figure) => figure.toFixed(2));
      return [read, String(roundTrips), ...times];
    }),
  ]);
}
