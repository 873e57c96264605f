import { createPacedClient } from '../create-client.ts';
import { ApiError, type Client, NoAnswerError } from '../index.ts';
import { RateLimiter } from '../pace.ts';
import { CopyError } from '../sync/sink.ts';
import { machineClock } from '../waiting.ts';
import { UsageError } from '../../errors.ts';
import { version } from '../../contract/version.ts';
import { useProxy } from './proxy.ts';
import { serviceAccess, type ServiceOptions } from './service-access.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/** A Fieldledger service that a command reads from, over its public API. */
export interface Service extends Disposable {
  client: Client;
  /** A text that names the company and the service's address, as shown to users and stored in copies. */
  source: string;
  pace: RateLimiter;
  /** Returns the result of work that reads from the service. @throws UsageError that describes a failure in a sentence. */
  inSentences: <T>(work: Promise<T>) => Promise<T>;
}

/** The milliseconds for which a call is retried, long enough for a restart of the service. */
const RETRY_TIME_MS = 10 * 60_000;

/**
 * Returns access to a service, to which no request has been sent yet.
 * @throws UsageError for an invalid address or key.
 */
export function openService(options: ServiceOptions, terminal: Terminal, signal: AbortSignal): Service {
  const { baseUrl: url, key } = serviceAccess(options, terminal);
  const proxy = useProxy(url, terminal.environment);
  const [, company = ''] = key.split('.');
  const unreachable = new AbortController();
  const pace = new RateLimiter(machineClock);
  let hasAnswered = false;
  // Any web server responds, but only an API sends successful JSON.
  let isApi = false;
  const client = createPacedClient(pace, {
    baseUrl: url,
    key,
    userAgent: `Fieldledger/${version}`,
    maxRetries: 20,
    retryTimeMs: RETRY_TIME_MS,
    signal: AbortSignal.any([signal, unreachable.signal]),
    async fetch(request) {
      try {
        const answer = await fetch(request);
        hasAnswered = true;
        isApi ||= answer.ok && answer.headers.get('Content-Type')?.startsWith('application/json') === true;
        return answer;
      } catch (error) {
        // An address that never responded is probably wrong, so it isn't retried.
        if (!hasAnswered && !signal.aborted) unreachable.abort(noAnswerError(url, error, proxy.hint));
        throw error;
      }
    },
  });
  return {
    client,
    source: `${company} at ${url}`,
    pace,
    async inSentences(work) {
      try {
        return await work;
      } catch (error) {
        if (error instanceof ApiError) throw new UsageError(refusal(url, error, isApi));
        if (error instanceof NoAnswerError) throw noAnswerError(url, error, proxy.hint);
        if (error instanceof CopyError) throw new UsageError(error.message);
        throw error;
      }
    },
    [Symbol.dispose]: proxy[Symbol.dispose],
  };
}

/** Returns a sentence that describes an error response. @param isApi whether the API has responded before. */
function refusal(url: string, error: ApiError, isApi: boolean): string {
  const { status, code, message, requestId } = error;
  const asked = requestId === undefined ? '' : `, request ${requestId}`;
  const said = `${message.replace(/\.$/, '')}${asked}`;
  if ([301, 302, 303, 307, 308].includes(status))
    return `${url} redirects elsewhere, and a key isn't sent there (${said}). Name the right address with --url.`;
  // Proxies respond like this while the service is down.
  const isAway = status >= 500 || [408, 425, 429].includes(status);
  if (code === undefined && !isApi && !isAway)
    return `${url} is not the address of this API: it answered with ${status}.`;
  if (code === undefined && status === 200) return `${url} breaks the contract of this API (${said}).`;
  if (code === undefined) return `${url} has failed: it answered with ${status}.`;
  if (status === 401) return `${url} doesn't take the key (${code}). Ask for a new one.`;
  return `${url} refuses this (${said}).`;
}

/** Matches error codes for a certificate whose authority this machine doesn't trust. */
const UNKNOWN_ISSUER = /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;

/**
 * Returns the error for a response that never arrived, naming the innermost cause.
 * @param proxyHint the hint of {@link useProxy}.
 */
export function noAnswerError(url: string, error: unknown, proxyHint: string): UsageError {
  let reason = error;
  while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause;
  const { code, message } = reason as { code?: unknown; message?: unknown };
  const why = String(code ?? message);
  if (!UNKNOWN_ISSUER.test(why) && !why.includes('CERT_'))
    return new UsageError(`${url} doesn't answer (${why}).${proxyHint}`);
  const own = UNKNOWN_ISSUER.test(why)
    ? " If its authority is your company's own, name the authority's file in NODE_EXTRA_CA_CERTS."
    : '';
  return new UsageError(`The certificate of ${url} is refused (${why}).${own}${proxyHint}`);
}
