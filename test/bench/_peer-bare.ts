/*
 * The limit of what can be reached: a handler of node:http that runs the same statements through the same functions of
 * the store and sends the same bytes, each answer as soon as it is made, and does nothing else. No key is checked, nothing
 * is counted, validated, hashed or logged: the fields of the real head that tell of that are fixed here.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { answerPage } from '../../src/server/api/pages.ts';
import { answerRecord } from '../../src/server/api/records.ts';
import type { JsonText } from '../../src/contract/json-text.ts';
import { openEngine } from '../../src/server/store/engines/open-engine.ts';
import { invoicesPage } from '../../src/server/store/records/invoices.ts';
import { findRecord, listRecords } from '../../src/server/store/records/records.ts';
import { COMPANY } from './_company.ts';

const JOBS = '/api/v1/jobs/';

const engine = await openEngine(process.env.DATABASE_URL ?? '');

const cacheHead = ['Cache-Control', 'private, no-cache', 'Vary', 'Accept-Encoding'];
const tagHead = ['ETag', `"${'0'.repeat(27)}"`];
const requestHead = ['X-Request-Id', '00000000-0000-4000-8000-000000000000'];
const allowanceHead = [
  'RateLimit-Policy',
  '"default";q=10000000;w=60',
  'RateLimit',
  '"default";r=9000000;t=60',
];
const head = [...cacheHead, ...tagHead, ...requestHead, ...allowanceHead];

const server = createServer((req, res) => {
  void bodyOf(req.url ?? '').then(({ status, body }) => {
    const bytes = Buffer.from(body);
    const entity = ['Content-Type', 'application/json', 'Content-Length', String(bytes.length)];
    res.writeHead(status, [...entity, ...head]).end(bytes);
  });
});
// Told in every head.
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () => {
  // A server that listens on a port has an address of this shape.
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});

async function bodyOf(url: string): Promise<{ status: number; body: JsonText<unknown> }> {
  if (url.startsWith(JOBS))
    return answerRecord(await findRecord(engine.db, 'jobs', COMPANY, url.slice(JOBS.length)));
  const query = new URLSearchParams(url.slice(url.indexOf('?')));
  const limit = Number(query.get('limit'));
  if (url.startsWith('/api/v1/jobs')) {
    return answerPage('listJobs', { limit }, (page) =>
      listRecords(engine.db, 'jobs', COMPANY, undefined, page),
    );
  }
  const filters = { status: 'issued', kind: 'invoice', customer: query.get('customer') ?? '' } as const;
  return answerPage('listInvoices', { ...filters, limit }, (page) =>
    invoicesPage(engine.db, COMPANY, filters, page),
  );
}
