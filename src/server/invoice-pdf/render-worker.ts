/*
 * The process that prints documents, started by RenderPool. It reads and writes the database itself, so that the
 * server's event loop does neither.
 */
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

import { openEngine } from '../store/engines/open-engine.ts';
import { createPrint, type Print, type Printed } from './printing.ts';
import { openRenderer } from './template-trial.ts';

/** The document to print. The URL may hold a password, and command lines are public. */
export interface PrintTask {
  databaseUrl: string;
  /** The operator's accent colour, which is fixed for the life of a process. */
  accent: string | undefined;
  /** The folder of the operator's template, which is fixed too; undefined for Fieldledger's own. */
  template: string | undefined;
  asked: Parameters<Print>;
}

/** The reason that a document can't be printed. It omits the error's message, which could quote the document. */
export interface Failure {
  name: string;
  frames: string[];
}

export type WorkerAnswer = { printed: Printed } | { failure: Failure };

/** The lowest priority: a competing process of normal priority gets all but a sixtieth of the core. */
const NICENESS = 19;
const IDLE_MS_BEFORE_END = 200;
/** The memory of a process that ends after its document. Typst's memory isn't V8's, so no option of Node bounds it. */
const RSS_BYTES_MAX = 400_000_000;

let opened: Promise<Print> | undefined;
let isFirst = true;
/** The time at which the process became idle, in milliseconds; undefined while it prints. */
let idleSince: number | undefined = performance.now();

/*
 * The pool ends a process with SIGTERM. A service manager or a terminal may also signal all processes of the server,
 * which then still has documents to be printed: so a signal ends the process only once none has come for a while.
 */
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, endWhenIdle);
process.once('disconnect', () => process.exit());

let ending: NodeJS.Timeout | undefined;

function endWhenIdle(): void {
  if (idleSince !== undefined) idleSince = performance.now();
  ending ??= setInterval(() => {
    if (idleSince !== undefined && performance.now() - idleSince > IDLE_MS_BEFORE_END) process.exit();
  }, IDLE_MS_BEFORE_END / 2);
}

/** Prints one document. The pool calls this for one document at a time. */
export async function print(task: PrintTask): Promise<WorkerAnswer> {
  idleSince = undefined;
  const answer = await printed(task).then(
    (printed): WorkerAnswer => ({ printed }),
    (error: unknown): WorkerAnswer => ({ failure: failureOf(error) }),
  );
  // Lowers the priority only now, so that loading the modules for the first document is fast.
  if (isFirst) lowerPriority();
  isFirst = false;
  idleSince = performance.now();
  if (process.memoryUsage.rss() > RSS_BYTES_MAX) endWhenIdle();
  return answer;
}

/** Tries a template outside the server's process. @returns what is wrong with it, as a sentence. */
export function tryTemplate(template: string): string | undefined {
  try {
    openRenderer(template);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function printed({ databaseUrl, accent, template, asked }: PrintTask): Promise<Printed> {
  opened ??= openEngine(databaseUrl, { poolMax: 1 }).then((engine) =>
    createPrint(engine, openRenderer(template), accent),
  );
  const print = await opened.catch((error: unknown) => {
    // The next document tries again.
    opened = undefined;
    throw error;
  });
  return print(...asked);
}

/** Lowers the priority of all threads on Linux, where each has its own, and otherwise of the process. */
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
