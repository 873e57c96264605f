import { AppError } from '../../errors.ts';
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

/** SQLite's locks; SQLSTATE of a lost connection, too many of them, a stop or a start, and a standby; errors of the network. */
const AWAY =
  /^(?:SQLITE_(?:BUSY|LOCKED)|08|53300|57P0[1235]|25006|ECONN|EHOST|ENET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;

/**
 * Whether an error says that the database is away, or that somebody has it to themselves, and that it may come back: not that
 * it refuses a password, that a setting is wrong, or that a disk is full.
 */
export function isAway(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : error;
  if (!(cause instanceof Error)) return false;
  const { code, syscall } = cause as NodeJS.ErrnoException;
  // PgBouncer calls everything a violation of the protocol.
  if (code === '08P01') return !/password|authentic|no such|not allowed/i.test(cause.message);
  if (code !== undefined) return AWAY.test(code) || syscall === 'connect';
  return /^(?:Connection terminated|Client .+ not queryable|timeout exceeded when trying to connect|Query read timeout)/.test(
    cause.message,
  );
}
