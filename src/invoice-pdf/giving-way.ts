import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { promisify } from 'node:util';

/** The lowest: a process of usual priority gets all but a sixtieth of a core that both want. */
const NICENESS = 19;
const COMMAND_MS_MAX = 5_000;

const run = promisify(execFile);

/**
 * Gives this process the lowest priority. On Linux a priority is a thread's own, and V8 may have threads of its own.
 * Where it can't be lowered, the process goes on as it was.
 */
export function lowerPriority(): void {
  try {
    const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
    for (const thread of threads) setPriority(thread, NICENESS);
  } catch {
    // A thread may end before it is its turn.
  }
}

/**
 * Lets this process run only where no other wants to: Linux's `SCHED_IDLE` (sched(7)). Even a process of the lowest
 * priority keeps its core from one that wakes up until its slice of time has ended, which takes up to some
 * milliseconds; this one gives it up at once. There is no way back, and where all cores are always busy, no turn.
 * Where `chrt`, of util-linux, isn't there or isn't allowed to, the process keeps its priority.
 */
export async function giveWay(): Promise<void> {
  if (process.platform !== 'linux') return;
  const ofAllThreads = ['--all-tasks', '--idle', '--pid', '0', String(process.pid)];
  await run('chrt', ofAllThreads, { timeout: COMMAND_MS_MAX }).catch(() => undefined);
}
