import { listenForStopSignals } from './stop.ts';

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
  using stop = listenForStopSignals();
  using bar = progress;
  return await work(bar, stop.signal);
}

/** The time between two moves of a bar, and between two lines where there is no terminal. */
const BAR_MS = 100;
const LINE_MS = 10_000;
/** Columns for the text beside a bar, so that a line fits the screen. */
const TEXT_COLUMNS = 60;

/**
 * Shows how far some work is.
 * @param unit what is counted, such as records.
 * @param divisor how many of what `update` is told make one of them.
 */
export function showProgress(unit: string, divisor = 1): Progress {
  const count = (told: number) => Math.ceil(told / divisor);
  const textOf = (done: number, total: number, left: string) =>
    `${count(done)} of ${count(total)} ${unit}${left}`;
  return showBar(textOf, { hasLines: true });
}

/**
 * A bar with a text beside it.
 * @param textOf gets how much time is left, as ` | 3m20s left`, once that is known.
 * @param options.hasLines whether the text is written now and then where standard error is no terminal.
 */
export function showBar(
  textOf: (done: number, total: number, left: string) => string,
  { hasLines }: { hasLines: boolean },
): Progress {
  const { isTTY, columns } = process.stderr;
  const width = Math.min(40, Math.max(5, columns - TEXT_COLUMNS));
  const startedAt = performance.now();
  let movedAt = isTTY ? 0 : startedAt;
  return {
    update(done, total) {
      const nowMs = performance.now();
      if ((done < total || !isTTY) && nowMs < movedAt + (isTTY ? BAR_MS : LINE_MS)) return;
      movedAt = nowMs;
      if (!isTTY && hasLines) process.stderr.write(`${textOf(done, total, '')}\n`);
      if (!isTTY) return;
      const share = total > 0 ? done / total : 0;
      const left = share > 0 ? ` | ${durationText(((nowMs - startedAt) * (1 - share)) / share)} left` : '';
      const bar = '█'.repeat(Math.round(width * share)).padEnd(width, '░');
      process.stderr.write(`\r${bar} ${Math.floor(100 * share)}% | ${textOf(done, total, left)}\x1b[K`);
    },
    [Symbol.dispose]: () => void (isTTY && movedAt > 0 && process.stderr.write('\n')),
  };
}

/** A length of time, such as 3m20s. */
function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m${seconds % 60}s` : `${Math.floor(minutes / 60)}h${minutes % 60}m`;
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
