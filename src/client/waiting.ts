/** A monotonic clock with a timer. */
export interface Clock {
  /** Returns a monotonic time in milliseconds. */
  now: () => number;
  /** Waits for a number of milliseconds, or rejects as soon as the signal aborts. */
  wait: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** The machine's own monotonic clock and timer. */
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

/** Returns a promise that settles like the given one, or rejects with the signal's reason as soon as the signal aborts. */
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

/** Returns a signal that aborts as soon as any of the given ones does; undefined ones are ignored. */
export function anySignal(...signals: (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter((signal) => signal !== undefined));
}
