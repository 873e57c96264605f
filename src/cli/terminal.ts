import { AppError, UsageError } from '../errors.ts';

/** Where a command's output goes: results to standard output, progress and prose to standard error. */
export interface Terminal {
  environment: Readonly<Record<string, string | undefined>>;
  /** Writes text to standard output as it is. */
  print: (text: string) => void;
  /** Writes text to standard error as it is. */
  tell: (text: string) => void;
  /** Shows a command's result: as prose, or as one JSON value with `--json`. */
  show: (result: unknown, prose: string) => void;
  /** Shows an error: one sentence for what a person can mend, a stack for what only a developer can. */
  fail: (error: unknown) => void;
  /** Shows an error of which standard error has been told in full: with `--json` only. */
  refuse: (message: string) => void;
  setJson: (isJson: boolean) => void;
}

/** The process's own terminal. */
export function createTerminal(
  environment = process.env as Terminal['environment'],
  print: (text: string) => void = printOut,
  tell: (text: string) => void = (text) => process.stderr.write(text),
): Terminal {
  let isJson = false;
  const printError = (message: string) => {
    if (isJson) print(`${JSON.stringify({ error: { message } })}\n`);
  };
  return {
    environment,
    print,
    tell,
    show: (result, prose) => print(isJson ? `${JSON.stringify(result)}\n` : `${prose}\n`),
    fail: (error) => {
      const message = describe(error);
      printError(message);
      tell(`fieldledger: ${message}\n`);
    },
    refuse: (message) => printError(message.replace(/^error: /, '')),
    setJson: (value) => {
      isJson = value;
    },
  };
}

function printOut(text: string): void {
  // Who stops reading (`| head`) has read enough: a closed pipe is no failure of the command.
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', ignoreClosedPipe);
  process.stdout.write(text);
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

function describe(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (!(error instanceof Error)) return String(error);
  // The API keeps an error's cause to its log; who runs a command is meant to read it.
  if (error instanceof AppError) return error.cause ? describe(error.cause) : error.message;
  // What the system refuses (a port in use, a file that can't be opened) says enough in its message.
  return 'code' in error ? error.message || String(error.code) : (error.stack ?? error.message);
}
