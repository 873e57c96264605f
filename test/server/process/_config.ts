import { UsageError } from '../../../src/errors.ts';
import { readConfig } from '../../../src/server/process/config.ts';

/** The message with which an environment is refused; an accepted one fails the test. */
export function refusalOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error(`It is accepted: ${JSON.stringify(environment)}`);
}

/** The problems for which an environment is refused. */
export function problemsOf(environment: Record<string, string>): string[] {
  return refusalOf(environment).split('\n').slice(1);
}
