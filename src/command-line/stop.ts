export interface Stop extends Disposable {
  /** A signal that aborts on the first stop signal, with the stop signal's name as its reason. */
  signal: AbortSignal;
  /** A promise that resolves on the first stop signal. */
  told: Promise<void>;
}

/** The signals on which a process must stop; SIGHUP comes when its terminal is closed. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Listens for stop signals until it is disposed of. A second signal ends the process at once. */
export function listenForStopSignals(): Stop {
  const controller = new AbortController();
  const { signal } = controller;
  const onSignal = (name: NodeJS.Signals) => {
    if (!signal.aborted) controller.abort(name);
    // A closed terminal sends SIGHUP twice: from its shell, and from the system when the shell has ended.
    else if (name !== 'SIGHUP') process.exit(1);
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return {
    signal,
    told: new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    }),
    [Symbol.dispose]() {
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}
