import type { RefusalCode } from '../../contract/feed.ts';
import { quote } from '../../errors.ts';

/**
 * The error for a move that can't be made; nothing has changed. `code` is from the closed list of feed.yaml, `message` names
 * the value and the rule, and `path` is a JSON Pointer to the value within the change, such as `/with/lines/0/quantity`;
 * empty for the change as a whole.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  readonly path: string;

  constructor(code: RefusalCode, message: string, path = '') {
    super(message);
    this.code = code;
    this.path = path;
  }
}

/** Refuses a list in which two items, such as a record's lines, have the same id. @throws Refusal `duplicate_id`. */
export function refuseTwins(name: string, things: readonly { id?: string }[], path: string): void {
  const ids = new Set<string>();
  for (const [index, { id }] of things.entries()) {
    if (id === undefined) continue;
    if (ids.has(id))
      throw new Refusal('duplicate_id', `Two ${name} have the id ${quote(id)}.`, `${path}/${index}/id`);
    ids.add(id);
  }
}

/**
 * Returns the result of work on stored data. An error there isn't in the change, so a refusal points at the member of the
 * change that named the record.
 */
export async function withRefusalPath<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.code, error.message, path);
  }
}

/** Returns the result of arithmetic, and turns its RangeError for an amount that isn't a safe integer into a refusal. */
export function withinRange<T>(path: string, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Refusal(
      'amount_out_of_range',
      `${path} is beyond what can be computed exactly: ${error.message}`,
      path,
    );
  }
}
