import { once } from 'node:events';

import { AppError, escapeDirections, UsageError } from '../errors.ts';

/** Ends a command that has told by itself what went wrong, with the exit code of a failure. */
export class ToldFailure extends Error {
  override readonly name = 'ToldFailure';
}

/** Where a command's output goes: results to standard output, progress and prose to standard error. */
export interface Terminal {
  environment: Readonly<Record<string, string | undefined>>;
  /** Writes text, or the bytes of a file, to standard output as it is. */
  print: (content: string | Uint8Array) => void;
  /**
   * Waits until what was printed leaves room for more, or the signal tells to stop; says whether standard output is
   * still read by anybody. A command that prints without end asks after each piece.
   */
  takesMore: (signal: AbortSignal) => Promise<boolean>;
  /** Writes text to standard error as it is. */
  tell: (text: string) => void;
  /** Shows a command's result: as prose, or as one JSON value with `--json`. */
  show: (result: unknown, prose: string) => void;
  /** Shows on standard error how a command ended whose results are lines of their own: in the same two ways. */
  conclude: (result: unknown, prose: string) => void;
  /** Shows an error: one sentence for what a person can mend, a stack for what only a developer can. */
  fail: (error: unknown) => void;
  /** Shows an error of which standard error has been told in full: with `--json` only. */
  refuse: (message: string) => void;
  setJson: (isJson: boolean) => void;
}

/** The process's own terminal. */
export function createTerminal(
  environment = process.env as Terminal['environment'],
  print: Terminal['print'] = printOut,
  tell: (text: string) => void = (text) => process.stderr.write(text),
  takesMore: Terminal['takesMore'] = outTakesMore,
): Terminal {
  let isJson = false;
  const printError = (message: string) => {
    if (isJson) print(`${JSON.stringify({ error: { message } })}\n`);
  };
  const textOf = (result: unknown, prose: string) =>
    `${isJson ? JSON.stringify(result) : escapeDirections(prose)}\n`;
  return {
    environment,
    print,
    takesMore,
    tell,
    show: (result, prose) => print(textOf(result, prose)),
    conclude: (result, prose) => tell(textOf(result, prose)),
    fail: (error) => {
      const message = describeError(error);
      printError(message);
      tell(`fieldledger: ${message}\n`);
    },
    refuse: (message) => printError(message.replace(/^error: /, '')),
    setJson: (value) => {
      isJson = value;
    },
  };
}

/** Whether somebody still reads standard output: its stream forgets a broken pipe, so that each write meets it anew. */
let isOutRead = true;

function printOut(content: string | Uint8Array): void {
  // Who stops reading (`| head`) has read enough: a closed pipe is no failure of the command.
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', ignoreClosedPipe);
  process.stdout.write(content);
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  isOutRead = false;
}

async function outTakesMore(signal: AbortSignal): Promise<boolean> {
  const { stdout } = process;
  // Rejects when the pipe breaks or the signal comes.
  if (isOutRead && stdout.writableNeedDrain) await once(stdout, 'drain', { signal }).catch(() => undefined);
  return isOutRead;
}

/** What a person who runs a command is told of an error. */
export function describeError(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (!(error instanceof Error)) return String(error);
  // The API keeps an error's cause to its log; who runs a command is meant to read it. It is the database's, whose
  // driver gives not every one a code.
  if (error instanceof AppError) return error.cause instanceof Error ? messageOf(error.cause) : error.message;
  // What the system refuses (a port in use, a file that can't be opened) says enough in its message.
  return 'code' in error ? messageOf(error) : (error.stack ?? error.message);
}

/** Some errors of the system have a code alone. */
function messageOf(error: Error & { code?: unknown }): string {
  return error.message || String(error.code);
}
