/*
 * The process that prints documents: started by RenderPool, told what to print by messages, ended with whoever started
 * it. It reads and writes the database itself, so that the server's event loop has to do with neither.
 */
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

import { openEngine } from '../store/engine.ts';
import { createPrint, type Print, type Printed } from './printing.ts';
import { createRenderer } from './render.ts';

/** What the process is told: once where the documents are, and then which one to print. */
export type WorkerMessage = { databaseUrl: string } | { company: string; id: string };

/** What it answers to each document. A failure is told without its message, which may quote the document. */
export type WorkerAnswer = { printed: Printed } | { failure: { name: string; frames: string[] } };

/**
 * The lowest: a process of usual priority gets all but a sixtieth of a core that both want, and a document takes seconds
 * where others keep all cores busy. `SCHED_IDLE` is lower still: there one took half a minute, and was given up.
 */
const NICENESS = 19;

let databaseUrl = '';
let opened: Promise<Print> | undefined;

// A signal to the whole group of processes is for the server, which lets what is under way finish.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
process.once('disconnect', () => process.exit());
process.on('message', (message: WorkerMessage) => {
  if ('databaseUrl' in message) ({ databaseUrl } = message);
  else void answer(message);
});

async function answer({ company, id }: { company: string; id: string }): Promise<void> {
  send(await printed(company, id));
}

async function printed(company: string, id: string): Promise<WorkerAnswer> {
  try {
    opened ??= openPrint();
    const print = await opened.catch((error: unknown) => {
      // The next document finds the database again, perhaps.
      opened = undefined;
      throw error;
    });
    return { printed: await print(company, id) };
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** Whoever waits for the first document waits for this too, so the priority is lowered when it is done. */
async function openPrint(): Promise<Print> {
  const print = createPrint(await openEngine(databaseUrl, { poolMax: 1 }), createRenderer());
  lowerPriority();
  return print;
}

function failureOf(error: unknown): { name: string; frames: string[] } {
  const { name, stack = '', cause } = error instanceof Error ? error : new Error('not an error');
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  const code = (cause ?? error) as { code?: unknown } | undefined;
  return { name: typeof code?.code === 'string' ? `${name} ${code.code}` : name, frames };
}

function send(given: WorkerAnswer): void {
  // Who started the process may just have ended.
  process.send?.(given, () => undefined);
}

/**
 * On Linux a priority is a thread's own, and V8 may have threads of its own. Where it can't be lowered, documents are
 * printed all the same.
 */
function lowerPriority(): void {
  try {
    const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
    for (const thread of threads) setPriority(thread, NICENESS);
  } catch {
    // A thread may end before it is its turn.
  }
}
