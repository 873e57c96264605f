/** The time, and waiting for it. */
export interface Clock {
  /** Milliseconds of a clock that never goes back. */
  now: () => number;
  /** Waits, unless the signal ends it. */
  wait: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** The clock of the machine. */
export const machineClock: Clock = {
  now: () => performance.now(),
  wait: (ms, signal) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const passed = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    return unlessAborted(passed, signal).finally(() => clearTimeout(timer));
  },
};

/** Settles like the promise, or rejects with the signal's reason as soon as that is aborted. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** A signal that is aborted as soon as one of these is; those that aren't given never are. */
export function anyOf(...signals: (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}
