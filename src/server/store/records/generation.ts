import { randomBytes } from 'node:crypto';

import type { Engine } from '../engines/engine.ts';

/** How long an answer may name the generation before, when a database is put back under a server that runs. */
const KNOWN_MS = 20_000;

/**
 * Knows the generation of a store: a random text, which a store without one gets here. Backups and copies leave it out, so
 * that a store that was put back has another one. Readers see by it that they may hold records that the store has lost
 * (openapi.yaml, "Staying in sync"). It is read now, and in the background again when it is asked for, so that no answer
 * waits for it.
 * @param now milliseconds of a clock that never goes back.
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
      // A database that doesn't answer is told of by the requests that need it.
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
      // Of several servers that start at once, the first one's counts.
      await transaction
        .insertInto('store_generation')
        .values(made)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return transaction.selectFrom('store_generation').select('generation').executeTakeFirstOrThrow();
    }));
  return row.generation;
}
