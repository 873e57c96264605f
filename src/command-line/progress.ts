import cliProgress from 'cli-progress';

import { listenForStop } from './stop.ts';

/** A progress bar, if standard error is a terminal, and otherwise a line now and then. */
export interface Progress extends Disposable {
  update: (done: number, total: number) => void;
}

/**
 * Does long work with a bar, until it ends or a signal tells it to stop. The bar is gone afterwards: a result that is shown
 * beside it can't be read.
 */
export async function watched<P extends Disposable, T>(
  progress: P,
  work: (progress: P, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using stop = listenForStop();
  using bar = progress;
  return await work(bar, stop.signal);
}

/** How often a bar moves. */
export const PROGRESS_MS = 100;
const LINE_MS = 10_000;

/** Columns for the text beside a bar, so that a line fits the screen. */
const TEXT_COLUMNS = 60;

/** A bar that leaves room for the text beside it, and estimates the time left from its latest moves. */
export function createBar(text: string): cliProgress.SingleBar {
  return new cliProgress.SingleBar({
    format: `{bar} {percentage}% | ${text}`,
    barsize: Math.min(40, Math.max(5, process.stderr.columns - TEXT_COLUMNS)),
    formatTime: (seconds, options, step) =>
      // NaN until something is done.
      Number.isFinite(seconds) ? `${cliProgress.Format.TimeFormat(seconds, options, step)} left` : '',
    noTTYOutput: false,
    etaBuffer: 5_000 / PROGRESS_MS,
  });
}

/**
 * Shows a bar.
 * @param unit what is counted, such as records.
 * @param divisor how many of what `update` is told make one of them.
 */
export function showProgress(unit: string, divisor = 1): Progress {
  const bar = createBar(`{value} of {total} ${unit} | {eta_formatted}`);
  bar.start(1, 0);
  const { isTTY } = process.stderr;
  let movedAt = isTTY ? 0 : performance.now();
  return {
    update(done, total) {
      const mayWait = done < total || !isTTY;
      if (mayWait && performance.now() < movedAt + (isTTY ? PROGRESS_MS : LINE_MS)) return;
      movedAt = performance.now();
      if (!isTTY)
        process.stderr.write(`${Math.ceil(done / divisor)} of ${Math.ceil(total / divisor)} ${unit}\n`);
      bar.setTotal(Math.ceil(total / divisor));
      bar.update(Math.ceil(done / divisor));
    },
    [Symbol.dispose]: () => bar.stop(),
  };
}

/** Bars for the steps of a command, one after the other. */
export interface StepsProgress extends Disposable {
  update: (step: string, done: number, total: number) => void;
}

/**
 * Shows a bar for each step once it begins.
 * @param unit what all of them count, such as records; a step says what is done to it.
 */
export function showSteps(unit: string): StepsProgress {
  let bar: Progress | undefined;
  let shown = '';
  const end = () => bar?.[Symbol.dispose]();
  return {
    update(step, done, total) {
      if (step !== shown) {
        end();
        bar = showProgress(`${unit} ${step}`);
        shown = step;
      }
      bar?.update(done, total);
    },
    [Symbol.dispose]: end,
  };
}
