/**
 * Keeps a copy of a company's records in a SQLite file, for `sync`. It requires Node.
 * @module
 */
import '../supported-node.js';
import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import type { DatabaseSync as Connection, StatementSync } from 'node:sqlite';

import { type CopyColumn, columnValue, readColumns } from './columns.ts';
import { readCopyMetadata, openCopyFile, openDatabase } from './copy-file.ts';
import { concurrentChangeError, withReadableErrors, isBusy } from './in-sentences.ts';
import { type Batch, CopyError, type Resource, type Sink, type SyncState } from './sink.ts';
import { viewStatements } from './views.ts';

/** A copy in a SQLite file. */
export interface SqliteCopy extends Sink {
  load: () => SyncState | undefined;
  commit: (batch: Batch) => void;
  /** Closes the SQLite file. */
  close: () => void;
}

/** SQL for the table that holds a copy's state, and by which a copy is recognised. */
const CREATE_STATE = `CREATE TABLE fieldledger_copy (
  source TEXT NOT NULL,
  -- Grows with each batch, so that two at once don't undo each other.
  revision INTEGER NOT NULL,
  state TEXT NOT NULL
)`;

interface Opened {
  db: Connection;
  revision: number;
  state: SyncState | undefined;
  statements: Map<Resource, { put: StatementSync; remove: StatementSync }>;
  columns: Record<Resource, CopyColumn[]>;
}

/**
 * Opens the copy in a SQLite file; the first batch creates a missing file. Each resource has a table of its name, with a
 * column for each member of its records: text, numbers, 0 or 1 for booleans, and JSON for objects and lists.
 * @param options `source` names the company and its service. A file with a copy of another source is refused.
 * @throws CopyError if the file is something else, or can't be used.
 */
export function openSqliteCopy(path: string, { source }: { source: string }): SqliteCopy {
  if (path === '') throw new CopyError("A copy's name must not be empty. Name a file.");
  let opened = withReadableErrors(path, () => open(path, source));
  return {
    load: () => opened?.state,
    commit: (batch) =>
      withReadableErrors(path, () => {
        const copy = opened;
        if (copy) copy.revision = inTransaction(copy.db, () => keep(copy, batch, path));
        opened = copy ?? create(path, source, batch);
        opened.state = batch.state;
      }),
    close: () => {
      if (opened?.db.isOpen) opened.db.close();
    },
  };
}

/** Runs work in a write transaction, which blocks other writers from the start, and returns its result. */
function inTransaction<T>(db: Connection, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    rollBack(db);
    throw error;
  }
}

function rollBack(db: Connection): void {
  try {
    db.exec('ROLLBACK');
  } catch {
    // SQLite has already rolled back by itself, as it does on a full disk.
  }
}

function open(path: string, source: string): Opened | undefined {
  const db = openCopyFile(path);
  if (!db) return undefined;
  try {
    const kept = readCopyMetadata(db);
    if (kept.source !== source)
      throw new CopyError(`${path} is a copy of ${kept.source}, not of ${source}. Name another file.`);
    const opened = openedFrom(db, kept.revision);
    opened.state = withoutOutdated(db, opened.columns, kept.state);
    const missing = viewStatements(db);
    if (missing.length > 0) inTransaction(db, () => db.exec(missing.join(';\n')));
    return opened;
  } catch (error) {
    db.close();
    throw error;
  }
}

function openedFrom(db: Connection, revision: number): Opened {
  return { db, revision, state: undefined, statements: new Map(), columns: readColumns() };
}

/** Adds columns that are new in the contract, and returns the state without their resources, so that they are read again. */
function withoutOutdated(db: Connection, columns: Opened['columns'], state: SyncState): SyncState {
  const namesIn = db.prepare('SELECT name FROM pragma_table_info(?)');
  const outdated = (Object.entries(columns) as [Resource, CopyColumn[]][]).flatMap(([resource, wanted]) => {
    const there = new Set(namesIn.all(resource).map(({ name }) => name));
    const missing = wanted.filter(({ name }) => !there.has(name));
    return missing.length > 0 ? [{ resource, missing }] : [];
  });
  if (outdated.length === 0) return state;
  inTransaction(db, () => {
    for (const { resource, missing } of outdated) {
      for (const { name, type } of missing) db.exec(`ALTER TABLE "${resource}" ADD COLUMN "${name}" ${type}`);
      Reflect.deleteProperty(state, resource);
    }
    db.prepare('UPDATE fieldledger_copy SET state = ?').run(JSON.stringify(state));
  });
  return state;
}

/** Creates a copy's file with its first batch. Only the owner may read the file, because it can contain personal data. */
function create(path: string, source: string, batch: Batch): Opened {
  closeSync(openSync(path, 'a', 0o600));
  const db = openDatabase(path, 'rwc');
  const opened = openedFrom(db, 0);
  try {
    opened.revision = inTransaction(db, () => {
      if (db.prepare('SELECT 1 FROM sqlite_schema').get()) throw concurrentChangeError(path);
      db.exec(CREATE_STATE);
      db.prepare('INSERT INTO fieldledger_copy VALUES (?, 0, ?)').run(source, '{}');
      for (const [resource, columns] of Object.entries(opened.columns))
        db.exec(createTable(resource, columns));
      db.exec(viewStatements(db).join(';\n'));
      return keep(opened, batch, path);
    });
    return opened;
  } catch (error) {
    db.close();
    // The file is also empty while another program writes its first batch.
    if (!isBusy(error) && statSync(path, { throwIfNoEntry: false })?.size === 0) rmSync(path);
    throw error;
  }
}

function createTable(resource: string, columns: readonly CopyColumn[]): string {
  const defined = columns.map(
    ({ name, type }) => `"${name}" ${type}${name === 'id' ? ' PRIMARY KEY NOT NULL' : ''}`,
  );
  return `CREATE TABLE "${resource}" (\n  ${defined.join(',\n  ')}\n)`;
}

/** Writes a batch into a copy within the caller's transaction. @returns the new revision. */
function keep(opened: Opened, { resource, clear, put, remove, state }: Batch, path: string): number {
  const columns = opened.columns[resource];
  const statements = statementsOf(opened, resource);
  if (clear) opened.db.exec(`DELETE FROM "${resource}"`);
  for (const record of put) statements.put.run(...columns.map((column) => columnValue(column, record)));
  for (const id of remove) statements.remove.run(id);
  const { changes } = opened.db
    .prepare('UPDATE fieldledger_copy SET state = ?, revision = revision + 1 WHERE revision = ?')
    .run(JSON.stringify(state), opened.revision);
  if (changes === 0) throw concurrentChangeError(path);
  return opened.revision + 1;
}

function statementsOf(opened: Opened, resource: Resource) {
  const { db, statements } = opened;
  const known = statements.get(resource);
  if (known) return known;
  const columns = opened.columns[resource];
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  const values = columns.map(() => '?').join(', ');
  const made = {
    put: db.prepare(`INSERT OR REPLACE INTO "${resource}" (${names}) VALUES (${values})`),
    remove: db.prepare(`DELETE FROM "${resource}" WHERE id = ?`),
  };
  statements.set(resource, made);
  return made;
}
