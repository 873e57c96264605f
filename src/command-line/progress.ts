import { listenForStopSignals } from './stop.ts';

/** A display of progress: a bar if standard error is a terminal, otherwise an occasional line. */
export interface Progress extends Disposable {
  update: (done: number, total: number) => void;
}

/**
 * Runs long work with a progress bar, until it ends or is aborted by a stop signal. The bar is gone afterwards, because a
 * result beside it couldn't be read.
 */
export async function withProgress<P extends Disposable, T>(
  progress: P,
  work: (progress: P, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  using stop = listenForStopSignals();
  using bar = progress;
  return await work(bar, stop.signal);
}

/** The milliseconds between updates of a bar, and then between lines if there is no terminal. */
const BAR_MS = 100;
const LINE_MS = 10_000;
/** The terminal columns reserved for the text beside a bar, so that the line fits. */
const TEXT_COLUMNS = 60;

/**
 * Shows counted progress, such as `5 of 20 records`, until it is disposed of.
 * @param unit the unit that is shown, such as records.
 * @param divisor the number of items passed to `update` that make one unit.
 */
export function showProgress(unit: string, divisor = 1): Progress {
  const count = (told: number) => Math.ceil(told / divisor);
  const textOf = (done: number, total: number, left: string) =>
    `${count(done)} of ${count(total)} ${unit}${left}`;
  return showBar(textOf, { hasLines: true });
}

/**
 * Shows a progress bar with text beside it, until it is disposed of.
 * @param textOf gets the remaining time, as ` | 3m20s left`, once that is known.
 * @param options.hasLines whether to write the text occasionally if standard error isn't a terminal.
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

/** Returns a duration as text, such as 3m20s. */
function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m${seconds % 60}s` : `${Math.floor(minutes / 60)}h${minutes % 60}m`;
}

/** A display with a progress bar for each of a command's successive steps. */
export interface StepsProgress extends Disposable {
  update: (step: string, done: number, total: number) => void;
}

/**
 * Returns a display that shows a bar for each step of a command as it begins.
 * @param unit the unit that all steps count, such as records; the step's name follows it.
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
