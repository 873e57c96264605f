import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';

import t from 'tap';

import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { revokeKey } from '../../../src/server/features/keys/keys.ts';
import { resources } from '../../../src/contract/records.ts';
import { keepPdf } from '../../../src/server/store/records/documents.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import type { KeyUsage } from '../../../src/server/features/usage/key-usage.ts';
import { keyFor, openTestDatabase, startTestServer, STORY_NOW, type TestServer } from '../../_server.ts';
import { knownPath, operations } from '../../contract/_contract.ts';
import { crawl } from './_crawl.ts';
/** The example company. */
const READ = 'brennan';

async function prepare(engine: Engine) {
  await createCompany(engine, 'closed', { apiEnabled: false, invoicingEnabled: false }, STORY_NOW);
  await createCompany(engine, 'uninvoiced', { invoicingEnabled: false }, STORY_NOW);
  // A PDF is stored when it is first asked for; from then on reading it changes nothing.
  const pdf = { sha256: '0'.repeat(64), byte_count: 3, bytes: Buffer.from('pdf') };
  const invoice = knownPath('getInvoice').split('/').at(-1) ?? '';
  await keepPdf(engine, { company: READ, invoice, number: 'INV-1', ...pdf });
  const revoked = await keyFor(engine, READ);
  await revokeKey(engine, READ, revoked.split('.')[2] ?? '', STORY_NOW);
  const keys = [await keyFor(engine, READ), await keyFor(engine, READ, ['jobs:read'])];
  const uninvoiced = await keyFor(engine, 'uninvoiced');
  return [...keys, await keyFor(engine, 'closed'), revoked, `fl.${READ}.wrong.key`, uninvoiced] as const;
}

/** Every operation with every key, also for what isn't there, with wrong parameters, methods and tags. */
async function readEverything(
  server: TestServer,
  keys: Awaited<ReturnType<typeof prepare>>,
): Promise<Set<number>> {
  const statuses = new Set<number>();
  const ask = async (
    path: string,
    key: string,
    options: { method?: 'GET' | 'HEAD' | 'DELETE'; tag?: string } = {},
  ) => {
    const { statusCode, headers } = await server.http(path, {
      method: options.method ?? 'GET',
      headers: { authorization: `Bearer ${key}`, ...(options.tag && { 'if-none-match': options.tag }) },
    });
    statuses.add(statusCode);
    return headers.etag;
  };
  for (const { operationId, path } of operations) {
    const known = knownPath(operationId).slice(1);
    for (const key of keys) {
      const tag = await ask(known, key);
      await ask(known, key, { method: 'HEAD' });
      await ask(known, key, { method: 'DELETE' });
      if (tag !== undefined) await ask(known, key, { tag });
      await ask(`${known}?limit=1&unknown=1`, key);
      await ask(path.slice(1).replace(/\{\w+\}/, 'nobody'), key);
    }
  }
  // `/readyz` tries to write.
  for (const path of ['healthz', 'metrics', 'openapi.json', 'openapi.yaml', 'nothing'])
    await ask(path, keys[0]);
  for (const list of ['jobs', 'people', 'forms', 'customers', 'invoices', 'quotes'])
    await crawl(server, keys[0], { path: `api/v1/${list}`, query: {}, limits: [2] });
  const updatedSince = { updatedSince: '2026-01-01T00:00:00Z' };
  await crawl(server, keys[0], {
    path: 'api/v1/quotes',
    query: { ...updatedSince, status: 'expired' },
    limits: [3],
  });
  return statuses;
}

const everyStatus = new Set([200, 304, 400, 401, 403, 404, 405, 429, 503]);

/** A server writes the use of keys every five seconds; here it isn't counted. */
const noUsage: KeyUsage = {
  count: () => undefined,
  note: () => undefined,
  flush: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
};

t.test('reading leaves the file of the database as it was, byte by byte', async (t) => {
  await using database = await openTestDatabase('sqlite', 'example');
  const { engine } = database;
  const keys = await prepare(engine);
  // The first server of a store gives it its generation.
  await using server = await startTestServer({ engine, usage: noUsage });
  await using strict = await startTestServer({
    engine,
    usage: noUsage,
    rateLimitPerMinute: 1,
    wrongKeysPerMinute: 1,
  });
  const file = database.url.slice('sqlite:'.length);
  await engine.run('PRAGMA wal_checkpoint(TRUNCATE)');
  const hash = () => createHash('sha256').update(readFileSync(file)).digest('hex');
  const logBytes = () => (existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0);
  const before = hash();
  t.equal(logBytes(), 0, 'everything is in the file');
  const statuses = await readEverything(server, keys);
  for (const key of [keys[0], keys[0], keys[4], keys[4]]) {
    const { statusCode } = await strict.http('api/v1/jobs', { headers: { authorization: `Bearer ${key}` } });
    statuses.add(statusCode);
  }
  t.strictSame([...statuses].sort(), [...everyStatus].sort(), 'answers of every kind');
  t.equal(logBytes(), 0, 'nothing was written ahead');
  await engine.run('PRAGMA wal_checkpoint(TRUNCATE)');
  t.equal(hash(), before);
});

t.test('reading leaves every row of PostgreSQL as it was, but for the counts of requests', async (t) => {
  await using database = await openTestDatabase('postgres', 'example');
  const { engine } = database;
  const keys = await prepare(engine);
  const tables = ['companies', 'api_keys', ...resources];
  const rows = async () => {
    const texts: unknown[] = [];
    // The version of each row tells of a change that leaves its values alone.
    for (const table of tables)
      texts.push(await engine.run(`SELECT xmin::text, ctid::text, r::text FROM ${table} r ORDER BY ctid`));
    return JSON.stringify(texts);
  };
  const before = await rows();
  await using server = await startTestServer({ engine });
  await readEverything(server, keys);
  t.equal(await rows(), before);
});
