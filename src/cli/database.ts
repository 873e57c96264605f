import { type Config, readConfig, withoutPasswords } from '../config.ts';
import { AppError, UsageError } from '../errors.ts';
import { type Engine, openEngine } from '../store/engine.ts';
import { migrate } from '../store/migrate.ts';
import type { Terminal } from './terminal.ts';

/**
 * Opens the configured database, brings its schema up to date, lets `work` use it, and closes it whatever happens.
 * `work` is also told the names of the migrations that were applied now.
 */
export async function withDatabase<T>(
  terminal: Terminal,
  work: (engine: Engine, config: Config, applied: readonly string[]) => Promise<T>,
): Promise<T> {
  const config = readConfig(terminal.environment);
  const { engine, applied } = await openDatabase(config);
  try {
    return await work(engine, config, applied);
  } finally {
    await engine[Symbol.asyncDispose]();
  }
}

async function openDatabase({ databaseUrl, databasePoolMax }: Config) {
  let engine: Engine | undefined;
  try {
    engine = await openEngine(databaseUrl, { poolMax: databasePoolMax });
    return { engine, applied: await migrate(engine) };
  } catch (error) {
    await engine?.[Symbol.asyncDispose]();
    // What the system or the database refuses has a code, and a message that seldom says which database it was.
    if (!(error instanceof Error && 'code' in error)) throw error;
    const { message } = error instanceof AppError && error.cause instanceof Error ? error.cause : error;
    const reason = message || String(error.code);
    throw new UsageError(`The database ${withoutPasswords(databaseUrl)} can't be used: ${reason}`);
  }
}
