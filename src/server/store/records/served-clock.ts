import { setTimeout as sleep } from 'node:timers/promises';

import { sql } from 'kysely';

import { AppError } from '../../../errors.ts';
import type { Engine } from '../engines/engine.ts';

/** Milliseconds between writes. Clients resume from a minute before the last `Date` (openapi.yaml, "Staying in sync"). */
const INTERVAL_MS = 20_000;

/**
 * Regularly stores the time that the API gives its clients in `Date`, so that no later change gets an earlier time stamp.
 * Clients ask for changes since that time, and would miss changes made after a clock was set back, or on a machine whose
 * clock is slow. The stored time may lag by the interval, which the clients' 60 seconds cover.
 * @param onError is called when the time couldn't be stored. The next interval tries again.
 */
export async function keepServedClock(
  engine: Engine,
  now: () => Date,
  onError: (error: unknown) => void,
): Promise<Disposable> {
  const keep = () => writeTime(engine, now());
  // Written before the first response, and then for as long as the server runs.
  await keep();
  const timer = setInterval(() => void keep().catch(onError), INTERVAL_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Advances the stored time, if only by a millisecond when the clock is behind it, so that a write always happens. */
async function writeTime(engine: Engine, at: Date): Promise<void> {
  const nowMs = at.getTime();
  await engine.transaction((transaction) =>
    transaction
      .updateTable('served_clock')
      .set({ latest_ms: sql`CASE WHEN latest_ms < ${nowMs} THEN ${nowMs} ELSE latest_ms + 1 END` })
      .executeTakeFirst(),
  );
}

/** Maximum milliseconds that the write probe waits for a write; a longer one isn't an error. */
const ANSWER_MS_MAX = 500;

/**
 * Returns a probe that checks whether the database is writable, by advancing the stored time. Simultaneous callers share one
 * attempt.
 * @returns a function that rejects with the database's error when it can't write. Waiting for another writer isn't an error:
 * it will end, and reads continue meanwhile.
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
