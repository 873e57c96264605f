import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';

import { type Config, readConfig } from '../process/config.ts';
import { AppError, DatabaseAwayError, quote, UsageError } from '../../errors.ts';
import { withoutPasswords } from '../process/setting-values.ts';
import type { Engine } from '../store/engines/engine.ts';
import { isAway, openEngine } from '../store/engines/open-engine.ts';
import { machinesAway } from '../store/machines.ts';
import {
  migrate,
  type MigrationResult,
  type MigrationPlan,
  planMigration,
} from '../store/migrations/migrate.ts';
import { showSteps } from '../../command-line/progress.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/**
 * Opens the configured database, migrates it, runs `work` on it, and always closes it. `work` also receives a summary of the
 * migration.
 * @param options.mayCreate whether to create a missing SQLite file. Otherwise its path counts as mistyped.
 * @param options.waits waits after an error of opening the database, and returns whether to try again.
 */
export async function withDatabase<T>(
  terminal: Terminal,
  work: (engine: Engine, config: Config, migrated: MigrationResult) => Promise<T>,
  { mayCreate = false, waits = async () => false }: Opening = {},
): Promise<T> {
  const config = readConfig(terminal.environment);
  if (!mayCreate) refuseMissing(config.databaseUrl);
  const { engine, migrated } = await openDatabase(config, waits);
  try {
    const result = await work(engine, config, migrated);
    const away = machinesAway(engine);
    if (away !== undefined) terminal.tell(`${away}.\n`);
    return result;
  } catch (error) {
    // Other errors name the database themselves.
    throw error instanceof AppError ? withDatabaseName(error, config.databaseUrl) : error;
  } finally {
    await engine[Symbol.asyncDispose]();
  }
}

interface Opening {
  mayCreate?: boolean;
  waits?: (error: unknown) => Promise<boolean>;
}

/** Returns what migrating the configured database would do, without changing anything. */
export async function planForDatabase(terminal: Terminal): Promise<MigrationPlan> {
  const { databaseUrl } = readConfig(terminal.environment);
  refuseMissing(databaseUrl);
  try {
    return await withMigrations(databaseUrl, planMigration);
  } catch (error) {
    throw withDatabaseName(error, databaseUrl);
  }
}

function refuseMissing(databaseUrl: string): void {
  if (!databaseUrl.startsWith('sqlite:') || existsSync(databaseUrl.slice('sqlite:'.length))) return;
  throw new UsageError(
    `There is no database ${databaseUrl}: DATABASE_URL may be mistyped. "fieldledger migrate" makes a new one.`,
  );
}

/** PostgreSQL's error code (SQLSTATE) for insufficient_privilege. */
const FORBIDDEN = '42501';

async function openDatabase(config: Config, waits: Required<Opening>['waits']) {
  const { databaseUrl, databasePoolMax: poolMax, databaseDirectUrl: directUrl } = config;
  for (;;)
    try {
      const migrated = await withMigrations(databaseUrl, migrate);
      return { engine: await openEngine(databaseUrl, { poolMax, directUrl }), migrated };
    } catch (error) {
      if (!(await waits(error))) throw withDatabaseName(error, databaseUrl);
    }
}

/** Turns an error of the system or the database into one that names the database; returns any other error as it is. */
export function withDatabaseName(error: unknown, databaseUrl: string): unknown {
  const cause = error instanceof AppError ? error.cause : error;
  if (!(cause instanceof Error && ('code' in cause || isAway(error)))) return error;
  const { code } = cause as NodeJS.ErrnoException;
  const reason = folderProblem(databaseUrl) ?? (cause.message || String(code));
  const database = `The database ${withoutPasswords(databaseUrl)}`;
  if (isAway(error)) return new DatabaseAwayError(`${database} can't be used: ${reason}`);
  return new UsageError(
    code === FORBIDDEN
      ? `${database} is not up to date, or this role may not use it (${reason}). Run "fieldledger migrate" as the role that owns it.`
      : `${database} can't be used: ${reason}`,
  );
}

/** Explains why SQLite can't write to the folder of its file, which it needs even to read; undefined if it can. */
function folderProblem(databaseUrl: string): string | undefined {
  if (!databaseUrl.startsWith('sqlite:')) return undefined;
  const folder = dirname(databaseUrl.slice('sqlite:'.length));
  try {
    accessSync(folder, constants.W_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? undefined : `its folder ${quote(folder)} can't be written (${code})`;
  }
}

/** Runs a migration without a time limit: altering large tables, or waiting for another process to do so, can take long. */
async function withMigrations<T>(
  databaseUrl: string,
  work: (engine: Engine, onProgress: (step: string, done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  await using engine = await openEngine(databaseUrl, { poolMax: 1, statementMsMax: 0 });
  using bars = showSteps('records');
  return await work(engine, bars.update);
}
