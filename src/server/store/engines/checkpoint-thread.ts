/*
 * The thread of checkpoints.ts. Its data is the path of the database. It says when it is ready, and checkpoints or ends on
 * request.
 */
import { parentPort, workerData } from 'node:worker_threads';

import Database from 'better-sqlite3';

/** Checkpoint from this many pages on. */
const PAGES_MIN = 1_000;
/** Restart the log from this many pages on, which needs a moment without writers. */
const PAGES_BEFORE_RESTART = 8_000;
/** How long the thread waits for such a moment, while writers wait too. */
const BUSY_MS_MAX = 50;

/** @see https://sqlite.org/pragma.html#pragma_wal_checkpoint */
interface Checkpoint {
  log: number;
  checkpointed: number;
}

const database = new Database(workerData as string, { timeout: BUSY_MS_MAX });
const checkpoint = (mode: 'NOOP' | 'PASSIVE' | 'RESTART') =>
  // It returns one row.
  (database.pragma(`wal_checkpoint(${mode})`) as [Checkpoint])[0];

function look(): void {
  const { log, checkpointed } = checkpoint('NOOP');
  if (log - checkpointed < PAGES_MIN) return;
  // PASSIVE lets others write meanwhile, so the log never gets empty; RESTART makes them wait now and then.
  checkpoint('PASSIVE');
  if (log >= PAGES_BEFORE_RESTART) checkpoint('RESTART');
}

parentPort?.on('message', (message: 'look' | 'end') => {
  if (message === 'end') {
    database.close();
    parentPort?.close();
    return;
  }
  try {
    look();
  } catch (error) {
    // Locked, or the disk is full. The next round tries again, and commits bound the log without this thread.
    if (!(error instanceof Database.SqliteError)) throw error;
  }
});
parentPort?.postMessage('ready');
