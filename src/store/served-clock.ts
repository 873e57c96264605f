import { setTimeout as sleep } from 'node:timers/promises';

import { sql } from 'kysely';

import { AppError } from '../errors.ts';
import type { Engine } from './engine.ts';

/** How often the time is kept. Readers go on from 60 seconds before the time they were told (openapi.yaml, "Staying in sync"). */
const INTERVAL_MS = 20_000;

/**
 * Keeps the time that the API tells its readers in `Date`, so that moves stamp no change with an earlier one: readers
 * ask for what changed since then, and a change made under a clock that was set back, or on a machine whose clock is
 * behind, would be lost to them. It may lag by the interval, which the 60 seconds of the readers cover.
 * @param onError is told when the time couldn't be kept; it is tried again at the next interval.
 */
export async function keepServedClock(
  engine: Engine,
  now: () => Date,
  onError: (error: unknown) => void,
): Promise<Disposable> {
  const keep = async () => {
    const nowMs = now().getTime();
    await engine.transaction((transaction) =>
      transaction
        .updateTable('served_clock')
        .set({ latest_ms: nowMs })
        .where('latest_ms', '<', nowMs)
        .executeTakeFirst(),
    );
  };
  // Once before the first answer, and then for as long as there are any.
  await keep();
  const timer = setInterval(() => void keep().catch(onError), INTERVAL_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Moves the served time on, by a millisecond where the clock is behind it: what stays as it is isn't written. */
async function writeTime(engine: Engine, at: Date): Promise<void> {
  const nowMs = at.getTime();
  await engine.transaction((transaction) =>
    transaction
      .updateTable('served_clock')
      .set({ latest_ms: sql`CASE WHEN latest_ms < ${nowMs} THEN ${nowMs} ELSE latest_ms + 1 END` })
      .executeTakeFirst(),
  );
}

/** The question whether something can be written is answered after this at the latest. */
const ANSWER_MS_MAX = 500;

/**
 * Asks whether anything can be written, by moving the served time on: one attempt at a time, however many ask.
 * @returns a function that rejects with the database's reason when nothing can be. To wait for another writer is no
 * reason: it will end, and reads go on meanwhile.
 */
export function createWriteProbe(engine: Engine, now: () => Date): () => Promise<void> {
  let attempt: Promise<void> | undefined;
  return async () => {
    attempt ??= writeTime(engine, now())
      .catch((error: unknown) => {
        if (!isWait(error)) throw error;
      })
      .finally(() => {
        attempt = undefined;
      });
    const waited = new AbortController();
    try {
      await Promise.race([attempt, sleep(ANSWER_MS_MAX, undefined, { signal: waited.signal, ref: false })]);
    } finally {
      waited.abort();
    }
  };
}

function isWait(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && /^SQLITE_(BUSY|LOCKED)/.test(String(cause.code));
}
