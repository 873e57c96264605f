import { randomBytes } from 'node:crypto';

import type { Engine } from '../engines/engine.ts';

/** Maximum milliseconds for which responses may carry the previous generation, after a restore under a running server. */
const KNOWN_MS = 20_000;

/**
 * Returns a function that gives the store's generation: a random text, created here if the store has none. Backups and
 * copies leave it out, so a restored store gets a new one. A new one tells clients that they may hold records that the store has lost
 * (openapi.yaml, "Staying in sync"). The returned function re-reads it in the background, so that no response waits for it.
 * @param now milliseconds of a monotonic clock.
 */
export async function openGeneration(
  engine: Engine,
  now: () => number = () => performance.now(),
): Promise<() => string> {
  let generation = await readGeneration(engine);
  let readAt = now();
  return () => {
    if (now() - readAt > KNOWN_MS) {
      readAt = now();
      // Requests that need the database report it if it doesn't answer.
      void readGeneration(engine).then(
        (read) => {
          generation = read;
        },
        () => undefined,
      );
    }
    return generation;
  };
}

async function readGeneration(engine: Engine): Promise<string> {
  const find = engine.db.selectFrom('store_generation').select('generation');
  const row =
    (await find.executeTakeFirst()) ??
    (await engine.transaction(async (transaction) => {
      const made = { only_row: 1, generation: randomBytes(12).toString('base64url') };
      // If several servers start at once, the first one's value is kept.
      await transaction
        .insertInto('store_generation')
        .values(made)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return transaction.selectFrom('store_generation').select('generation').executeTakeFirstOrThrow();
    }));
  return row.generation;
}
