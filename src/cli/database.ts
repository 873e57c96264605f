import { type Config, readConfig } from '../config.ts';
import { type Engine, openEngine } from '../store/engine.ts';
import { migrate } from '../store/migrate.ts';
import type { Terminal } from './terminal.ts';

/** Opens the configured database, brings its schema up to date, lets `work` use it, and closes it whatever happens. */
export async function withDatabase<T>(
  terminal: Terminal,
  work: (engine: Engine, config: Config) => Promise<T>,
): Promise<T> {
  const config = readConfig(terminal.environment);
  const engine = await openEngine(config.databaseUrl, { poolMax: config.databasePoolMax });
  try {
    await migrate(engine);
    return await work(engine, config);
  } finally {
    await engine[Symbol.asyncDispose]();
  }
}
