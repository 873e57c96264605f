/*
 * The process that prints documents, started by RenderPool. It reads and writes the database itself, so that the
 * server's event loop does neither.
 */
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

import { openEngine } from '../store/engines/open-engine.ts';
import { createPrint, type Print, type Printed } from './printing.ts';
import { createRenderer } from './render.ts';

/** The document to print. The URL may hold a password, and command lines are public. */
export interface PrintTask {
  databaseUrl: string;
  company: string;
  id: string;
  /** Alike for every document of a process. */
  accent: string | undefined;
  /** The day of a statement of account, which is printed instead. */
  statementOn: string | undefined;
}

/** Why a document can't be printed. It has no message, which may quote the document. */
export interface Failure {
  name: string;
  frames: string[];
}

export type WorkerAnswer = { printed: Printed } | { failure: Failure };

/** The lowest priority: a competing process of normal priority gets all but a sixtieth of the core. */
const NICENESS = 19;
const IDLE_MS_BEFORE_END = 200;

let opened: Promise<Print> | undefined;
let isFirst = true;
/** Since when no document is being printed; undefined while one is. */
let idleSince: number | undefined = performance.now();

/*
 * The pool ends a process with SIGTERM. A service manager or a terminal may also signal all processes of the server,
 * which then still has documents to be printed: so a signal ends the process only once none has come for a while.
 */
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, endWhenIdle);
process.once('disconnect', () => process.exit());

function endWhenIdle(): void {
  if (idleSince !== undefined) idleSince = performance.now();
  setInterval(() => {
    if (idleSince !== undefined && performance.now() - idleSince > IDLE_MS_BEFORE_END) process.exit();
  }, IDLE_MS_BEFORE_END / 2);
}

/** Prints one document; called by the pool, which waits for one before it asks for the next. */
export async function print(task: PrintTask): Promise<WorkerAnswer> {
  idleSince = undefined;
  const answer = await printed(task).then(
    (printed): WorkerAnswer => ({ printed }),
    (error: unknown): WorkerAnswer => ({ failure: failureOf(error) }),
  );
  // Lowered only now, so that loading the modules for the first document is quick.
  if (isFirst) lowerPriority();
  isFirst = false;
  idleSince = performance.now();
  return answer;
}

async function printed({ databaseUrl, company, id, accent, statementOn }: PrintTask): Promise<Printed> {
  opened ??= openEngine(databaseUrl, { poolMax: 1 }).then((engine) =>
    createPrint(engine, createRenderer(), accent),
  );
  const print = await opened.catch((error: unknown) => {
    // The next document tries again.
    opened = undefined;
    throw error;
  });
  return print(company, id, statementOn);
}

/** On Linux each thread has a priority, and V8 has several threads. Elsewhere the process has one. */
function lowerPriority(): void {
  try {
    const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
    for (const thread of threads) setPriority(thread, NICENESS);
  } catch {
    // A thread has just ended, or the system doesn't allow it: the process goes on as it is.
  }
}

function failureOf(error: unknown): Failure {
  const { name, stack = '', cause } = error instanceof Error ? error : new Error('not an error');
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  const code = (cause ?? error) as { code?: unknown } | undefined;
  return { name: typeof code?.code === 'string' ? `${name} ${code.code}` : name, frames };
}
