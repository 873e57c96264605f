/** One attempt under way. */
export interface Attempt {
  /** Ends the phase under way. */
  signal: AbortSignal;
  phases: PhaseWatch;
}

/**
 * Why an attempt got no status.
 *
 * `dns`: the name has no address, or more than 128, or they could not be found out. `refused`: an address that isn't
 * public, or is the service's own. `connect`: no connection. `tls`: no TLS 1.2 or 1.3 with a valid certificate of that
 * name. `timeout`: the deadline of the whole attempt. `reset`: the connection ended before the answer. `protocol`: not
 * HTTP/1.1 (HTTP/2 alone, for example), or an answer beyond its limits.
 */
export type AttemptError = 'dns' | 'refused' | 'connect' | 'tls' | 'timeout' | 'reset' | 'protocol';

/**
 * The sentence for administrators about each. It has no details: those of a refused address would describe the
 * operator's network to anybody who registers a webhook.
 */
export const attemptErrorTexts: Readonly<Record<AttemptError, string>> = {
  dns: 'The host name could not be resolved.',
  refused: 'The address is not public.',
  connect: 'No connection could be made.',
  tls: 'No secure connection could be made: the certificate or the TLS version was not accepted.',
  timeout: 'There was no answer within 10 seconds.',
  reset: 'The connection was closed before there was an answer.',
  protocol:
    'The receiver does not speak HTTP/1.1 by its rules, or offers HTTP/2 alone, which deliveries do not use.',
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

/** The class of an error that ended an attempt on an open connection, or before one was asked for. */
export function attemptErrorOf(thrown: unknown): AttemptError {
  if (thrown instanceof AttemptFailure) return thrown.error;
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  if (/^ERR_(SSL|TLS)/.test(code)) return 'tls';
  // The system's errors begin with an E alone: ECONNRESET, EPIPE, ETIMEDOUT, EHOSTUNREACH.
  return /^E[A-Z]+$/.test(code) || code.startsWith('ERR_STREAM') ? 'reset' : 'protocol';
}

/** Whole milliseconds in each phase that was entered; null for one that wasn't. */
export interface PhaseTimes {
  /** Finding out the addresses of the host name. */
  dns: number | null;
  connect: number | null;
  /** The handshake. */
  tls: number | null;
  /** From the open connection to the head of the answer, the request's own way included. */
  firstByte: number | null;
}

/** Measures the phases of one attempt, which follow each other. */
export interface PhaseWatch {
  /** Ends the phase under way, if any, and begins another. */
  enter: (phase: keyof PhaseTimes) => void;
  /** Ends the phase under way, if any. */
  leave: () => void;
  times: () => PhaseTimes;
}

export function watchPhases(): PhaseWatch {
  const times: PhaseTimes = { dns: null, connect: null, tls: null, firstByte: null };
  let current: keyof PhaseTimes | undefined;
  let enteredAt = 0;
  const leave = () => {
    if (current) times[current] = millisecondsSince(enteredAt);
    current = undefined;
  };
  return {
    enter: (phase) => {
      leave();
      current = phase;
      enteredAt = performance.now();
    },
    leave,
    times: () => ({ ...times }),
  };
}

/** Whole milliseconds since a moment of `performance.now()`, which no change of the clock disturbs. */
export function millisecondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
