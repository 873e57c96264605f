import t, { type Test } from 'tap';

import { createCompany } from '../../src/server/backoffice/companies.ts';
import { subscribableKinds } from '../../src/contract/events.ts';
import type { RenderedRecord } from '../../src/contract/render.ts';
import { resources } from '../../src/contract/records.ts';
import { renderRecord } from '../../src/contract/render.ts';
import { exampleChanges } from '../../src/demo/example-changes.ts';
import { exampleCompany } from '../../src/demo/example-company.ts';
import { loadExampleCompany } from '../../src/demo/load.ts';
import { openStory } from '../../src/demo/story.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';
import { openEngine } from '../../src/server/store/engines/open-engine.ts';
import { findTexts } from '../../src/server/store/records/record-writes.ts';
import { exampleRecords } from '../_records.ts';
import { engineNames, openTestDatabase, STORY_NOW } from '../_server.ts';
import { eventBodyOf, events } from '../contract/_contract.ts';

const { id: company, ...settings } = exampleCompany;
const examples = exampleRecords().map(renderRecord);

/** The texts of the examples' records as they are stored. */
async function storedTexts(engine: Engine): Promise<unknown[]> {
  return engine.transaction(async (transaction) => {
    const texts = [];
    for (const { resource, body } of examples) {
      const { id } = JSON.parse(body) as { id: string };
      const found = await findTexts(transaction, resource, company, id);
      texts.push(found && textsOf({ resource, ...found } as RenderedRecord));
    }
    return texts;
  });
}

function textsOf({ resource, body, detail }: RenderedRecord): object {
  return { resource, body, detail };
}

async function countRecords(engine: Engine): Promise<number> {
  const counts = resources.map((table) => `(SELECT COUNT(*) FROM ${table})`);
  const [row] = await engine.run(`SELECT ${counts.join(' + ')} AS records`);
  return Number(row?.records);
}

/** Adds the company with a webhook that hears of everything, and none of its records. */
async function beginCompany(engine: Engine): Promise<void> {
  await createCompany(engine, company, settings, STORY_NOW);
  const kinds = JSON.stringify(events.map(({ kind }) => kind));
  const webhook = { company, id: 'whk_1', url: 'https://hooks.customer.example', secret: 'whsec_test' };
  await engine.transaction((transaction) =>
    transaction
      .insertInto('webhooks')
      .values({ ...webhook, events: kinds, created_at: STORY_NOW.toISOString() })
      .execute(),
  );
}

/** The company has every record that the contract shows, to the byte, and no other. */
async function isAsShown(t: Test, engine: Engine): Promise<void> {
  t.strictSame(await storedTexts(engine), examples.map(textsOf));
  t.equal(await countRecords(engine), examples.length);
}

for (const name of engineNames) {
  t.test(
    `${name}: the example company is what the contract shows, though it is told twice at once`,
    async (t) => {
      await using database = await openTestDatabase(name);
      // One waits for the other, on a busy machine for longer than a request may.
      await using engine = await openEngine(database.url, { statementMsMax: 0 });
      const loaded = [1, 2].map(() => loadExampleCompany(engine));
      t.ok((await Promise.all(loaded)).includes(true));
      await isAsShown(t, engine);
    },
  );
}

t.test('the example company sends the events that the contract shows', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await beginCompany(engine);
  t.equal(await loadExampleCompany(engine), true);
  await isAsShown(t, engine);
  const sent = (await engine.db.selectFrom('events').selectAll().orderBy('id').execute()).map(
    ({ kind, created_at, data }) => ({
      event: kind,
      createdAt: created_at,
      data: JSON.parse(data) as object,
    }),
  );
  const shown = events.flatMap((event) =>
    Object.values(eventBodyOf(event).examples ?? {}).map(({ value }) => {
      const { event: kind, createdAt, data } = value as (typeof sent)[number];
      return { event: kind, createdAt, data };
    }),
  );
  const ofMoves = shown.filter(({ event }) => event !== 'ping');
  t.strictSame([...new Set(ofMoves.map(({ event }) => event))], subscribableKinds);
  for (const example of ofMoves) {
    const { event, createdAt } = example;
    const same = sent.filter((other) => other.event === event && other.createdAt === createdAt);
    t.strictSame(same, [example], `${event} ${createdAt}`);
  }
});

t.test('an example company that was broken off is told again', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await beginCompany(engine);
  await openStory(engine)(exampleChanges().slice(0, 50));
  t.equal(await loadExampleCompany(engine), true);
  await isAsShown(t, engine);
});

t.test('the example company has its own times where later ones were served', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await engine.run(`UPDATE served_clock SET latest_ms = ${Date.parse('2030-01-01T00:00:00.000Z')}`);
  await loadExampleCompany(engine);
  await isAsShown(t, engine);
});

t.test('the story of the example company is in the order of time, and each change has an id', async (t) => {
  const changes = exampleChanges();
  const times = changes.map(({ at }) => at);
  t.strictSame(times, [...new Set(times)].sort());
  t.equal(new Set(changes.map(({ id }) => id)).size, changes.length);
  t.ok(times.every((at) => at <= STORY_NOW.toISOString()));
});
