import t, { type Test } from 'tap';

import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { type EngineName, engineNames, openTestDatabase } from '../../_server.ts';

/** A migrated database without companies. */
export interface Store {
  name: EngineName;
  engine: Engine;
  url: string;
}

/** Runs a test on each engine, with a database of its own. */
export function onEachStore(title: string, body: (t: Test, store: Store) => Promise<void>): void {
  for (const name of engineNames)
    void t.test(`${name}: ${title}`, async (t) => {
      await using database = await openTestDatabase(name);
      const { engine, url } = database;
      await body(t, { name, engine, url });
    });
}

/** Opens a database as several processes do, each with handles of its own. */
export async function openSeveral(
  url: string,
  count: number,
): Promise<AsyncDisposable & { engines: Engine[] }> {
  const stack = new AsyncDisposableStack();
  const opening = Array.from({ length: count }, async () => stack.use(await openEngine(url)));
  const engines = await Promise.all(opening);
  return { engines, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** What came of as many attempts at once, made by the engines in turn. */
export async function attemptAtOnce<Made>(
  engines: readonly Engine[],
  count: number,
  attempt: (engine: Engine) => Promise<Made>,
): Promise<{ created: Made[]; refusals: Error[] }> {
  const attempts = Array.from({ length: count }, async (_value, index) => {
    const engine = engines[index % engines.length];
    if (!engine) throw new Error('There is no engine.');
    return attempt(engine);
  });
  const outcomes = await Promise.allSettled(attempts);
  return {
    created: outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])),
    refusals: outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : [])),
  };
}
