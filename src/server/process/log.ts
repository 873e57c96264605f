import { destination, type DestinationStream, pino, stdTimeFunctions } from 'pino';

export type Logger = pino.Logger;

/** The size of buffered lines at which they are written, in bytes, and the time after which they are in any case. */
const WRITE_BYTES_MIN = 4_096;
const WRITE_MS_MAX = 200;
/** The maximum size in bytes of lines that are kept while they can't be written; further lines are dropped. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Returns a logger that writes JSON lines to standard error, and so leaves standard output to commands. Lines are wide, with
 * names like `noun.past-verb`. They never contain keys, secrets, bodies or header values, except trace ids. A process that is
 * killed loses the lines of its last 200 milliseconds; one that exits, even by an error, loses none.
 */
export function createLogger(level: string): Logger {
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, (standardError ??= openOutput()));
}

/** The standard error that all the process's loggers share, written periodically for as long as the process lives. */
let standardError: DestinationStream | undefined;

function openOutput(): DestinationStream {
  const output = destination({
    dest: 2,
    sync: false,
    minLength: WRITE_BYTES_MIN,
    periodicFlush: WRITE_MS_MAX,
    maxLength: WAITING_BYTES_MAX,
  });
  // A full disk or a closed terminal must neither end the process nor delay its exit: `flushSync` would retry until it
  // succeeds.
  let isWritable = true;
  output.on('error', () => (isWritable = false)).on('write', () => (isWritable = true));
  const flushSync = output.flushSync.bind(output);
  output.flushSync = () => {
    if (isWritable) flushSync();
  };
  return output;
}
