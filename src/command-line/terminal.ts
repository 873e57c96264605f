import { once } from 'node:events';

import { AppError, escapeControls, UsageError, withoutSecrets } from '../errors.ts';

/** Ends a command with the exit code of a failure, after it has printed the reason. */
export class ToldFailure extends Error {
  override readonly name = 'ToldFailure';
}

/** The output of a command: results on standard output, progress and notes on standard error. */
export interface Terminal {
  environment: Readonly<Record<string, string | undefined>>;
  /** Writes text, or the bytes of a file, to standard output as it is; on a screen control characters are written out. */
  print: (content: string | Uint8Array) => void;
  /**
   * Waits until standard output has room for more, or the signal aborts. A command that prints without end calls it after
   * each piece.
   * @returns whether anybody still reads standard output.
   */
  takesMore: (signal: AbortSignal) => Promise<boolean>;
  /** Why standard output takes nothing more, such as a full disk; undefined while it does, and where nobody reads it. */
  outProblem: () => string | undefined;
  /** Writes text to standard error, without secrets. Control characters in it are written out. */
  tell: (text: string) => void;
  /** Shows a command's result: as prose, or as one JSON value with `--json`. */
  show: (result: unknown, prose: string) => void;
  /** Shows on standard error the summary of a command that prints its results line by line, in the same two ways. */
  conclude: (result: unknown, prose: string) => void;
  /** Shows an error: one sentence where the user can act, a stack where only a developer can. */
  fail: (error: unknown) => void;
  /** Shows an error that standard error has shown already: with `--json` only. */
  refuse: (message: string) => void;
  setJson: (isJson: boolean) => void;
}

export function createTerminal(
  environment = process.env as Terminal['environment'],
  print: Terminal['print'] = printOut,
  writeError: (text: string) => void = tellError,
  takesMore: Terminal['takesMore'] = outTakesMore,
): Terminal {
  let isJson = false;
  const printError = (message: string) => {
    if (isJson) print(`${JSON.stringify({ error: { message: withoutSecrets(message) } })}\n`);
  };
  const textOf = (result: unknown, prose: string) =>
    `${escapeControls(isJson ? JSON.stringify(result) : prose)}\n`;
  const tell = (text: string) => writeError(escapeControls(withoutSecrets(text)));
  return {
    environment,
    print,
    takesMore,
    outProblem: () => outProblem,
    tell,
    show: (result, prose) => print(textOf(result, prose)),
    conclude: (result, prose) => tell(textOf(result, prose)),
    fail: (error) => {
      const message = describeError(error);
      printError(message);
      tell(`fieldledger: ${message}\n`);
    },
    refuse: printError,
    setJson: (value) => {
      isJson = value;
    },
  };
}

/** Whether standard output still takes something. The stream forgets a failed write, so each fails anew. */
let isOutRead = true;
let outProblem: string | undefined;

function printOut(content: string | Uint8Array): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', noteOutProblem);
  // Records may hold control characters, which would command the reader's terminal.
  const isOnScreen = typeof content === 'string' && process.stdout.isTTY;
  process.stdout.write(isOnScreen ? escapeControls(content) : content);
}

function noteOutProblem({ code, message }: NodeJS.ErrnoException): void {
  isOutRead = false;
  // A closed pipe isn't a failure (`| head`).
  if (code !== 'EPIPE') outProblem ??= `standard output can't be written (${code ?? message})`;
}

function tellError(text: string): void {
  // There is nowhere left to tell it.
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => undefined);
  process.stderr.write(text);
}

async function outTakesMore(signal: AbortSignal): Promise<boolean> {
  const { stdout } = process;
  // Rejects when the pipe breaks or the signal comes.
  if (isOutRead && stdout.writableNeedDrain) await once(stdout, 'drain', { signal }).catch(() => undefined);
  return isOutRead;
}

/** The message of an error for the user of a command. */
export function describeError(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (!(error instanceof Error)) return String(error);
  // The user of a command is meant to read the cause, here the database's error.
  if (error instanceof AppError) return error.cause instanceof Error ? messageOf(error.cause) : error.message;
  // The message of a system error (a port in use, a file that can't be opened) says enough.
  return 'code' in error ? messageOf(error) : (error.stack ?? error.message);
}

function messageOf(error: Error & { code?: unknown }): string {
  return error.message || String(error.code);
}
