import { join } from 'node:path';

import t from 'tap';

import { applyChange } from '../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../src/server/backoffice/backoffice.ts';
import { ApiError, createClient } from '../../src/client/index.ts';
import { openJsonLinesCopy } from '../../src/client/sync/json-lines.ts';
import { type Batch, type Resource, resources, type Sink } from '../../src/client/sync/sink.ts';
import { openSqliteCopy } from '../../src/client/sync/sqlite.ts';
import { sync, type SyncOptions } from '../../src/client/sync/sync.ts';
import type { Change } from '../../src/contract/feed.ts';
import { keyFor, startExampleServer } from '../_server.ts';
import { type Contents, MemoryCopy, readJsonLinesCopy, readSource, readSqliteCopy } from './_copies.ts';

const server = await startExampleServer('sqlite');
t.teardown(() => server[Symbol.asyncDispose]());
const { url, key } = server;

/** A client that remembers the addresses it asked, and takes a time for the present of the service. */
function watchedClient({
  date,
  key: given = key,
  generation = () => undefined,
}: { date?: Date; key?: string; generation?: () => string | undefined } = {}) {
  const asked: string[] = [];
  const client = createClient({
    baseUrl: url,
    key: given,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      asked.push(decodeURIComponent(pathname.slice('/api/v1/'.length) + search));
      const answer = await fetch(request);
      const headers = new Headers(answer.headers);
      if (date) headers.set('Date', date.toUTCString());
      const shown = generation();
      if (shown === '') headers.delete('Store-Generation');
      else if (shown !== undefined) headers.set('Store-Generation', shown);
      return new Response(answer.body, { status: answer.status, headers });
    },
  });
  return { client, asked };
}

const apply = (change: string, what: object, now = new Date()) =>
  applyChange(openBackoffice(server.engine, { now: () => now }), {
    company: 'brennan',
    change,
    with: what,
  } as Change);

t.test('the first sync copies every record with its details, and asks no more than it must', async (t) => {
  const { client, asked } = watchedClient();
  const copy = new MemoryCopy();
  const { counts, left } = await sync(client, { sink: copy });
  const source = await readSource(url, key);
  t.strictSame(copy.contents(), source);
  t.strictSame(left, []);
  for (const [resource, records] of Object.entries(source))
    t.strictSame(counts[resource as keyof typeof counts], { put: records.length, removed: 0 });
  const details = source.quotes.length + source.invoices.length;
  // Submissions are a list for each form, after all forms; each list of documents is asked for its drafts once more.
  t.equal(asked.length, resources.length + source.forms.length + 2 + details);
});

t.test('the next one reads only what has changed, though the minute before is read again', async (t) => {
  const copy = new MemoryCopy();
  await sync(watchedClient().client, { sink: copy });
  const [invoice] = copy.contents().invoices.filter((record) => 'amountDueMinor' in record);
  await apply('payment.record', { invoiceId: invoice?.id, amountMinor: 1, currency: 'EUR', method: 'cash' });
  for (const putAgain of [1, 0]) {
    const { client, asked } = watchedClient();
    const { counts } = await sync(client, { sink: copy });
    t.strictSame(counts.invoices, { put: putAgain, removed: 0 });
    t.strictSame(counts.jobs, { put: 0, removed: 0 });
    t.equal(asked.filter((target) => /^invoices\/./.test(target)).length, putAgain, 'details are read once');
    t.ok(asked.some((target) => /^invoices\?.*updatedSince=/.test(target)));
  }
  t.strictSame(copy.contents(), await readSource(url, key));
  t.strictSame(copy.doubles, []);
});

t.test('a quote that expires is found, and one request tells that the others are still valid', async (t) => {
  const copy = new MemoryCopy();
  const draftQuote = async (validUntil: string) => {
    const line = {
      description: 'W',
      quantity: '1',
      unitPriceMinor: 1,
      vatRateBasisPoints: 0,
      vatCategory: 'Z',
    };
    const quote = { customerId: 'cus_0001', title: 'T', lines: [line], validUntil };
    const made = await apply('quote.draft', quote);
    const { id = '' } = JSON.parse('record' in made ? (made.record ?? '{}') : '{}') as { id?: string };
    await apply('quote.send', { id });
    return id;
  };
  const ids = [await draftQuote('2190-01-10'), await draftQuote('2190-01-20')];
  const statuses = () =>
    ids.map((id) => (copy.contents().quotes.find((quote) => quote.id === id) as { status?: string }).status);
  const syncAt = async (time: string, options: Partial<SyncOptions> = {}) => {
    const date = new Date(time);
    server.setNow(date);
    const { client, asked } = watchedClient({ date });
    await sync(client, { sink: copy, ...options });
    return asked;
  };
  await syncAt('2190-01-01T12:00:00Z');
  t.strictSame(statuses(), ['sent', 'sent']);

  // It is tomorrow somewhere, but not yet in Dublin.
  const asked = await syncAt('2190-01-10T23:00:00Z', { resources: ['quotes'] });
  t.strictSame(statuses(), ['sent', 'sent']);
  t.equal(asked.filter((target) => target.startsWith('quotes/')).length, 1);

  await syncAt('2190-01-11T00:30:00Z');
  t.strictSame(statuses(), ['expired', 'sent']);
  t.strictSame(copy.contents(), await readSource(url, key));
});

t.test('a resource that there isn’t is refused before anything is read', async (t) => {
  const { client, asked } = watchedClient();
  for (const named of [['job'], ['jobs', 'toString'], [undefined]] as Resource[][]) {
    const message = `resources must be among ${resources.join(', ')}, not ${JSON.stringify(named.at(-1))}.`;
    await t.rejects(sync(client, { sink: () => undefined, resources: named }), {
      name: 'TypeError',
      message,
    });
  }
  t.strictSame(asked, []);
});

t.test('a service that doesn’t know a cursor any more is read again from the checkpoint', async (t) => {
  const copy = new MemoryCopy();
  await sync(watchedClient().client, { sink: copy });
  const { jobs } = copy.state ?? {};
  if (jobs) jobs.pass = { startedAt: new Date().toISOString(), cursor: '1AAAAAAAAAAAA' };
  const { client, asked } = watchedClient();
  await sync(client, { sink: copy, resources: ['jobs'] });
  t.equal(asked.length, 2);
  t.equal(copy.state?.jobs?.pass, undefined);
  t.strictSame(copy.contents(), await readSource(url, key));
});

t.test('details can be left out, and read later', async (t) => {
  const copy = new MemoryCopy();
  const { client, asked } = watchedClient();
  await sync(client, { sink: copy, details: false });
  t.strictSame(
    asked.filter((target) => /^(?:invoices|quotes)\/./.test(target)),
    [],
  );
  t.notMatch(copy.contents().invoices[0], { lines: Array });
  await sync(client, { sink: copy });
  t.strictSame(copy.contents(), await readSource(url, key));
});

t.test('a function can be the sink, and the state be kept elsewhere', async (t) => {
  const batches: Batch[] = [];
  const { client } = watchedClient();
  const keep = async (batch: Batch) => void batches.push(batch);
  const { state } = await sync(client, { resources: ['jobs', 'people'], sink: keep });
  t.strictSame(state, batches.at(-1)?.state);
  t.strictSame([...new Set(batches.map(({ resource }) => resource))], ['jobs', 'people']);
  const again = await sync(client, { resources: ['jobs', 'people'], sink: keep, state });
  t.strictSame(again.counts, { jobs: { put: 0, removed: 0 }, people: { put: 0, removed: 0 } });
  const [first] = batches;
  t.strictSame(
    Object.keys(first?.state ?? {}).sort(),
    ['generation', 'jobs'],
    'a state that was given out stays as it was',
  );
});

t.test('a copy keeps no phantoms after the service was restored from a backup', async (t) => {
  const folder = t.testdir();
  const source = { source: 'brennan at test' };
  const lines = openJsonLinesCopy(folder, source);
  const file = join(folder, 'copy.sqlite');
  const sqlite = openSqliteCopy(file, source);
  t.teardown(() => sqlite.close());
  const memory = new MemoryCopy();
  const all = await readSource(url, key);
  const sinks: [Sink, () => Contents][] = [
    [memory, () => memory.contents()],
    [lines, () => readJsonLinesCopy(folder)],
    [sqlite, () => readSqliteCopy(file)],
  ];
  for (const [sink, contents] of sinks) {
    let generation = 'one';
    const { client } = watchedClient({ generation: () => generation });
    t.match(await sync(client, { sink }), { isAnew: false });
    // The service has lost a record of each resource.
    const { state = {} } = { state: await sink.load?.() };
    for (const resource of resources) {
      const phantom = { ...all[resource][0], id: 'phantom' };
      await sink.commit({ resource, put: [phantom], remove: [], state } as unknown as Batch);
    }
    t.match(await sync(client, { sink }), { isAnew: false });
    t.ok(resources.every((name) => contents()[name].some(({ id }) => id === 'phantom')));
    generation = 'two';
    t.match(await sync(client, { sink, details: true }), {
      isAnew: true,
      counts: { jobs: { put: all.jobs.length } },
    });
    t.strictSame(contents(), all);
    t.match(await sync(client, { sink }), { isAnew: false, counts: { jobs: { put: 0 } } });
  }
});

t.test('a sync that is begun anew and killed goes on to clear the rest', async (t) => {
  const copy = new MemoryCopy();
  let generation = 'one';
  const { client } = watchedClient({ generation: () => generation });
  await sync(client, { sink: copy });
  copy.records.get('invoices')?.set('phantom', { id: 'phantom' });
  copy.records.get('submissions')?.set('phantom', { id: 'phantom' });
  generation = 'two';
  const stop = new AbortController();
  const commit = (batch: Batch) => {
    copy.commit(batch);
    if (batch.resource === 'forms') stop.abort();
  };
  const killed = sync(client, { sink: { load: () => copy.load(), commit }, signal: stop.signal });
  await t.rejects(killed, { name: 'AbortError' });
  t.match(copy.state, { generation: 'two', outdated: ['jobs', 'submissions', 'quotes', 'invoices'] });
  await sync(client, { sink: copy });
  t.strictSame(copy.contents(), await readSource(url, key));
});

t.test('a copy takes on the first generation that is told, and refuses two by turns', async (t) => {
  const copy = new MemoryCopy();
  let generation = '';
  const { client } = watchedClient({ generation: () => generation });
  await sync(client, { sink: copy });
  generation = 'one';
  t.match(await sync(client, { sink: copy }), { isAnew: false, counts: { jobs: { put: 0 } } });
  t.equal(copy.state?.generation, 'one');
  let asked = 0;
  const byTurns = watchedClient({ generation: () => (asked++ % 2 === 0 ? 'one' : 'two') });
  await t.rejects(sync(byTurns.client, { sink: new MemoryCopy() }), {
    name: 'CopyError',
    message: /changed its store while it was read/,
  });
});

t.test('a key that reads little leaves the rest out, unless it was asked for by name', async (t) => {
  const { client } = watchedClient({ key: await keyFor(server.engine, 'brennan', ['jobs:read']) });
  const { left, counts } = await sync(client, { sink: new MemoryCopy() });
  t.strictSame(Object.keys(counts), ['jobs']);
  t.equal(left.length, resources.length - 1);
  t.match(left, [{ resource: 'people', code: 'missing_scope' }]);
  const refused = sync(client, { sink: new MemoryCopy(), resources: ['jobs', 'quotes'] });
  await t.rejects(refused, { code: 'missing_scope' });
  const wrong = createClient({ baseUrl: url, key: 'fl.brennan.0.x' });
  await t.rejects(sync(wrong, { sink: new MemoryCopy() }), ApiError);
});

t.test(
  'progress counts the details to their number; a signal ends it, and what was kept is good',
  async (t) => {
    const copy = new MemoryCopy();
    const ending = new AbortController();
    const { client } = watchedClient();
    const stopping = ({ details }: { details: { done: number } }) => {
      if (details.done === 3) ending.abort(new Error('enough'));
    };
    const stopped = sync(client, { sink: copy, signal: ending.signal, onProgress: stopping });
    await t.rejects(stopped, { message: 'enough' });
    t.ok(copy.contents().jobs.length > 0);
    await sync(client, { sink: copy });
    t.strictSame(copy.contents(), await readSource(url, key));
    t.strictSame(copy.doubles, []);

    const told: { done: number; total: number }[] = [];
    await sync(client, { sink: new MemoryCopy(), onProgress: ({ details }) => told.push({ ...details }) });
    const total = copy.contents().quotes.length + copy.contents().invoices.length;
    t.match(told.at(-1), { done: total, total });
    t.ok(told.every(({ done }, index) => done >= (told[index - 1]?.done ?? 0)));
  },
);
