import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { createTerminal } from '../src/cli/terminal.ts';
import { main } from '../src/main.ts';
import { createDatabase, startPostgres } from './_postgres.ts';
import type { EngineName } from './_server.ts';

const bin = join(import.meta.dirname, '..', 'src', 'fieldledger.js');

/** What a command line left behind. */
export interface Outcome {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

type Environment = Record<string, string>;

/** A running `fieldledger serve`. */
export interface Served extends AsyncDisposable {
  child: ChildProcess;
  /** What the command printed as JSON once it listened. */
  greeting: { address: string; demo?: { company: string; key: string; isNew: boolean } };
  port: number;
  /** From the start of the process to its greeting. */
  startedAfterMs: number;
  /** The log's lines so far. */
  logs: () => Record<string, unknown>[];
  /** Everything on standard output and standard error so far. */
  output: () => string;
  /** Sends a signal and waits for the end of the process. */
  stop: (
    signal?: NodeJS.Signals,
  ) => Promise<{ exitCode: number | null; signal: string | null; afterMs: number }>;
}

/** A folder with a database of its own, in which the real command line is run as an operator runs it. */
export interface Workplace extends AsyncDisposable {
  folder: string;
  databaseUrl: string;
  /** Runs a command line as a process of its own. */
  run: (args: readonly string[], environment?: Environment) => Promise<Outcome>;
  /** Runs a command line inside this process, which is quicker. */
  call: (args: readonly string[], environment?: Environment) => Promise<Outcome>;
  /** Calls a command with `--json` and gives what it printed. */
  json: <T>(args: readonly string[], environment?: Environment) => Promise<T>;
  serve: (args?: readonly string[], environment?: Environment) => Promise<Served>;
}

/** Makes a workplace whose database doesn't exist yet on SQLite, and is empty on PostgreSQL. */
export async function openWorkplace(engine: EngineName = 'sqlite'): Promise<Workplace> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-work-'));
  const given = process.env.TEST_POSTGRES_URL;
  const server = engine === 'postgres' && !given ? await startPostgres() : undefined;
  const databaseUrl =
    engine === 'sqlite'
      ? `sqlite:${join(folder, 'data', 'work.db')}`
      : await createDatabase(given ?? server?.url ?? '');
  const running = new Set<Served>();
  // The tests' own environment stays outside: it may hold settings, and what tap does to its processes.
  const start = (args: readonly string[], environment: Environment) =>
    spawn(process.execPath, [bin, ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const call: Workplace['call'] = (args, environment = {}) =>
    callCommand(args, { DATABASE_URL: databaseUrl, ...environment });
  return {
    folder,
    databaseUrl,
    run: async (args, environment = {}) => outcomeOf(start(args, environment)),
    call,
    async json<T>(args: readonly string[], environment?: Environment) {
      const { exitCode, stdout, stderr } = await call([...args, '--json'], environment);
      if (exitCode !== 0) throw new Error(`fieldledger ${args.join(' ')} ended with ${exitCode}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    async serve(args = [], environment = {}) {
      const startedAt = performance.now();
      const child = start(['serve', '--json', ...args], { PORT: '0', ...environment });
      const served = await servedBy(child, startedAt);
      running.add(served);
      return served;
    },
    async [Symbol.asyncDispose]() {
      for (const served of running) await served[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs a command line inside this process, with nothing but these settings. */
export async function callCommand(args: readonly string[], environment: Environment = {}): Promise<Outcome> {
  const texts = { stdout: '', stderr: '' };
  const print = (text: string) => (texts.stdout += text);
  const tell = (text: string) => (texts.stderr += text);
  const exitCode = await main(args, createTerminal(environment, print, tell));
  return { exitCode, ...texts };
}

async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const texts = collect(child);
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode, stdout: texts.stdout, stderr: texts.stderr };
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  return texts;
}

async function servedBy(child: ChildProcess, startedAt: number): Promise<Served> {
  const texts = collect(child);
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  await until(() => texts.stdout.endsWith('\n') || child.exitCode !== null || child.signalCode !== null);
  const startedAfterMs = performance.now() - startedAt;
  if (!texts.stdout.endsWith('\n')) throw new Error(`fieldledger serve didn't start: ${texts.stderr}`);
  const greeting = JSON.parse(texts.stdout) as Served['greeting'];
  const stop: Served['stop'] = async (signal = 'SIGTERM') => {
    const askedAt = performance.now();
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    const [exitCode, killedBy] = await closed;
    return { exitCode, signal: killedBy, afterMs: performance.now() - askedAt };
  };
  return {
    child,
    greeting,
    port: Number(new URL(greeting.address).port),
    startedAfterMs,
    logs: () => linesOf(texts.stderr),
    output: () => texts.stdout + texts.stderr,
    stop,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}

/** The JSON lines of a log; a line that isn't whole yet is left out. */
export function linesOf(log: string): Record<string, unknown>[] {
  return log
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const PATIENCE_MS = 20_000;

/** Waits until something holds, and fails when that takes longer than any machine would. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`It doesn't come true: ${holds.toString()}`);
    await pause(5);
  }
}
