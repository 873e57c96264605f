import { destination, type Logger, pino } from 'pino';

export type { Logger };

/**
 * Lines are written together: one by one they cost a busy server a tenth of its time. A process that is killed loses
 * what it logged within the last tenth of a second.
 */
const TOGETHER_BYTES = 4_096;
const TOGETHER_MS = 100;
/** Of lines that nobody takes no more than this is kept. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Logs JSON lines to standard error, so that standard output is a command's own. Lines are wide, their names
 * `noun.past-verb`, and they never hold a key, a secret, a body or a header's value.
 */
export function createLogger(level: string): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination({
      dest: 2,
      sync: false,
      minLength: TOGETHER_BYTES,
      periodicFlush: TOGETHER_MS,
      maxLength: WAITING_BYTES_MAX,
    }),
  );
}
