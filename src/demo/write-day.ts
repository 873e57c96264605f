/* Writes `generated/recorded-day.json`, the day that `webhook play` plays (`npm run generate:day`). */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openEngine } from '../server/store/engines/open-engine.ts';
import { migrate } from '../server/store/migrations/migrate.ts';
import { recordDay } from './day.ts';

/** So that the calendar has the same day in UTC and at the company all day long. */
const BEGAN_AT = new Date('2026-11-23T08:00:00.000Z');

const folder = mkdtempSync(join(tmpdir(), 'fieldledger-day-'));
const engine = await openEngine(`sqlite:${join(folder, 'day.db')}`);
await migrate(engine);
const events = await recordDay(engine, BEGAN_AT);
await engine[Symbol.asyncDispose]();
rmSync(folder, { recursive: true });
const readable = events.map(({ data, ...event }) => ({ ...event, data: JSON.parse(data) as object }));
const file = new URL('../../generated/recorded-day.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(readable, undefined, 2)}\n`);
