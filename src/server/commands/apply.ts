import { accessSync, constants, createReadStream, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';

import { Argument, Command, InvalidArgumentError, Option } from 'commander';

import { parseBaseUrl, readSecretFile, withoutByteOrderMark } from '../../command-line/given-values.ts';
import { UsageError } from '../../errors.ts';
import { openBackoffice } from '../backoffice/backoffice.ts';
import { applyFeed, type FeedAnswer } from '../backoffice/feed.ts';
import type { Config } from '../process/config.ts';
import type { Engine } from '../store/engines/engine.ts';
import { isAway } from '../store/engines/open-engine.ts';
import { argumentBy } from '../cli/arguments.ts';
import { withDatabase } from '../cli/database.ts';
import { NotSentError, sendFeed, type SendTexts } from './send-feed.ts';
import { showBar } from '../../command-line/progress.ts';
import { listenForStopSignals } from '../../command-line/stop.ts';
import { describeError, type Terminal, ReportedFailure } from '../../command-line/terminal.ts';

const STDIN = '-';

/** Creates the sender of the integrators' package, which sends a feed to a remote Fieldledger. */
type CreateSender = (options: {
  url: string;
  token: string;
  signal: AbortSignal;
  onRetry: (reason: Error) => void;
}) => { sendTexts: SendTexts };

interface ApplyOptions {
  to?: string;
  tokenFile?: string;
}

/** Builds `fieldledger apply`, which applies a feed from the business system, locally or to a remote Fieldledger. */
export function applyCommand(terminal: Terminal, createSender: CreateSender): Command {
  return new Command('apply')
    .description('apply a feed: a change in each line as JSON, answered with a line of JSON')
    .addArgument(new Argument('[file]', 'the feed; - for standard input').default(STDIN).argParser(readable))
    .addOption(
      new Option(
        '--to <url>',
        'send it to a Fieldledger elsewhere, such as https://feed.example.com',
      ).argParser(argumentBy(parseBaseUrl)),
    )
    .option(
      '--token-file <file>',
      'file with the feed token; without it the token is FEED_TOKEN of the environment',
    )
    .action(async (file: string, { to, tokenFile }: ApplyOptions) => {
      using stop = listenForStopSignals();
      if (to !== undefined) {
        const sender = createSender({
          ...{ url: to, token: tokenOf(terminal, tokenFile), signal: stop.signal },
          onRetry: ({ message }) => terminal.conclude({ away: message }, `${message} Trying again.`),
        });
        const answersOf = (input: Readable) => sendFeed(input, (texts) => sender.sendTexts(texts));
        await conclude(file, answersOf, { terminal, signal: stop.signal });
        return;
      }
      const waits = waitingFor(terminal, stop.signal);
      const apply = async (engine: Engine, { portalAccent: accent }: Config) => {
        const backoffice = openBackoffice(engine, { accent });
        const answersOf = (input: Readable) => applyFeed(backoffice, input, waits);
        await conclude(file, answersOf, { terminal, signal: stop.signal });
      };
      await withDatabase(terminal, apply, { waits });
    });
}

type AnswersOf = (input: Readable) => AsyncIterable<FeedAnswer>;

/** Applies a feed and prints a summary. @throws ToldFailure when a line was refused or the feed stopped early. */
async function conclude(file: string, answersOf: AnswersOf, surroundings: Surroundings): Promise<void> {
  const { terminal } = surroundings;
  if (file === STDIN && process.stdin.isTTY)
    terminal.tell('Waits for changes, each a line of JSON. Press Control-D on an empty line to end.\n');
  const summary = await applyFile(file, answersOf, surroundings);
  terminal.conclude(summary, summaryText(summary));
  if (summary.refused > 0 || summary.stopped) throw new ReportedFailure();
}

function tokenOf({ environment }: Terminal, file: string | undefined): string {
  const token =
    file === undefined
      ? withoutByteOrderMark(environment.FEED_TOKEN ?? '')
      : readSecretFile('--token-file', file);
  if (!token)
    throw new UsageError('A feed token is missing: name its file with --token-file, or set FEED_TOKEN.');
  return token;
}

interface Summary {
  /** Number of lines answered; blank lines aren't answered. */
  lines: number;
  applied: number;
  skipped: number;
  refused: number;
  seconds: number;
  /** The reason why the feed stopped early, and the last line answered; null if it didn't. */
  stopped: {
    reason: 'signal' | 'unavailable' | 'unsent' | 'closed' | 'unreadable';
    line: number;
    message: string;
  } | null;
}

interface Surroundings {
  terminal: Terminal;
  signal: AbortSignal;
}

async function applyFile(file: string, answersOf: AnswersOf, surroundings: Surroundings): Promise<Summary> {
  const startedAt = performance.now();
  const input = openInput(file);
  using progress = showProgress(file);
  addAbortSignal(surroundings.signal, input);
  const summary = await applyLines(answersOf(input), input, { ...surroundings, progress });
  return { ...summary, seconds: Math.round(performance.now() - startedAt) / 1000 };
}

function openInput(file: string): Readable {
  if (file === STDIN) return process.stdin;
  // Read as a file, a named pipe would block a thread that no signal can interrupt.
  if (statSync(file).isFIFO())
    return new Socket({ fd: openSync(file, 'r'), readable: true, writable: false });
  return createReadStream(file);
}

/** Applies a feed to its end, or until something stops it. The current line is always finished. */
async function applyLines(
  answers: AsyncIterable<FeedAnswer>,
  input: Readable,
  { terminal, progress, signal }: Surroundings & { progress: ReturnType<typeof showProgress> },
): Promise<Omit<Summary, 'seconds'>> {
  const summary: Omit<Summary, 'seconds'> = { lines: 0, applied: 0, skipped: 0, refused: 0, stopped: null };
  let line = 0;
  try {
    for await (const answer of answers) {
      line = answer.line;
      summary.lines += 1;
      summary[answer.status] += 1;
      terminal.print(`${answer.text}\n`);
      progress.update(answer.bytesRead, summary.lines);
      // SQLite runs synchronously, so signals and closed pipes are noticed only here.
      await turn();
      const isRead = await terminal.takesMore(signal);
      if ('fault' in answer) {
        summary.stopped = { reason: 'unavailable', line, message: describeError(answer.fault) };
      } else if (!isRead) {
        summary.stopped = {
          reason: 'closed',
          line,
          message: terminal.outProblem() ?? 'nobody reads the answers',
        };
      }
      if (summary.stopped || signal.aborted) break;
    }
  } catch (error) {
    const stopped = { ...faultOf(error, input), line };
    if (!signal.aborted) summary.stopped = stopped;
  }
  // A signal also interrupts a feed that is sending nothing at the moment.
  if (signal.aborted) summary.stopped ??= { reason: 'signal', line, message: String(signal.reason) };
  return summary;
}

/** Returns the reason why a feed can't continue. @throws the error itself if it is a bug in the program. */
function faultOf(error: unknown, input: Readable): { reason: 'unsent' | 'unreadable'; message: string } {
  if (error instanceof NotSentError) return { reason: 'unsent', message: error.message };
  if (error !== input.errored) throw error;
  return { reason: 'unreadable', message: describeError(error) };
}

/** Longest wait for an unavailable database, after which the feed stops with an error. A failover takes less. */
const AWAY_MS_MAX = 600_000;
const RETRY_MS = 500;

/** Returns a function that waits for an unavailable database, and reports each outage once. */
function waitingFor(terminal: Terminal, signal: AbortSignal): (fault: unknown) => Promise<boolean> {
  let [sinceMs, lastMs] = [0, -Infinity];
  return async (fault) => {
    if (!isAway(fault)) return false;
    const nowMs = performance.now();
    // A statement without an answer takes 16 seconds to fail, so faults in one outage are less than a minute apart.
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

/** Shows a progress bar if the feed's size is known and the answers don't go to the screen. */
function showProgress(file: string) {
  const size = file === STDIN || process.stdout.isTTY ? 0 : statSync(file).size;
  let lineCount = 0;
  const bar = showBar((_done, _total, left) => `${lineCount} lines${left}`, { hasLines: false });
  return {
    update(bytesRead: number, lines: number) {
      lineCount = lines;
      if (size > 0) bar.update(bytesRead, size);
    },
    [Symbol.dispose]: () => bar[Symbol.dispose](),
  };
}

function readable(path: string): string {
  if (path === STDIN) return path;
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new InvalidArgumentError(`There is no file ${path}.`);
  if (stats.isDirectory()) throw new InvalidArgumentError('It is a folder.');
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw new InvalidArgumentError('It may not be read.');
  }
  return path;
}
