import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Commits after which a process gets a thread. Most commands make fewer. */
const COMMITS_BEFORE = 200;
/** The thread checkpoints this long after a commit, for all commits in between. */
const LOOK_MS = 50;
/** Pages of 4 kB after which a commit checkpoints by itself, if the thread hasn't. */
const PAGES_MAX = 16_000;
/** The same without a thread: SQLite's own choice. */
const PAGES_MAX_ALONE = 1_000;
const END_MS_MAX = 2_000;

export interface Checkpoints extends AsyncDisposable {
  /** To be told of each commit. */
  noteCommit: () => void;
}

/**
 * Checkpoints the write-ahead log in a thread. SQLite would do it within the commit that brings the log to a thousand
 * pages, and the server would wait for the disk meanwhile.
 *
 * Nothing depends on the thread: where it can't start, dies, or falls behind, commits do its work.
 * @param setPagesMax sets how large the log is when a commit does so.
 */
export function keepCheckpoints(path: string, setPagesMax: (pages: number) => void): Checkpoints {
  let commits = 0;
  let thread: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const lose = () => {
    if (!isOver) setPagesMax(PAGES_MAX_ALONE);
    isOver = true;
  };
  const start = () => {
    thread = new Worker(new URL(`./checkpoint-thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: path,
    });
    thread.unref();
    // The exit follows. Without a listener the error would end the process.
    thread.on('error', lose).on('exit', lose);
    thread.once('message', () => {
      if (!isOver) setPagesMax(PAGES_MAX);
    });
  };
  return {
    noteCommit() {
      commits += 1;
      if (commits < COMMITS_BEFORE || timer || isOver) return;
      if (!thread) start();
      timer = setTimeout(() => {
        timer = undefined;
        thread?.postMessage('look');
      }, LOOK_MS).unref();
    },
    async [Symbol.asyncDispose]() {
      const isRunning = thread && !isOver;
      isOver = true;
      clearTimeout(timer);
      if (!thread || !isRunning) return;
      thread.ref();
      thread.postMessage('end');
      const signal = AbortSignal.timeout(END_MS_MAX);
      await once(thread, 'exit', { signal }).catch(() => thread?.terminate());
    },
  };
}
