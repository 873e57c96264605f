import { AppError } from '../../../errors.ts';
import type { Engine } from './engine.ts';
import { openPostgres, type PostgresOptions } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

/**
 * Opens the database that `databaseUrl` names: `sqlite:PATH`, or `postgres://...`. It creates or changes nothing except, on
 * SQLite, the file and its folder; see `migrate`.
 */
export async function openEngine(databaseUrl: string, options: PostgresOptions = {}): Promise<Engine> {
  if (databaseUrl.startsWith('sqlite:')) return openSqlite(databaseUrl.slice('sqlite:'.length));
  return openPostgres(databaseUrl, options);
}

/** Matches codes of temporary errors: SQLite's locks, network errors, lost or too many connections, shutdown and standby. */
const AWAY =
  /^(?:SQLITE_(?:BUSY|LOCKED)|08|53300|57P0[1235]|25006|ECONN|EHOST|ENET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;

/**
 * Whether an error means that the database is temporarily unreachable or locked. Refused passwords, wrong settings and full
 * disks don't count.
 */
export function isAway(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  if (!(cause instanceof Error)) return false;
  const { code, syscall } = cause as NodeJS.ErrnoException;
  // PgBouncer reports all its errors as protocol violations.
  if (code === '08P01') return !/password|authentic|no such|not allowed/i.test(cause.message);
  if (code !== undefined) return AWAY.test(code) || syscall === 'connect';
  return /^(?:Connection terminated|Client .+ not queryable|timeout exceeded when trying to connect|Query read timeout)/.test(
    cause.message,
  );
}
