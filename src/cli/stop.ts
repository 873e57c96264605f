/** Whether the process has been told to stop. */
export interface Stop extends Disposable {
  /** Aborted when it has; its reason is the name of the signal. */
  signal: AbortSignal;
  /** Resolves when it has. */
  told: Promise<void>;
}

/** Listens for SIGTERM and SIGINT until it is disposed of; told twice, the process ends at once. */
export function listenForStop(): Stop {
  const controller = new AbortController();
  const { signal } = controller;
  const onSignal = (name: NodeJS.Signals) => {
    if (signal.aborted) process.exit(1);
    controller.abort(name);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return {
    signal,
    told: new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    }),
    [Symbol.dispose]() {
      process.off('SIGTERM', onSignal);
      process.off('SIGINT', onSignal);
    },
  };
}
