import { InvalidArgumentError } from 'commander';

import { listOf } from '../../command-line/given-values.ts';
import { type Scope, scopes } from '../../contract/scopes.ts';

export const COMPANY = ['<company>', 'id of the company'] as const;

/** Reads `--scopes`: names between commas, or the word for all of them. */
export function scopesIn(text: string): string[] {
  return text === 'all' ? [...scopes] : listOf(text);
}

export function scopesText(held: readonly Scope[]): string {
  return held.length === scopes.length ? 'all' : held.join(',');
}

/** Makes a reader of integers between two bounds, which are included. */
export function integerIn(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
    return value;
  };
}
