import { setTimeout as pause } from 'node:timers/promises';

/**
 * Does some work again and again, with pauses between, until it is disposed of; then it waits for what is under way. Work that fails is
 * done again after the pause.
 */
export function keepDoing(
  work: (signal: AbortSignal) => Promise<unknown>,
  { everyMs, onError }: { everyMs: number; onError: (error: unknown) => void },
): AsyncDisposable {
  const stop = new AbortController();
  const running = (async () => {
    while (!stop.signal.aborted) {
      await work(stop.signal).catch(onError);
      await pause(everyMs, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
