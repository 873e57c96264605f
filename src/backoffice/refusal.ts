import type { RefusalCode } from '../contract/feed.ts';

/**
 * A move that can't be made, and why; nothing has changed. `code` is from the closed list of feed.yaml, `message` is a
 * sentence that names the value and the rule, and `path` is a JSON Pointer to the value within the change, such as
 * `/with/lines/0/quantity`; empty for the change as a whole.
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
