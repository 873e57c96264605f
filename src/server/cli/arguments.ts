import { InvalidArgumentError } from 'commander';

import { listOf } from '../../command-line/given-values.ts';
import { type Scope, scopes } from '../../contract/scopes.ts';
import { integerSetting } from '../process/setting-values.ts';

export const COMPANY = ['<company>', 'id of the company'] as const;

/** Parses the value of `--scopes`: comma-separated names, or `all`. */
export function scopesIn(text: string): string[] {
  return text === 'all' ? [...scopes] : listOf(text);
}

export function scopesText(held: readonly Scope[]): string {
  return held.length === scopes.length ? 'all' : held.join(',');
}

/** Turns a parser of settings into one of arguments. The parser's error messages must complete "It must be ...". */
export function argumentBy<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(`It must be ${(error as Error).message}.`);
    }
  };
}

/** Returns a parser of arguments that are integers from `min` to `max`. */
export function integerIn(min: number, max: number): (text: string) => number {
  return argumentBy(integerSetting(min, max));
}
