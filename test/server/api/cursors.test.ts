import fc from 'fast-check';
import t from 'tap';
import type { Test } from 'tap';

import { createCompany } from '../../../src/server/access/companies.ts';
import { anyCharacter } from '../../_characters.ts';
import { engineNames, keyFor, startEmptyServer, STORY_NOW } from '../../_server.ts';
import { addressOf, crawl, type ListPage, type Query, readPage } from './_crawl.ts';
import {
  customerOf,
  customerRef,
  formOf,
  idOf,
  invoiceOf,
  jobOf,
  personOf,
  quoteOf,
  store,
  submissionOf,
  uuidOf,
} from './_records.ts';

const COUNT = 12;
const indexes = Array.from({ length: COUNT }, (_value, index) => index);

/** Every list, each with several pages of two. */
const lists = {
  jobs: 'api/v1/jobs',
  people: 'api/v1/people',
  forms: 'api/v1/forms',
  submissions: `api/v1/forms/${idOf('form', 0)}/submissions`,
  invoices: 'api/v1/invoices',
  customers: 'api/v1/customers',
  quotes: 'api/v1/quotes',
} as const;

const records = indexes.flatMap((index) => [
  jobOf({ id: idOf('all', index) }),
  personOf({ id: idOf('all', index) }),
  formOf({ id: idOf('form', index) }),
  submissionOf({ id: idOf('all', index), formId: idOf('form', index % 2) }),
  customerOf({ id: idOf('all', index) }),
  invoiceOf({
    id: uuidOf(index),
    issueDate: '2026-11-10',
    customer: customerRef(`cus_${index % 2}`),
    kind: index % 3 === 0 ? 'credit_note' : 'invoice',
  }),
  quoteOf({ id: uuidOf(index), customer: customerRef(`cus_${index % 2}`) }),
]);

async function start(t: Test, name: (typeof engineNames)[number]) {
  const { server, engine } = await startEmptyServer(t, name);
  for (const company of ['own', 'other']) await createCompany(engine, company, {}, STORY_NOW);
  await store(engine, 'own', records);
  const key = await keyFor(engine, 'own');
  const ask = async (path: string, query: Query | string) => {
    const address = typeof query === 'string' ? `${path}?${query}` : addressOf(path, query);
    const { statusCode, body } = await server.http(address, { headers: { authorization: `Bearer ${key}` } });
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

for (const name of engineNames) {
  t.test(`a cursor is good for its own list only (${name})`, async (t) => {
    const { ask, cursorOf } = await start(t, name);
    for (const [from, path] of Object.entries(lists)) {
      const cursor = await cursorOf(path);
      for (const [to, other] of Object.entries(lists)) {
        t.equal(
          await ask(other, { cursor }),
          from === to ? '200 ok' : '400 invalid_cursor',
          `${from} to ${to}`,
        );
      }
    }
    const cursor = await cursorOf(lists.submissions);
    const otherForm = `api/v1/forms/${idOf('form', 1)}/submissions`;
    t.equal(await ask(otherForm, { cursor }), '400 invalid_cursor', 'the submissions of another form');
  });

  t.test(`a cursor is good for its own filters only, however they are written (${name})`, async (t) => {
    const { ask, cursorOf } = await start(t, name);
    const since = '2026-10-01T00:00:00Z';
    const filters: Query[] = [
      {},
      { kind: 'invoice' },
      { status: 'all' },
      { customer: 'cus_0' },
      { customer: 'cus_1' },
      { issuedFrom: '2026-01-01' },
      { issuedTo: '2026-12-31' },
      { updatedSince: since },
      { kind: 'invoice', customer: 'cus_1' },
    ];
    for (const [index, query] of filters.entries()) {
      const cursor = await cursorOf(lists.invoices, query);
      for (const [otherIndex, other] of filters.entries()) {
        const expected = index === otherIndex ? '200 ok' : '400 invalid_cursor';
        const which = `${JSON.stringify(query)} to ${JSON.stringify(other)}`;
        t.equal(await ask(lists.invoices, { ...other, cursor }), expected, which);
      }
    }
    const sameLists: [path: string, query: Query, same: Query][] = [
      [lists.invoices, {}, { status: 'issued' }],
      [lists.quotes, { versions: 'latest' }, {}],
      [lists.jobs, { updatedSince: since }, { updatedSince: '2026-10-01T02:00:00.000+02:00' }],
    ];
    for (const [path, query, same] of sameLists) {
      const cursor = await cursorOf(path, query);
      t.equal(await ask(path, { ...same, cursor }), '200 ok', `the same filter: ${JSON.stringify(same)}`);
    }
  });

  t.test(`a cursor of another company leads to one's own records, if anywhere (${name})`, async (t) => {
    const { server, engine, key, cursorOf } = await start(t, name);
    const otherKey = await keyFor(engine, 'other');
    await store(engine, 'other', [customerOf({ id: idOf('all', 9), name: 'Of the other' })]);
    const cursor = await cursorOf(lists.customers);
    const page = await readPage(server, otherKey, lists.customers, { cursor });
    t.strictSame(
      page,
      { data: [customerOf({ id: idOf('all', 9), name: 'Of the other' }).record], nextCursor: null },
      'no record of the company that the cursor was given to',
    );
    const own = await readPage(server, key, lists.customers, { cursor });
    t.strictSame(
      own.data.map(({ id }) => id),
      indexes.slice(2).map((index) => idOf('all', index)),
    );
  });

  t.test(`a cursor whose last record has gone still leads on (${name})`, async (t) => {
    const { server, engine, key, cursorOf } = await start(t, name);
    const cursor = await cursorOf(lists.jobs);
    // There is no operation that removes a job; a gap is what a feed could leave.
    await engine.run(`DELETE FROM jobs WHERE company = 'own' AND id = '${idOf('all', 1)}'`);
    const { data } = await readPage(server, key, lists.jobs, { cursor, limit: '3' });
    t.strictSame(
      data.map(({ id }) => id),
      [2, 3, 4].map((index) => idOf('all', index)),
    );
    const { records: met } = await crawl(server, key, { path: lists.jobs, query: {}, limits: [4] });
    t.equal(met.length, COUNT - 1);
  });
}

t.test('no altered cursor is taken for a cursor', async (t) => {
  const { ask, cursorOf } = await start(t, 'sqlite');
  const invalid = '400 invalid_cursor';
  const cursor = await cursorOf(lists.invoices);
  const altered = new Map<string, string>();
  for (let index = 0; index < cursor.length; index += 1) {
    const others = ['A', 'a', '0', '_', '-'].filter((character) => character !== cursor[index]);
    for (const character of others)
      altered.set(cursor.slice(0, index) + character + cursor.slice(index + 1), `character ${index}`);
    altered.set(cursor.slice(0, index), `cut after ${index}`);
    altered.set(cursor.slice(index + 1), `cut before ${index}`);
    altered.set(cursor.slice(0, index) + cursor.slice(index + 1), `without character ${index}`);
  }
  for (const digit of '023456789') altered.set(digit + cursor.slice(1), `version ${digit}`);
  for (const end of ['A', '=', '==', '%', '.', ' ', '\n', '\0', '\u{1f600}', cursor])
    altered.set(cursor + end, `followed by ${JSON.stringify(end)}`);
  for (const odd of [
    '',
    '1',
    '1A',
    '1=',
    '+/',
    'null',
    '..',
    '\0',
    '%00',
    "1' OR 1=1--",
    `1${'A'.repeat(199)}`,
  ])
    altered.set(odd, JSON.stringify(odd));
  for (const length of [200, 201, 1_000, 10_000]) altered.set(cursor.padEnd(length, 'A'), `${length} long`);
  altered.set(cursor.replaceAll('-', '+').replaceAll('_', '/').concat('+'), 'the other alphabet');
  altered.delete(cursor);
  for (const [text, which] of altered) {
    const answer = await ask(lists.invoices, { cursor: text });
    if (answer !== invalid) t.equal(answer, invalid, which);
  }
  t.equal(await ask(lists.invoices, { cursor }), '200 ok', 'the cursor itself is good');
});

t.test('a cursor is given once, well encoded', async (t) => {
  const { ask, cursorOf } = await start(t, 'sqlite');
  const cursor = await cursorOf(lists.people);
  t.equal(await ask(lists.people, `cursor=${cursor}&cursor=${cursor}`), '400 invalid_parameter', 'repeated');
  t.equal(await ask(lists.people, `cursor`), '400 invalid_cursor', 'without a value');
  t.equal(await ask(lists.people, `Cursor=${cursor}`), '400 invalid_parameter', 'another name');
  t.equal(await ask(lists.people, `cursor[]=${cursor}`), '400 invalid_parameter', 'as a list');
  t.equal(await ask(lists.people, `cursor=%E0%A4%A`), '400 invalid_cursor', 'a malformed escape');
  const encoded = [...cursor].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('');
  t.equal(await ask(lists.people, `cursor=${encoded}`), '200 ok', 'every character escaped');
});

t.test('random text is no cursor', async (t) => {
  const { server, key } = await start(t, 'sqlite');
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: anyCharacter }),
        fc.base64String(),
        fc.stringMatching(/^1[A-Za-z0-9_-]{1,199}$/),
        fc
          .uint8Array({ minLength: 9, maxLength: 60 })
          .map((bytes) => `1${Buffer.from(bytes).toString('base64url')}`),
      ),
      async (cursor) => {
        const { statusCode, body } = await server.http(
          addressOf(lists.quotes, { cursor: cursor.toWellFormed() }),
          {
            headers: { authorization: `Bearer ${key}` },
          },
        );
        const { error } = JSON.parse(body) as Partial<ListPage> & { error?: { code: string } };
        return statusCode === 400 && error?.code === 'invalid_cursor';
      },
    ),
    { numRuns: 300 },
  );
  t.pass('300 random texts are refused');
});
