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
  setJson: (isJson: boolean) => void;
}

/** The process's own terminal. */
export function createTerminal(
  environment = process.env as Terminal['environment'],
  print: (text: string) => void = (text) => process.stdout.write(text),
  tell: (text: string) => void = (text) => process.stderr.write(text),
): Terminal {
  let isJson = false;
  return {
    environment,
    print,
    tell,
    show: (result, prose) => print(isJson ? `${JSON.stringify(result)}\n` : `${prose}\n`),
    fail: (error) => {
      const message = describe(error);
      if (isJson) print(`${JSON.stringify({ error: { message } })}\n`);
      tell(`fieldledger: ${message}\n`);
    },
    setJson: (value) => {
      isJson = value;
    },
  };
}

function describe(error: unknown): string {
  if (error instanceof UsageError || error instanceof AppError) return error.message;
  if (!(error instanceof Error)) return String(error);
  // What the system refuses (a port in use, a file that can't be opened) says enough in its message.
  return 'code' in error ? error.message || String(error.code) : (error.stack ?? error.message);
}
