/*
 * The process that prints documents: started by RenderPool, told what to print by messages, ended with whoever started
 * it. It reads and writes the database itself, so that the server's event loop has to do with neither.
 */
import { openEngine } from '../store/engine.ts';
import { giveWay, lowerPriority } from './giving-way.ts';
import { createPrint, type Print, type Printed } from './printing.ts';
import { createRenderer } from './render.ts';

/**
 * What the process is told: once where the documents are, and then which one to print, and whether to give way to all
 * other processes from then on.
 */
export type WorkerMessage = { databaseUrl: string } | { company: string; id: string; givesWay: boolean };

/** What it answers to each document. A failure is told without its message, which may quote the document. */
export type WorkerAnswer = { printed: Printed } | { failure: { name: string; frames: string[] } };

type Task = Extract<WorkerMessage, { id: string }>;

let databaseUrl = '';
let opened: Promise<Print> | undefined;
let isFirst = true;
let givingWay: Promise<void> | undefined;

// A signal to the whole group of processes is for the server, which lets what is under way finish.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.once('disconnect', () => process.exit());
process.on('message', (message: WorkerMessage) => {
  if ('databaseUrl' in message) ({ databaseUrl } = message);
  else void answer(message);
});

async function answer({ company, id, givesWay }: Task): Promise<void> {
  if (givesWay) await (givingWay ??= giveWay());
  const answered = await printed(company, id);
  // Whoever waits for the first document waits for all to be loaded and compiled, too: some tenths of a second.
  if (isFirst) lowerPriority();
  isFirst = false;
  send(answered);
}

async function printed(company: string, id: string): Promise<WorkerAnswer> {
  try {
    opened ??= openEngine(databaseUrl, { poolMax: 1 }).then((engine) =>
      createPrint(engine, createRenderer()),
    );
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
