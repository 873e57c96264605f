import { InvalidArgumentError } from 'commander';

import { listOf } from '../../command-line/given-values.ts';
import { type Scope, scopes } from '../../contract/scopes.ts';
import { integerSetting } from '../process/setting-values.ts';

export const COMPANY = ['<company>', 'id of the company'] as const;

/** Reads `--scopes`: names between commas, or the word for all of them. */
export function scopesIn(text: string): string[] {
  return text === 'all' ? [...scopes] : listOf(text);
}

export function scopesText(held: readonly Scope[]): string {
  return held.length === scopes.length ? 'all' : held.join(',');
}

/** Makes a reader of arguments from one of settings, the messages of whose errors complete "It must be ...". */
export function argumentBy<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(`It must be ${(error as Error).message}.`);
    }
  };
}

/** Makes a reader of integers between two bounds, which are included. */
export function integerIn(min: number, max: number): (text: string) => number {
  return argumentBy(integerSetting(min, max));
}
