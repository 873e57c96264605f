import { destination, type Logger, pino } from 'pino';

export type { Logger };

/**
 * Logs JSON lines to standard error, so that standard output is a command's own. Lines are wide, their names
 * `noun.past-verb`, and they never hold a key, a secret, a body or a header's value.
 */
export function createLogger(level: string): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination({ dest: 2, sync: false }),
  );
}
