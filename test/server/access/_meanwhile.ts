import type { Engine } from '../../../src/server/store/engines/engine.ts';

/** The same engine, which has something happen when a transaction is asked for: after all that was looked up before. */
export function meanwhile(engine: Engine, happens: () => Promise<unknown>): Engine {
  let count = 0;
  return {
    ...engine,
    transaction: async (work) => {
      count += 1;
      if (count === 1) await happens();
      return engine.transaction(work);
    },
  };
}
