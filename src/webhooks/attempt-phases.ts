/** Milliseconds in each phase that was entered; null for one that wasn't. */
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

/** Milliseconds since a moment of `performance.now()`, which no change of the clock disturbs. */
export function millisecondsSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 1000) / 1000;
}
