/** Whether the process has been told to stop. */
export interface Stop extends Disposable {
  /** Aborted when it has; its reason is the name of the signal. */
  signal: AbortSignal;
  /** Resolves when it has. */
  told: Promise<void>;
}

/** The signals that tell a process to stop; SIGHUP comes when its terminal is gone. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Listens for the signals to stop until it is disposed of; told twice, the process ends at once. */
export function listenForStop(): Stop {
  const controller = new AbortController();
  const { signal } = controller;
  const onSignal = (name: NodeJS.Signals) => {
    if (!signal.aborted) controller.abort(name);
    // A terminal that goes sends it twice: its shell hands it on, and the system sends it when the shell has ended.
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
