import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import t from 'tap';

import { createCompany } from '../../src/server/backoffice/companies.ts';
import { applyChange } from '../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../src/server/backoffice/backoffice.ts';
import { ApiError, createClient, NoAnswerError } from '../../src/client/index.ts';
import { openJsonLinesCopy } from '../../src/client/sync/json-lines.ts';
import type { Resource, Sink } from '../../src/client/sync/sink.ts';
import { openSqliteCopy } from '../../src/client/sync/sqlite.ts';
import { sync } from '../../src/client/sync/sync.ts';
import type { Change } from '../../src/contract/feed.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';
import { createDice } from '../server/backoffice/_sync.ts';
import { keyFor, openTestDatabase, startTestServer, STORY_NOW } from '../_server.ts';
import { addWebhook } from '../server/backoffice/_backoffice.ts';
import { MemoryCopy, readJsonLinesCopy, readSource, readSqliteCopy } from './_copies.ts';
import { layRoughLine } from './_rough-line.ts';

/** Changes of the day, and how often the copying is broken off during it; `make sync` asks for more. */
const CHANGES = Number(process.env.SYNC_CHANGES ?? 300);
const KILLS = Number(process.env.SYNC_KILLS ?? 3);
/** Between two changes at most: they come while the copies are made. */
const CHANGE_MS = CHANGES > 1_000 ? 4 : 20;
/** Between two looks at the webhooks. */
const ROUND_PAUSE_MS = 200;
const SOURCE = { source: 'day at a test' };

async function openDay(engine: Engine): Promise<string> {
  const place = { addressLines: ['14 Row'], countryCode: 'IE' };
  const profile = { legalName: 'Brennan Ltd', ...place, vatId: 'IE3290618T' };
  await createCompany(engine, 'day', { profile }, STORY_NOW);
  await addWebhook(engine, 'day', 'whk_all');
  await applyDay(engine, 'person.save', { ...LEAVING, id: 'per', displayName: 'P' });
  const customer = { id: 'cus', name: 'C', ...place, currency: 'EUR', paymentTermsDays: 14 };
  await applyDay(engine, 'customer.save', customer);
  return keyFor(engine, 'day');
}

const DRAFT = '01a00000-0000-7000-8000-000000000001';
const LEAVING = { id: 'leaving', email: 'l@l.example', roleId: 'r', roleName: 'R' };

async function applyDay(engine: Engine, change: string, what: object): Promise<void> {
  await applyChange(openBackoffice(engine), { company: 'day', change, with: what } as Change);
}

/** The list that a webhook tells a copy to look at. Nothing of its body is believed. */
const hinted = (event: string): Resource => {
  if (event.startsWith('job')) return 'jobs';
  if (event.startsWith('form')) return 'submissions';
  return event.startsWith('quote') ? 'quotes' : 'invoices';
};

/** Brings each event twice, and not in their order. */
function createWebhooks(engine: Engine, roll: (sides: number) => number) {
  const waiting: string[] = [];
  let last = '';
  return async (): Promise<Set<Resource>> => {
    const events = await engine.db
      .selectFrom('events')
      .select(['id', 'kind'])
      .where('id', '>', last)
      .orderBy('id')
      .execute();
    last = events.at(-1)?.id ?? last;
    for (const { kind } of [...events, ...events]) waiting.splice(roll(waiting.length + 1), 0, kind);
    return new Set(waiting.splice(0, 1 + roll(20)).map(hinted));
  };
}

t.test(
  'a day of changes, webhooks, restarts, refusals, broken lines and kills leaves true copies',
  async (t) => {
    const folder = t.testdir();
    const database = await openTestDatabase('sqlite');
    const { engine } = database;
    const key = await openDay(engine);
    const roll = createDice(29);
    let server = await startTestServer({ engine });
    const line = await layRoughLine(t, server.url, { faultPercent: 2, roll });
    t.teardown(async () => {
      await server[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    });
    const restart = async () => {
      await server[Symbol.asyncDispose]();
      server = await startTestServer({ engine });
      line.leadTo(server.url);
    };

    // The client's time passes a hundred times as quickly.
    const client = createClient({
      baseUrl: line.url,
      key,
      now: () => performance.now() * 100,
      wait: (ms, signal) => pause(ms / 100, undefined, { signal }),
      maxRetries: 20,
      retryTimeMs: 1_000_000,
    });
    const memory = new MemoryCopy();
    const file = join(folder, 'day.sqlite');
    // A sink lives no longer than its program: each sync opens its own.
    const sinks: (() => Sink & { close?: () => void })[] = [
      () => memory,
      () => openSqliteCopy(file, SOURCE),
      () => openJsonLinesCopy(join(folder, 'lines'), SOURCE),
    ];
    let kills = 0;
    const copy = async (resources: Resource[] | undefined, canBeKilled: boolean) => {
      for (const open of sinks) {
        const killing = new AbortController();
        const isKilled = canBeKilled && kills < KILLS && roll(3) === 0;
        const timer = isKilled ? setTimeout(() => killing.abort('killed'), roll(60)) : undefined;
        const sink = open();
        try {
          await sync(client, { sink, signal: killing.signal, ...(resources && { resources }) });
        } catch (error) {
          if (killing.signal.aborted) kills += 1;
          // A line that breaks again and again; the next sync goes on.
          else if (!(error instanceof ApiError) && !(error instanceof NoAnswerError)) throw error;
          else if (!canBeKilled) throw error;
        } finally {
          clearTimeout(timer);
          sink.close?.();
        }
      }
    };

    const script = join(import.meta.dirname, '_day-writer.ts');
    const args = [script, database.url, 'day', CHANGES, 7, CHANGE_MS].map(String);
    const writing = spawn(process.execPath, args, { stdio: 'inherit' });
    const writer = { hasEnded: false };
    const written = once(writing, 'close').finally(() => (writer.hasEnded = true));
    const webhooks = createWebhooks(engine, roll);
    let rounds = 0;
    while (!writer.hasEnded || kills < KILLS) {
      const resources = await webhooks();
      // The day has a reconciliation now and then, because people and forms have no webhooks.
      await copy(rounds % 4 === 0 ? undefined : [...resources], true);
      rounds += 1;
      await pause(ROUND_PAUSE_MS);
      if (rounds % 10 === 5) await restart();
    }
    t.strictSame(await written, [0, null]);
    await copy(undefined, false);
    // On a busy machine the day may have had no draft that was discarded after it was copied, and nobody who left.
    await applyDay(engine, 'invoice.draft', { id: DRAFT, kind: 'invoice', customerId: 'cus', lines: [] });
    await applyDay(engine, 'person.save', { ...LEAVING, displayName: 'L' });
    await copy(undefined, false);
    await applyDay(engine, 'invoice.discard', { id: DRAFT });
    await applyDay(engine, 'person.deactivate', { id: LEAVING.id });
    await copy(undefined, false);

    const source = await readSource(server.url, key);
    t.strictSame(memory.contents(), source);
    t.strictSame(readSqliteCopy(file), source);
    t.strictSame(readJsonLinesCopy(join(folder, 'lines')), source);
    t.strictSame(memory.doubles, [], 'no state of a record came twice');
  },
);
