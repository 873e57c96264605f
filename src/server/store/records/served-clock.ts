import { setTimeout as sleep } from 'node:timers/promises';

import { sql } from 'kysely';

import { AppError } from '../../../errors.ts';
import type { Engine } from '../engines/engine.ts';

/** How often the time is stored. Clients go on from 60 seconds before the time they were told (openapi.yaml, "Staying in sync"). */
const INTERVAL_MS = 20_000;

/**
 * Stores the time that the API tells its clients in `Date`, so that moves stamp no change with an earlier time. Clients
 * ask for changes since that time, and would miss a change that was made under a clock that was set back, or on a machine
 * whose clock is behind. The stored time may lag by the interval, which the 60 seconds of the clients cover.
 * @param onError is called when the time couldn't be stored. The next interval tries again.
 */
export async function keepServedClock(
  engine: Engine,
  now: () => Date,
  onError: (error: unknown) => void,
): Promise<Disposable> {
  const keep = () => writeTime(engine, now());
  // Once before the first answer, and then as long as the server runs.
  await keep();
  const timer = setInterval(() => void keep().catch(onError), INTERVAL_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Moves the stored time on; by a millisecond when the clock is behind it, because an unchanged row isn't written. */
async function writeTime(engine: Engine, at: Date): Promise<void> {
  const nowMs = at.getTime();
  await engine.transaction((transaction) =>
    transaction
      .updateTable('served_clock')
      .set({ latest_ms: sql`CASE WHEN latest_ms < ${nowMs} THEN ${nowMs} ELSE latest_ms + 1 END` })
      .executeTakeFirst(),
  );
}

/** The probe answers after this time at the latest. */
const ANSWER_MS_MAX = 500;

/**
 * Builds a probe of whether the database can be written, by moving the stored time on. Callers at the same moment share
 * one attempt.
 * @returns a function that rejects with the database's reason when it can't be. Waiting for another writer isn't such a
 *   reason: it will end, and reads go on meanwhile.
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
