import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposableSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** A server that runs as a process of its own. */
export interface Server extends AsyncDisposable {
  url: string;
  pid: number;
}

const program = join(import.meta.dirname, '..', '..', 'src', 'fieldledger.js');
/** The options of Node in the program's first line: an operator runs it by its name. */
const productOptions = /^#!\S+ -S node (.+)\n/.exec(readFileSync(program, 'utf8'))?.[1]?.split(' ') ?? [];
/** Linux counts processor time in hundredths of a second. */
const MICROSECONDS_A_TICK = 10_000;

/** Starts `fieldledger serve` as an operator does: key check, limits, log and counts are on. */
export async function startProduct(
  databaseUrl: string,
  environment: Record<string, string> = {},
): Promise<Server> {
  return startServer([program, 'serve'], {
    DATABASE_URL: databaseUrl,
    PORT: '0',
    // The limits count, and are never reached.
    RATE_LIMIT_PER_MINUTE: '10000000',
    WRONG_KEYS_PER_MINUTE: '10000000',
    CONNECTIONS_PER_NETWORK_MAX: '10000',
    ...environment,
  });
}

/** Starts a script that prints its address once it listens, with the options that the product gives Node. */
export async function startServer(
  args: readonly string[],
  environment: Record<string, string>,
): Promise<Server> {
  const folder = mkdtempDisposableSync(join(tmpdir(), 'fieldledger-bench-'));
  const logFile = join(folder.path, 'log');
  const child = spawn(process.execPath, [...productOptions, ...args], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'pipe', openSync(logFile, 'a')],
  });
  // Its standard output is a pipe.
  for await (const line of createInterface(child.stdout as Readable)) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (url !== undefined) return { url, pid: child.pid ?? 0, [Symbol.asyncDispose]: end };
  }
  throw new Error(`${args.join(' ')} ended before it listened.\n${readFileSync(logFile, 'utf8')}`);

  async function end(): Promise<void> {
    const exited = once(child, 'exit');
    // Idle connections would hold up another ending, and nothing here is worth waiting for.
    if (child.kill('SIGKILL')) await exited;
    folder.remove();
  }
}

/** Processor time that a process has used so far: what its work costs, whoever else is busy. */
export function cpuMicroseconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold anything; user and system time are the 12th and 13th after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_A_TICK;
}

/** Memory in megabytes: all that is resident, and a process's own, without the file of the database. */
export interface Memory {
  resident: number;
  own: number;
}

export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024;
  return { resident: megabytes('VmRSS'), own: megabytes('RssAnon') };
}

/** The most memory that a process holds while something is done. */
export async function highestMemory(pid: number, work: () => Promise<unknown>): Promise<Memory> {
  let highest = memoryOf(pid);
  const timer = setInterval(() => {
    const { resident, own } = memoryOf(pid);
    highest = { resident: Math.max(highest.resident, resident), own: Math.max(highest.own, own) };
  }, 50);
  try {
    await work();
    return highest;
  } finally {
    clearInterval(timer);
  }
}
