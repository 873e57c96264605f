import { destination, type DestinationStream, pino, stdTimeFunctions } from 'pino';

export type Logger = pino.Logger;

/** Lines are written in batches of this many bytes, or after this time. */
const WRITE_BYTES_MIN = 4_096;
const WRITE_MS_MAX = 200;
/** Lines that can't be written are kept up to this size; further ones are dropped. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Logs JSON lines to standard error, so that standard output is a command's own. Lines are wide, their names
 * `noun.past-verb`, and they never hold a key, a secret, a body or a header's value, except for the id of a trace. A
 * process that is killed loses the lines of its last 200 milliseconds; one that exits, even by an error, loses none.
 */
export function createLogger(level: string): Logger {
  return pino({ level, base: null, timestamp: stdTimeFunctions.isoTime }, (standardError ??= openOutput()));
}

/** The output of all loggers of the process, which writes every so often as long as the process lives. */
let standardError: DestinationStream | undefined;

function openOutput(): DestinationStream {
  const output = destination({
    dest: 2,
    sync: false,
    minLength: WRITE_BYTES_MIN,
    periodicFlush: WRITE_MS_MAX,
    maxLength: WAITING_BYTES_MAX,
  });
  // A full disk or a closed terminal doesn't end the process, and its exit doesn't wait for either: `flushSync` tries
  // again until it succeeds.
  let isWritable = true;
  output.on('error', () => (isWritable = false)).on('write', () => (isWritable = true));
  const flushSync = output.flushSync.bind(output);
  output.flushSync = () => {
    if (isWritable) flushSync();
  };
  return output;
}
