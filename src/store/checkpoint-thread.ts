/*
 * The thread of checkpoints.ts. Its data is the path of the database. It says when it is ready, looks at the log
 * whenever it is told to, and ends when it is told to.
 */
import { parentPort, workerData } from 'node:worker_threads';

import Database from 'better-sqlite3';

/** Pages of the log that are worth a walk to the disk. */
const PAGES_MIN = 1_000;
/** Pages after which the log begins anew, which needs a moment in which nobody writes. */
const PAGES_BEFORE_RESTART = 8_000;
/** The longest wait for such a moment, in which writers wait too. */
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
  // Beside the writers. While they go on writing, the log never gets empty, so now and then they have to wait.
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
    // A lock of another process, or a full disk: the thread tries again, and commits bound the log without it.
    if (!(error instanceof Database.SqliteError)) throw error;
  }
});
parentPort?.postMessage('ready');
