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
