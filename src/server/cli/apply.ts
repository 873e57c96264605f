import { accessSync, constants, createReadStream, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';

import { Argument, Command, InvalidArgumentError } from 'commander';

import { applyFeed } from '../backoffice/feed.ts';
import { type Backoffice, openBackoffice } from '../backoffice/backoffice.ts';
import type { Engine } from '../store/engines/engine.ts';
import { isAway } from '../store/engines/open-engine.ts';
import { withDatabase } from './database.ts';
import { createBar, PROGRESS_MS } from '../../command-line/progress.ts';
import { listenForStop } from '../../command-line/stop.ts';
import { describeError, type Terminal, ToldFailure } from '../../command-line/terminal.ts';

const STDIN = '-';

/** `fieldledger apply`: makes the moves of a feed from the business system. */
export function applyCommand(terminal: Terminal): Command {
  return new Command('apply')
    .description('apply a feed: a change in each line as JSON, answered with a line of JSON')
    .addArgument(new Argument('[file]', 'the feed; - for standard input').default(STDIN).argParser(readable))
    .action(async (file: string) => {
      using stop = listenForStop();
      const waits = waitingFor(terminal, stop.signal);
      const apply = async (engine: Engine) => {
        if (file === STDIN && process.stdin.isTTY)
          terminal.tell(
            'Waits for changes, each a line of JSON. Control-D on a line of its own ends them.\n',
          );
        const summary = await applyFile(engine, file, { terminal, waits, signal: stop.signal });
        terminal.conclude(summary, summaryText(summary));
        if (summary.refused > 0 || summary.stopped) throw new ToldFailure();
      };
      await withDatabase(terminal, apply, { waits });
    });
}

interface Summary {
  /** Lines that were answered. Blank lines are not. */
  lines: number;
  applied: number;
  skipped: number;
  refused: number;
  seconds: number;
  /** Why the feed stopped early, and the last line that was answered. */
  stopped: {
    reason: 'signal' | 'unavailable' | 'closed' | 'unreadable';
    line: number;
    message: string;
  } | null;
}

interface Surroundings {
  terminal: Terminal;
  /** Waits for a database that is away; false for another fault, and at its end. */
  waits: (fault: unknown) => Promise<boolean>;
  signal: AbortSignal;
}

async function applyFile(engine: Engine, file: string, surroundings: Surroundings): Promise<Summary> {
  const startedAt = performance.now();
  const input = openInput(file);
  using progress = showProgress(file);
  addAbortSignal(surroundings.signal, input);
  const summary = await applyLines(openBackoffice(engine), input, { ...surroundings, progress });
  return { ...summary, seconds: Math.round(performance.now() - startedAt) / 1000 };
}

function openInput(file: string): Readable {
  if (file === STDIN) return process.stdin;
  // As a file, a named pipe would block a thread that no signal can interrupt.
  if (statSync(file).isFIFO())
    return new Socket({ fd: openSync(file, 'r'), readable: true, writable: false });
  return createReadStream(file);
}

/** Applies a feed to its end, or until there is a reason to stop. The current line is always finished. */
async function applyLines(
  backoffice: Backoffice,
  input: Readable,
  { terminal, waits, progress, signal }: Surroundings & { progress: Progress },
): Promise<Omit<Summary, 'seconds'>> {
  const summary: Omit<Summary, 'seconds'> = { lines: 0, applied: 0, skipped: 0, refused: 0, stopped: null };
  let line = 0;
  try {
    for await (const answer of applyFeed(backoffice, input, waits)) {
      line = answer.line;
      summary.lines += 1;
      summary[answer.status] += 1;
      terminal.print(`${answer.text}\n`);
      progress.update(answer.bytesRead, summary.lines);
      // SQLite runs synchronously, so this lets signals and closed pipes be noticed.
      await turn();
      const isRead = await terminal.takesMore(signal);
      if ('fault' in answer) {
        summary.stopped = { reason: 'unavailable', line, message: describeError(answer.fault) };
      } else if (!isRead) {
        summary.stopped = { reason: 'closed', line, message: 'nobody reads the answers' };
      }
      if (summary.stopped || signal.aborted) break;
    }
  } catch (error) {
    if (error !== input.errored) throw error;
    if (!signal.aborted) summary.stopped = { reason: 'unreadable', line, message: describeError(error) };
  }
  // A signal also ends the reading of a feed that sends nothing at the moment.
  if (signal.aborted) summary.stopped ??= { reason: 'signal', line, message: String(signal.reason) };
  return summary;
}

/** Longer than a failover. After this time the feed's sender is told, and decides. */
const AWAY_MS_MAX = 600_000;
const RETRY_MS = 500;

/** Builds the wait for a database that is away, which tells of it once each time. */
function waitingFor(terminal: Terminal, signal: AbortSignal): Surroundings['waits'] {
  let [sinceMs, lastMs] = [0, -Infinity];
  return async (fault) => {
    if (!isAway(fault)) return false;
    const nowMs = performance.now();
    // A statement that isn't answered takes 16 seconds.
    if (nowMs > lastMs + 60_000) {
      sinceMs = nowMs;
      const reason = describeError(fault);
      terminal.conclude({ away: reason }, `The database is away (${reason}). Waiting for it.`);
    }
    lastMs = nowMs;
    await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
    return !signal.aborted && nowMs < sinceMs + AWAY_MS_MAX;
  };
}

function summaryText({ lines, applied, skipped, refused, seconds, stopped }: Summary): string {
  const count = (value: number) => value.toLocaleString('en');
  const counts = `${count(applied)} applied, ${count(skipped)} skipped, ${count(refused)} refused`;
  const whole = `${count(lines)} ${lines === 1 ? 'line' : 'lines'}: ${counts}, in ${seconds.toFixed(1)} s`;
  if (!stopped) return whole;
  // When the database became unusable, the last line was not applied; otherwise it was.
  const place = stopped.reason === 'unavailable' ? 'at' : 'after';
  return `${whole}; stopped ${place} line ${count(stopped.line)}: ${stopped.message}`;
}

interface Progress extends Disposable {
  update: (bytesRead: number, lines: number) => void;
}

/** A bar for a feed of known size, unless the answers themselves go to the screen. */
function showProgress(file: string): Progress {
  const size = file === STDIN ? 0 : statSync(file).size;
  if (size === 0 || process.stdout.isTTY)
    return { update: () => undefined, [Symbol.dispose]: () => undefined };
  const bar = createBar('{lines} lines | {eta_formatted}');
  bar.start(size, 0, { lines: 0 });
  let movedAt = 0;
  return {
    update(bytesRead, lines) {
      if (bytesRead < size && performance.now() < movedAt + PROGRESS_MS) return;
      movedAt = performance.now();
      bar.update(bytesRead, { lines });
    },
    [Symbol.dispose]: () => bar.stop(),
  };
}

function readable(path: string): string {
  if (path === STDIN) return path;
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new InvalidArgumentError('There is no such file.');
  if (stats.isDirectory()) throw new InvalidArgumentError('It is a folder.');
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw new InvalidArgumentError('It may not be read.');
  }
  return path;
}
