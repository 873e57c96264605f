import { distance } from 'fastest-levenshtein';

import type { ErrorCode } from './contract/operations.ts';

/**
 * The only kind of error shown to API callers. `message` is a sentence for them and safe to show; `cause` is for the log
 * alone. `code` is from the contract's closed list (openapi.yaml, "Errors and retries").
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  /** The seconds after which a retry makes sense, if known. */
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
 * Creates the error for a temporary failure. The reason goes into `cause`, for the log and the operator. The response has a
 * default retry time if none is given.
 */
export function unavailable(options: { cause?: unknown; retryAfterSeconds?: number } = {}): AppError {
  return new AppError('unavailable', 'The service is temporarily unavailable. Retry shortly.', options);
}

/** An error in a command or setting from a user; shown without a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The form field with the refused value, if there is one. */
  readonly field: string | undefined;

  constructor(message: string, options: { field?: string } = {}) {
    super(message);
    this.field = options.field;
  }
}

/** Thrown while the database is unavailable; commands that can wait for the database do so. */
export class DatabaseAwayError extends UsageError {}

const SHOWN_CHARACTERS_MAX = 60;
/** The number of characters searched for secrets: more than are shown, because a secret may extend beyond those. */
const MASKED_CHARACTERS_MAX = 500;

/**
 * Masks secrets that somebody may have given in the wrong place: the password in a URL, a secret in its query, and the last
 * part of a key or token.
 */
export function withoutSecrets(text: string): string {
  return (
    text
      // A port isn't a password. A password with unescaped signs in it ends at the last @.
      .replaceAll(/(\/\/[^\s/@:"']{0,200}:)(?!\d{1,5}(?:[/?#,"'\s]|$))[^\s"]{0,200}@/g, '$1***@')
      .replaceAll(/([?&][\w.-]{0,40}?(?:key|token|secret|password)[\w.-]{0,40}=)[^\s&#"']{1,1000}/gi, '$1***')
      .replaceAll(/\.[\w-]{43,}/g, '.***')
  );
}

/**
 * Quotes a value for an error message: shortened, with secrets masked and control characters escaped, so that it stays one
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
 * Returns the error message for an unknown name, which suggests the nearest known name or lists all of them.
 * @param kind the kind of name expected, such as `a parameter of this operation`.
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

/** Characters that change the writing direction of the text after them (UAX #9 section 2). */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

/** Characters that terminals obey: those of `DIRECTIONS`, and control characters other than line feed and tab. */
const CONTROLS = /[\u202a-\u202e\u2066-\u2069]|(?![\n\t])\p{Cc}/gu;

/**
 * Escapes control and direction characters, as `\u001b` and `\u202e`, so that a line reads as it is stored and no terminal
 * obeys it. JSON keeps its value.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Removes characters that change the writing direction; see {@link escapeControls}. */
export function withoutDirections(text: string): string {
  return text.replace(DIRECTIONS, '');
}
