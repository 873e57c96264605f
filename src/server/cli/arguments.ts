import { InvalidArgumentError } from 'commander';

import { type Scope, scopes } from '../../contract/scopes.ts';

/** The first argument of most commands. */
export const COMPANY = ['<company>', 'id of the company'] as const;

/** Reads a list, without blanks around its items and without empty items. */
export function listOf(text: string, separator = ','): string[] {
  return text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Scopes in a list for people. */
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
