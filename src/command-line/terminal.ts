import { once } from 'node:events';

import { AppError, escapeControls, UsageError, withoutSecrets } from '../errors.ts';

/** An error that ends a command with a failure, after the command itself has printed the reason. */
export class ReportedFailure extends Error {
  override readonly name = 'ToldFailure';
}

/** The output of a command: results on standard output, progress and notes on standard error. */
export interface Terminal {
  environment: Readonly<Record<string, string | undefined>>;
  /** Writes text or bytes to standard output unchanged; on a terminal, control characters in text are escaped. */
  print: (content: string | Uint8Array) => void;
  /**
   * Waits until standard output has room for more, or the signal aborts. A command with unlimited output calls it after each
   * piece.
   * @returns whether standard output still has a reader.
   */
  takesMore: (signal: AbortSignal) => Promise<boolean>;
  /** Returns why standard output failed, such as a full disk; undefined if it works, or if its reader is gone. */
  outProblem: () => string | undefined;
  /** Writes text to standard error, with secrets masked and control characters escaped. */
  tell: (text: string) => void;
  /** Shows a command's result: `prose`, or with `--json` the result as one JSON value. */
  show: (result: unknown, prose: string) => void;
  /** Shows the summary of a command that prints its results line by line: like `show`, but on standard error. */
  conclude: (result: unknown, prose: string) => void;
  /** Shows an error: a sentence if the user can act on it, a stack trace if only a developer can. */
  fail: (error: unknown) => void;
  /** Shows an error as JSON on standard output with `--json`, and otherwise nothing: standard error has shown it already. */
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

/** Whether standard output still has a reader; kept here because the stream itself forgets a failed write. */
let isOutRead = true;
let outProblem: string | undefined;

function printOut(content: string | Uint8Array): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', noteOutProblem);
  // Records may contain control characters, which the user's terminal would obey.
  const isOnScreen = typeof content === 'string' && process.stdout.isTTY;
  process.stdout.write(isOnScreen ? escapeControls(content) : content);
}

function noteOutProblem({ code, message }: NodeJS.ErrnoException): void {
  isOutRead = false;
  // A closed pipe isn't a failure (`| head`).
  if (code !== 'EPIPE') outProblem ??= `standard output can't be written (${code ?? message})`;
}

function tellError(text: string): void {
  // There is nowhere left to report the error.
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => undefined);
  process.stderr.write(text);
}

async function outTakesMore(signal: AbortSignal): Promise<boolean> {
  const { stdout } = process;
  // Rejects when the pipe breaks or the signal aborts.
  if (isOutRead && stdout.writableNeedDrain) await once(stdout, 'drain', { signal }).catch(() => undefined);
  return isOutRead;
}

/** Returns an error's message, worded for the user of a command. */
export function describeError(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (!(error instanceof Error)) return String(error);
  // The cause, such as the database's error, is meant for the user of a command.
  if (error instanceof AppError) return error.cause instanceof Error ? messageOf(error.cause) : error.message;
  // The message of a system error (a port in use, a file that can't be opened) says enough.
  return 'code' in error ? messageOf(error) : (error.stack ?? error.message);
}

function messageOf(error: Error & { code?: unknown }): string {
  return error.message || String(error.code);
}
