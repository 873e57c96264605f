import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { createTerminal } from '../src/command-line/terminal.ts';
import { main } from '../src/main.ts';
import { type Contents, createFilledDatabase, createFilledFile } from './_migrated.ts';
import { createDatabase, startPostgres } from './_postgres.ts';
import type { EngineName } from './_server.ts';
import type { ServerPair } from './_standby.ts';
import { createSecretBox } from '../src/server/process/secret-box.ts';

const bin = join(import.meta.dirname, '..', 'src', 'fieldledger.js');

/** The exit code and the output of a command line. */
export interface Outcome {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

type Environment = Record<string, string>;

/** A command line, whose words with spaces stand in single quotes; or its words. */
type Line = string | readonly string[];

interface Ending {
  exitCode: number | null;
  signal: string | null;
}

/** A command that has been started. */
export interface Running {
  child: ChildProcess;
  /** Everything that it has written so far. */
  output: { stdout: string; stderr: string };
  /** How it ended, once it has. */
  ended: Promise<Ending>;
  /** Sends a signal, unless the process has ended, and waits for its end. */
  end: (signal: NodeJS.Signals) => Promise<Ending>;
}

/** What `fieldledger serve --json` prints once it listens. */
interface Greeting {
  address: string;
  management: string;
  feed?: string;
  portal?: string;
  demo?: { company: string; key: string; isNew: boolean };
}

/** The command `serve` inside this process. */
interface ServedHere {
  greeting: Greeting;
  /** Tells it to stop, as a signal does, and waits for its exit code. */
  stop: () => Promise<number>;
}

/** A running `fieldledger serve --json`. */
export interface Served extends Running {
  greeting: Greeting;
  port: number;
  /** The log's lines so far. */
  logs: () => Record<string, unknown>[];
}

/** A folder with a database of its own, in which the real command line is run as an operator runs it. */
export interface Workplace extends AsyncDisposable {
  folder: string;
  databaseUrl: string;
  /** Runs a command line in a process of its own, which takes a third of a second: where the process matters. */
  run: (line: Line, environment?: Environment) => Promise<Outcome>;
  /** Runs a command line inside this process: paths in it are absolute, and standard input is nobody's. */
  call: (line: Line, environment?: Environment) => Promise<Outcome>;
  /** Calls a command with `--json` and gives what it printed. */
  json: <T>(line: Line, environment?: Environment) => Promise<T>;
  /** Starts one whose standard input is empty, or a pipe that the test writes to. */
  start: (line: Line, environment?: Environment, stdin?: 'ignore' | 'pipe') => Running;
  /** Starts a server in a process of its own, on a free port, and waits until it listens. */
  serve: (args?: readonly string[], environment?: Environment) => Promise<Served>;
  /** Serves inside this process, without a log, until it is told to stop or the workplace is gone. */
  serveHere: (args?: readonly string[], environment?: Environment) => Promise<ServedHere>;
}

/** The key that seals signing secrets where there is no file for a key. */
export const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');

/** A signing secret as the database has it: sealed with the key of the tests. */
export function sealedSecret(company: string, webhook: string, secret = 'whsec_test'): string {
  return createSecretBox(SECRET_KEY).seal(secret, { company, id: webhook });
}

interface WorkplaceOptions {
  isEmpty?: boolean;
  /** What its database holds unless it is empty: the schema alone, or the example company too. */
  contents?: Contents;
  program?: string;
  path?: string | undefined;
  /** The servers of its database, where one isn't enough. */
  pair?: ServerPair | undefined;
}

/**
 * Makes a workplace whose database is migrated, or with `isEmpty` one whose database doesn't exist yet on SQLite and is
 * empty on PostgreSQL. On PostgreSQL there is a key for signing secrets.
 * @param options `program` is the file that `start`, `run` and `serve` start, of a release or another version; `path`
 * are the folders in which it looks for programs.
 */
export async function openWorkplace(
  engine: EngineName = 'sqlite',
  options: WorkplaceOptions = {},
): Promise<Workplace> {
  const { isEmpty = false, contents = 'migrated', program = bin, path = process.env.PATH, pair } = options;
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-work-'));
  const filled = isEmpty ? undefined : contents;
  const { server, settings } =
    engine === 'sqlite' ? await onSqlite(folder, filled) : await onPostgres(pair, filled);
  const databaseUrl = settings.DATABASE_URL;
  const started = new Set<Running>();
  const { NODE_COMPILE_CACHE: compiled } = process.env;
  // The test command keeps compiled code for all files. Without it, a start in a new home takes twice as long.
  const cache: Environment = program === bin && compiled ? { NODE_COMPILE_CACHE: compiled } : {};
  const servedHere: ServedHere[] = [];
  const start: Workplace['start'] = (line, environment = {}, stdin = 'ignore') => {
    // The rest of the tests' own environment stays outside: it may hold settings, and what tap does to its processes.
    const env = { PATH: path, HOME: folder, ...cache, ...settings, ...environment };
    const spawning: SpawnOptions = { cwd: folder, env, stdio: [stdin, 'pipe', 'pipe'] };
    // By its first line, which gives Node an option that bounds its memory.
    const running = runningOf(spawn(program, wordsOf(line), spawning));
    started.add(running);
    return running;
  };
  const call: Workplace['call'] = (line, environment = {}) =>
    callCommand(line, { ...settings, ...environment });
  return {
    folder,
    databaseUrl,
    start,
    call,
    async run(line, environment) {
      const { ended, output } = start(line, environment);
      const { exitCode } = await ended;
      return { exitCode, ...output };
    },
    async json<T>(line: Line, environment?: Environment) {
      const words = wordsOf(line);
      const { exitCode, stdout, stderr } = await call([...words, '--json'], environment);
      if (exitCode !== 0) throw new Error(`fieldledger ${words.join(' ')} ended with ${exitCode}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    serve: async (args = [], environment = {}) =>
      servedBy(start(['serve', '--json', ...args], { ...FREE_PORTS, ...environment })),
    async serveHere(args = [], environment = {}) {
      const quiet = { ...settings, ...FREE_PORTS, LOG_LEVEL: 'silent' };
      const served = await serveInside(['serve', '--json', ...args], { ...quiet, ...environment });
      servedHere.push(served);
      return served;
    },
    async [Symbol.asyncDispose]() {
      for (const { stop } of servedHere) await stop();
      for (const { end } of started) await end('SIGKILL');
      await server?.[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Settings extends Environment {
  DATABASE_URL: string;
}

async function onSqlite(folder: string, contents: Contents | undefined) {
  const path = join(folder, 'data', 'work.db');
  if (contents) await createFilledFile(path, contents);
  const settings: Settings = { DATABASE_URL: `sqlite:${path}` };
  return { server: undefined, settings };
}

/** With a server of its own unless the test run has one. */
async function onPostgres(pair: ServerPair | undefined, contents: Contents | undefined) {
  const given = pair?.primaryUrl() ?? process.env.TEST_POSTGRES_URL;
  const server = given === undefined ? await startPostgres() : undefined;
  const serverUrl = given ?? server?.url ?? '';
  const url =
    contents && !pair ? await createFilledDatabase(serverUrl, contents) : await createDatabase(serverUrl);
  const DATABASE_URL = pair?.withBoth(url) ?? url;
  const settings: Settings = { DATABASE_URL, WEBHOOK_SECRET_KEY: SECRET_KEY };
  return { server, settings };
}

const FREE_PORTS = { PORT: '0', MANAGEMENT_PORT: '0' };

function wordsOf(line: Line): readonly string[] {
  if (typeof line !== 'string') return line;
  return [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
}

/** Runs a command line inside this process, with nothing but these settings. */
export async function callCommand(line: Line, environment: Environment = {}): Promise<Outcome> {
  const { texts, terminal } = terminalInto(environment);
  // pg asks this process, and not the terminal, for a password that no address holds.
  const former = process.env.PGPASSWORD;
  if (environment.PGPASSWORD !== undefined) process.env.PGPASSWORD = environment.PGPASSWORD;
  try {
    return { exitCode: await main(wordsOf(line), terminal), ...texts };
  } finally {
    if (former === undefined) delete process.env.PGPASSWORD;
    else process.env.PGPASSWORD = former;
  }
}

/** A terminal that keeps what is shown on it. */
function terminalInto(environment: Environment, onPrint?: () => void) {
  const texts = { stdout: '', stderr: '' };
  // A file's bytes are kept one to one.
  const print = (content: string | Uint8Array) => {
    texts.stdout += typeof content === 'string' ? content : Buffer.from(content).toString('latin1');
    onPrint?.();
  };
  const tell = (text: string) => (texts.stderr += text);
  return { texts, terminal: createTerminal(environment, print, tell, async () => true) };
}

/** A signal would be heard by the whole process: its listener is told alone. */
async function serveInside(args: readonly string[], environment: Environment): Promise<ServedHere> {
  const others = process.listeners('SIGTERM');
  const greeted = Promise.withResolvers<null>();
  const { texts, terminal } = terminalInto(environment, () => greeted.resolve(null));
  const ended = main(args, terminal);
  await Promise.race([greeted.promise, ended]);
  // It is the command's own JSON, unless it is an error.
  const greeting = JSON.parse(texts.stdout || '{}') as Greeting;
  if (!greeting.address) throw new Error(`fieldledger serve didn't start: ${texts.stderr}`);
  const listeners = process.listeners('SIGTERM').filter((listener) => !others.includes(listener));
  return {
    greeting,
    async stop() {
      for (const listener of listeners.splice(0)) listener('SIGTERM');
      return ended;
    },
  };
}

function runningOf(child: ChildProcess): Running {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const ended = new Promise<Ending>((resolve) => {
    child.once('close', (exitCode, signal) => resolve({ exitCode, signal }));
  });
  return {
    child,
    output,
    ended,
    async end(signal) {
      if (!hasEnded(child)) child.kill(signal);
      return ended;
    },
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function servedBy(running: Running): Promise<Served> {
  const { child, output } = running;
  await until(() => output.stdout.endsWith('\n') || hasEnded(child));
  if (!output.stdout.endsWith('\n')) throw new Error(`fieldledger serve didn't start: ${output.stderr}`);
  // It is the command's own JSON.
  const greeting = JSON.parse(output.stdout) as Greeting;
  const port = Number(new URL(greeting.address).port);
  return { ...running, greeting, port, logs: () => linesOf(output.stderr) };
}

/** The JSON lines of a log; a line that isn't whole yet is left out. */
export function linesOf(log: string): Record<string, unknown>[] {
  return log
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const PATIENCE_MS = 60_000;

/** Waits until something holds, and fails when that takes longer than any machine would. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`It doesn't come true: ${holds.toString()}`);
    await pause(5);
  }
}
