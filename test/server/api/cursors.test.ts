import fc from 'fast-check';
import t from 'tap';
import type { Test } from 'tap';

import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { requestedPage, sealCursor } from '../../../src/server/api/pages.ts';
import { anyCharacter } from '../../_characters.ts';
import { keyFor, STORY_NOW } from '../../_server.ts';
import { crawl, type Query, readPage } from './_crawl.ts';
import {
  customerOf,
  formOf,
  idOf,
  jobOf,
  quoteOf,
  startAcme,
  store,
  submissionOf,
  uuidOf,
} from './_records.ts';

/* That a cursor belongs to its list and its filters, and to no limit, is the suite's to ask, on both engines. */

const COUNT = 12;
const indexes = Array.from({ length: COUNT }, (_value, index) => index);
const records = indexes.flatMap((index) => [
  jobOf({ id: idOf('all', index) }),
  formOf({ id: idOf('form', index) }),
  submissionOf({ id: idOf('all', index), formId: idOf('form', index % 2) }),
  customerOf({ id: idOf('all', index) }),
  quoteOf({ id: uuidOf(index) }),
]);

async function start(t: Test) {
  const { server, engine, key, headers } = await startAcme(t, records);
  const ask = async (path: string, query: Query | string) => {
    const text = typeof query === 'string' ? query : new URLSearchParams(query).toString();
    const { statusCode, body } = await server.http(`${path}?${text}`, { headers });
    // The body of an error.
    const { error } = JSON.parse(body) as { error?: { code: string } };
    return `${statusCode} ${error?.code ?? 'ok'}`;
  };
  const cursorOf = async (path: string, query: Query = {}) => {
    const { nextCursor } = await readPage(server, key, path, { ...query, limit: '2' });
    if (nextCursor === null) throw new Error(`${path} has one page only.`);
    return nextCursor;
  };
  return { server, engine, key, ask, cursorOf };
}

t.test('a cursor is good for its own form, and for its filters however they are written', async (t) => {
  const { ask, cursorOf } = await start(t);
  const [form, otherForm] = [0, 1].map((index) => `api/v1/forms/${idOf('form', index)}/submissions`);
  const ofForm = await cursorOf(form ?? '');
  t.equal(await ask(form ?? '', { cursor: ofForm }), '200 ok');
  t.equal(await ask(otherForm ?? '', { cursor: ofForm }), '400 invalid_cursor');
  const cursor = await cursorOf('api/v1/jobs', { updatedSince: '2026-10-01T00:00:00Z' });
  const sameTime = { updatedSince: '2026-10-01T02:00:00.000+02:00' };
  t.equal(await ask('api/v1/jobs', { ...sameTime, cursor }), '200 ok');
  const encoded = [...cursor].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('');
  const query = `updatedSince=2026-10-01T00:00:00Z&cursor=${encoded}`;
  t.equal(await ask('api/v1/jobs', query), '200 ok', 'every character escaped');
  const ofLatest = await cursorOf('api/v1/quotes', { versions: 'latest' });
  t.equal(await ask('api/v1/quotes', { cursor: ofLatest }), '200 ok', 'the filter that counts unless told');
});

t.test("a cursor of another company leads to one's own records, if anywhere", async (t) => {
  const { server, engine, key, cursorOf } = await start(t);
  await createCompany(engine, 'other', {}, STORY_NOW);
  const otherKey = await keyFor(engine, 'other');
  const theirs = customerOf({ id: idOf('all', 9), name: 'Of the other' });
  await store(engine, 'other', [theirs]);
  const cursor = await cursorOf('api/v1/customers');
  const page = await readPage(server, otherKey, 'api/v1/customers', { cursor });
  t.strictSame(page, { data: [theirs.record], nextCursor: null }, 'not to those of whom it was given to');
  const own = await readPage(server, key, 'api/v1/customers', { cursor });
  t.strictSame(
    own.data.map(({ id }) => id),
    indexes.slice(2).map((index) => idOf('all', index)),
  );
});

t.test('a cursor whose last record has gone still leads on', async (t) => {
  const { server, engine, key, cursorOf } = await start(t);
  const cursor = await cursorOf('api/v1/jobs');
  // There is no operation that removes a job; a gap is what a feed could leave.
  await engine.run(`DELETE FROM jobs WHERE company = 'acme' AND id = '${idOf('all', 1)}'`);
  const { data } = await readPage(server, key, 'api/v1/jobs', { cursor, limit: '3' });
  t.strictSame(
    data.map(({ id }) => id),
    [2, 3, 4].map((index) => idOf('all', index)),
  );
  const { records: met } = await crawl(server, key, { path: 'api/v1/jobs', query: {}, limits: [4] });
  t.equal(met.length, COUNT - 1);
});

/** Whether a text is taken for a cursor of the invoices. */
function isTaken(cursor: string): boolean {
  try {
    requestedPage('listInvoices', { limit: 1, status: 'issued', cursor });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'invalid_cursor') return false;
    throw error;
  }
}

t.test('no altered cursor is taken for a cursor, and no random text', async (t) => {
  const cursor = sealCursor('listInvoices', { status: 'issued' }, '019a0000-0000-7000-8000-000000000001');
  t.ok(isTaken(cursor), 'the cursor itself is good');
  const altered = new Set<string>(['', 'null', '\0', `1${'A'.repeat(199)}`]);
  for (let index = 0; index < cursor.length; index += 1) {
    for (const character of 'Aa0_-+/=')
      altered.add(cursor.slice(0, index) + character + cursor.slice(index + 1));
    altered.add(cursor.slice(0, index));
    altered.add(cursor.slice(index + 1));
    altered.add(cursor.slice(0, index) + cursor.slice(index + 1));
  }
  for (const digit of '023456789') altered.add(digit + cursor.slice(1));
  for (const end of ['A', '=', '==', '%', '.', ' ', '\n', '\0', '\u{1f600}', cursor])
    altered.add(cursor + end);
  for (const length of [200, 201, 1_000, 10_000]) altered.add(cursor.padEnd(length, 'A'));
  altered.delete(cursor);
  t.strictSame([...altered].filter(isTaken), []);
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.base64String(),
    fc.stringMatching(/^1[A-Za-z0-9_-]{1,199}$/),
    fc
      .uint8Array({ minLength: 9, maxLength: 60 })
      .map((bytes) => `1${Buffer.from(bytes).toString('base64url')}`),
  );
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(text, (one) => !isTaken(one)),
      { numRuns: 1_000 },
    ),
  );
});
