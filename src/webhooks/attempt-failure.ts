/**
 * Why an attempt got no status.
 *
 * `dns`: the name has no address, or more than 128, or none could be found out. `refused`: an address that isn't public, or the
 * service's own. `connect`: no connection. `tls`: no TLS 1.2 or 1.3 with a valid certificate of that name. `timeout`:
 * the deadline of the whole attempt. `reset`: the connection ended before the answer. `protocol`: not HTTP/1.1, or an
 * answer beyond its limits.
 */
export type AttemptError = 'dns' | 'refused' | 'connect' | 'tls' | 'timeout' | 'reset' | 'protocol';

/**
 * What an administrator is told about each. They are fixed: a text with details of a refused address would tell
 * whoever registers a webhook what is in the operator's network.
 */
export const attemptErrorTexts: Readonly<Record<AttemptError, string>> = {
  dns: 'The host name could not be resolved.',
  refused: 'The address is not public.',
  connect: 'No connection could be made.',
  tls: 'No secure connection could be made: the certificate or the TLS version was not accepted.',
  timeout: 'There was no answer within 10 seconds.',
  reset: 'The connection was closed before there was an answer.',
  protocol: 'The answer was not understood as HTTP/1.1.',
};

/** Ends an attempt with a class of error. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';
  readonly error: AttemptError;

  constructor(error: AttemptError, options?: ErrorOptions) {
    super(attemptErrorTexts[error], options);
    this.error = error;
  }
}

/** The class of whatever ended an attempt while it was on an open connection, or before one was asked for. */
export function attemptErrorOf(thrown: unknown): AttemptError {
  if (thrown instanceof AttemptFailure) return thrown.error;
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  if (/^ERR_(SSL|TLS)/.test(code)) return 'tls';
  // The system's errors begin with an E alone: ECONNRESET, EPIPE, ETIMEDOUT, EHOSTUNREACH.
  return /^E[A-Z]+$/.test(code) || code.startsWith('ERR_STREAM') ? 'reset' : 'protocol';
}
