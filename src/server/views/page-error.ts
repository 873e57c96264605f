import { AppError, UsageError } from '../../errors.ts';
import { AuthorityEndedError } from '../store/accounts/authorised-transaction.ts';

export class PageError extends Error {
  readonly status: number;
  readonly title: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    title: string,
    message: string,
    options: { cause?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PageError';
    this.status = status;
    this.title = title;
    this.headers = options.headers ?? {};
  }
}

/** Creates the 404 error, the same for a page that doesn't exist and for another company's page. */
export function notFound(): PageError {
  return new PageError(
    404,
    'There is nothing here',
    'Check the address. What was here may have been removed.',
  );
}

/** Creates the error for a session that ended after the request arrived. */
function signedOut(): PageError {
  return new PageError(
    403,
    'You are no longer signed in',
    'Nothing was changed. Your session or your access has ended: sign in again.',
  );
}

/** Creates the error for a malformed request, which no browser sends by itself. */
export function notWellFormed(): PageError {
  return new PageError(400, 'We couldn’t read this request', 'Go back, reload the page and try again.');
}

/** Converts anything thrown to a page error. The message of an error not meant for visitors becomes a fixed sentence. */
export function toPageError(thrown: unknown): PageError {
  if (thrown instanceof PageError) return thrown;
  if (thrown instanceof UsageError) return new PageError(422, 'This can’t be done', thrown.message);
  if (thrown instanceof AppError) return fromAppError(thrown);
  if (thrown instanceof AuthorityEndedError) return signedOut();
  const status = statusOf(thrown);
  if (status === 413) return new PageError(413, 'The form is too large', 'Shorten what you entered.');
  if (status !== undefined && status < 500) return notWellFormed();
  return fault(thrown);
}

/** Returns the message of a refusal, to be shown beside the form; rethrows any other error. */
export function refusalOf(thrown: unknown): string {
  if (thrown instanceof UsageError) return thrown.message;
  throw thrown;
}

/** The problems with a refused form: a sentence for each field, or for `form` as a whole. */
export type Problems = Readonly<Record<string, string>>;

/** Refusal of several fields of a form at once, so that people can correct them all together. */
class FieldsRefusedError extends Error {
  readonly problems: Problems;

  constructor(problems: Problems) {
    super('The form is refused.');
    this.problems = problems;
  }
}

/** Runs all checks. @throws FieldsRefusedError with all refusals, if any; any other error of a check. */
export function checkAll(...checks: (() => unknown)[]): void {
  const problems = problemsIn(...checks);
  if (Object.keys(problems).length > 0) throw new FieldsRefusedError(problems);
}

/**
 * Returns the problems of a refused form and the status of the response; rethrows any other error.
 * @param guessed the field beside which too many guesses are refused, with status 429; undefined for a form without one.
 */
export function refusedWith(thrown: unknown, guessed?: string): { problems: Problems; status: number } {
  if (thrown instanceof FieldsRefusedError) return { problems: thrown.problems, status: 422 };
  if (guessed !== undefined && thrown instanceof AppError && thrown.code === 'rate_limited')
    return { problems: { [guessed]: thrown.message }, status: 429 };
  return { problems: problemsOf(thrown), status: 422 };
}

function problemsOf(thrown: unknown): Problems {
  const problem = refusalOf(thrown);
  return { [(thrown instanceof UsageError && thrown.field) || 'form']: problem };
}

/** Runs checks, and returns the problems of those that refuse. */
export function problemsIn(...checks: (() => unknown)[]): Problems {
  const problems = checks.map((check) => {
    try {
      check();
      return {};
    } catch (error) {
      return problemsOf(error);
    }
  });
  return Object.assign({}, ...problems) as Problems;
}

function fromAppError(error: AppError): PageError {
  const { retryAfterSeconds } = error;
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
  if (error.code === 'not_found') return notFound();
  if (error.code === 'rate_limited')
    return new PageError(429, 'Too many attempts', error.message, { headers });
  if (error.code === 'unavailable')
    return new PageError(503, 'Try again in a moment', error.message, { headers, cause: error.cause });
  return fault(error);
}

function fault(cause: unknown): PageError {
  return new PageError(
    500,
    'Something went wrong',
    'This is our fault, and it is in our log. Try again. If it keeps happening, give your operator the request id below.',
    { cause },
  );
}

/** Returns the HTTP status that errors of Express and its body parser have; undefined for other errors. */
function statusOf(thrown: unknown): number | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('status' in thrown)) return undefined;
  return typeof thrown.status === 'number' ? thrown.status : undefined;
}
