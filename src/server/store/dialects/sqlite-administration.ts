import { setTimeout as pause } from 'node:timers/promises';

import Database from 'better-sqlite3';

import { UsageError } from '../../../errors.ts';
import type { Administration, SchemaObject } from './administration.ts';

const FILE_PROBLEMS_MAX = 100;
/** Maximum milliseconds to wait for other writers before the file is rewritten. */
const BUSY_MS_MAX = 60_000;
const BUSY_PAUSE_MS = 20;

export const SQLITE_OBJECTS = 'SELECT type, name, sql AS definition FROM sqlite_schema';

export const sqliteAdministration: Administration = {
  engine: 'sqlite',
  // SQLite's writers take turns anyway.
  lockSchema: async () => undefined,
  presentTables: `
    SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations') AS has_migrations,
      (SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migrations' ORDER BY name LIMIT 1) AS other`,
  schemaObjects: SQLITE_OBJECTS,
  objectsMadeBy(statements) {
    const database = new Database(':memory:');
    try {
      for (const statement of statements) database.exec(statement);
      return database.prepare<[], SchemaObject>(SQLITE_OBJECTS).all();
    } finally {
      database.close();
    }
  },
  /** Returns the file's faults, as SQLite finds them. @see https://sqlite.org/pragma.html#pragma_quick_check */
  async fileProblems(run) {
    const rows = await run(`PRAGMA quick_check(${FILE_PROBLEMS_MAX})`);
    return rows.map((row) => String(Object.values(row)[0])).filter((text) => text !== 'ok');
  },
  async prepareErasure(run) {
    // Otherwise SQLite leaves the content of deleted rows in the file until it is overwritten.
    await run('PRAGMA secure_delete = ON');
  },
  endCompany: async () => undefined,
  leavesTraces: true,
  /**
   * Rewrites the file, because SQLite leaves parts of rows wherever it has moved them, even in other tables' pages. Nobody
   * else can write meanwhile; a gigabyte takes about ten seconds.
   */
  async removeTraces(run) {
    try {
      await run(`PRAGMA busy_timeout = ${BUSY_MS_MAX}`);
      await run('VACUUM');
      await emptyLog(run);
    } catch (error) {
      throw new UsageError(
        `The company's rows are gone, but not yet from the unused parts of the file and its log, which can't be written anew: ${(error as Error).message}. The same command tries that again.`,
      );
    }
  },
};

/** Empties the write-ahead log, which still holds earlier writes. Other processes' checkpoints have to end first. */
async function emptyLog(run: Parameters<Administration['removeTraces']>[0]): Promise<void> {
  const deadline = performance.now() + BUSY_MS_MAX;
  for (;;) {
    const [result] = await run('PRAGMA wal_checkpoint(TRUNCATE)');
    if (result?.busy === 0) return;
    if (performance.now() > deadline) throw new Error('somebody reads the log beside it');
    await pause(BUSY_PAUSE_MS);
  }
}
