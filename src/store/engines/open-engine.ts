import type { Engine } from './engine.ts';
import { openPostgres, type PostgresOptions } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

/**
 * Opens the database that `DATABASE_URL` names: `sqlite:PATH`, or `postgres://...`.
 * Nothing is created or changed but, on SQLite, the file and its folder; see `migrate`.
 */
export async function openEngine(databaseUrl: string, options: PostgresOptions = {}): Promise<Engine> {
  if (databaseUrl.startsWith('sqlite:')) return openSqlite(databaseUrl.slice('sqlite:'.length));
  return openPostgres(databaseUrl, options);
}
