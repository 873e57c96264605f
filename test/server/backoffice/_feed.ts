import { readFileSync } from 'node:fs';

import type { ValidateFunction } from 'ajv/dist/2020.js';

import type { Answer, RefusalCode } from '../../../src/contract/feed.ts';
import { closed, root, type Schema, strictAjv } from '../../contract/_contract.ts';

/** The text of a feed: a string stands as it is, anything else as its JSON. */
export function feedOf(lines: readonly unknown[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}

const { schemas } = (
  JSON.parse(readFileSync(new URL('generated/feed.dereferenced.json', root), 'utf8')) as {
    components: { schemas: Record<'Applied' | 'Skipped' | 'Refused', Schema> };
  }
).components;

/** Each kind of answer has a schema of its own, so that what is wrong with one is told by its own rules. */
const schemaOf = { applied: schemas.Applied, skipped: schemas.Skipped, refused: schemas.Refused };
const validators = new Map<string, ValidateFunction>();

/** Reads an answer. @throws Error when it isn't as feed.yaml says. */
export function answerIn(text: string): Answer {
  // Checked at once.
  const answer = JSON.parse(text) as Answer;
  const { status } = answer;
  const validate = validators.get(status) ?? strictAjv().compile(closed(schemaOf[status]));
  validators.set(status, validate);
  if (!validate(answer)) throw new Error(`${text}: ${JSON.stringify(validate.errors)}`);
  return answer;
}

/** The answers that a command has printed. */
export function answersIn(stdout: string): Answer[] {
  if (stdout !== '' && !stdout.endsWith('\n')) throw new Error(`Cut short: ${stdout.slice(-100)}`);
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => answerIn(line));
}

export function inShort(answer: Answer): string {
  const { line, id, status } = answer;
  const place = id === undefined ? `${line}` : `${line} ${id}`;
  if (!('error' in answer)) return `${place} ${status}`;
  const { code, path } = answer.error as { code: RefusalCode; path: string };
  return `${place} ${code}${path && ` at ${path}`}`;
}
