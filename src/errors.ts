import { distance } from 'fastest-levenshtein';

import type { ErrorCode } from './contract/operations.ts';

/**
 * The one error that callers may see. `message` is a sentence for them and safe to show; `cause` is for the log
 * alone. `code` is from the contract's closed list (openapi.yaml, "Errors and retries").
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** Seconds after which a retry makes sense, where that is known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/**
 * The error for callers while something can't be done at the moment. The reason is the cause, for log and operator; without
 * a time to retry after, the answer names its own.
 */
export function unavailable(options: { cause?: unknown; retryAfterSeconds?: number } = {}): AppError {
  return new AppError('unavailable', 'The service is temporarily unavailable. Retry shortly.', options);
}

/** A command or setting that a person gave and that can't be carried out; shown without a stack. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The field of the form that holds what is refused, where there is one. */
  readonly field: string | undefined;

  constructor(message: string, options: { field?: string } = {}) {
    super(message);
    this.field = options.field;
  }
}

/** The database is away at the moment; a command that can wait for it does. */
export class DatabaseAwayError extends UsageError {}

const SHOWN_CHARACTERS_MAX = 60;
/** Masking looks at what may be shown, and at what may belong to it. */
const MASKED_CHARACTERS_MAX = 500;

/**
 * A text for a message, without what somebody gave as a secret in the wrong place: the password of an address, a secret in its
 * query, and the last part of a key or token.
 */
export function withoutSecrets(text: string): string {
  return (
    text
      // A port isn't a password; one with bare signs in it ends at the last @.
      .replaceAll(/(\/\/[^\s/@:"']{0,200}:)(?!\d{1,5}(?:[/?#,"'\s]|$))[^\s"]{0,200}@/g, '$1***@')
      .replaceAll(/([?&][\w.-]{0,40}?(?:key|token|secret|password)[\w.-]{0,40}=)[^\s&#"']{1,1000}/gi, '$1***')
      .replaceAll(/\.[\w-]{43,}/g, '.***')
  );
}

/**
 * Quotes a value for an error message: shortened, without secrets, and with control characters escaped, so that it stays one
 * readable line.
 */
export function quote(value: string): string {
  const characters = [...withoutSecrets(value.slice(0, MASKED_CHARACTERS_MAX))];
  const shown =
    characters.length > SHOWN_CHARACTERS_MAX
      ? `${characters.slice(0, SHOWN_CHARACTERS_MAX).join('')}…`
      : characters.join('');
  return escapeControls(JSON.stringify(shown.toWellFormed()));
}

/**
 * The sentence that refuses a name nobody knows: with the nearest of the known ones, or with all of them.
 * @param kind what it isn't, such as `a parameter of this operation`.
 */
export function unknownName(name: string, kind: string, known: readonly string[]): string {
  // Longer names aren't typing errors, and would be slow to compare.
  const word = name.slice(0, 100).toLowerCase();
  const distanceTo = (other: string) => distance(word, other.toLowerCase());
  const [nearest] = known.toSorted((a, b) => distanceTo(a) - distanceTo(b));
  const advice =
    nearest !== undefined && distanceTo(nearest) <= Math.min(3, word.length / 2)
      ? `did you mean ${nearest}?`
      : `it takes ${known.join(', ') || 'none'}.`;
  return `${quote(name)} is not ${kind}; ${advice}`;
}

/** Characters that turn the direction of writing for what follows (UAX #9 section 2). */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

/** Characters that terminals obey: those, and control characters but the end of a line and the tabulator. */
const CONTROLS = /[\u202a-\u202e\u2066-\u2069]|(?![\n\t])\p{Cc}/gu;

/**
 * Writes out control characters and what turns the direction of writing, as `\u001b` and `\u202e`: a line then reads as it
 * is stored, and no terminal obeys it. JSON stays the same value.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A text without what turns the direction of writing for what follows; see {@link escapeControls}. */
export function withoutDirections(text: string): string {
  return text.replace(DIRECTIONS, '');
}
