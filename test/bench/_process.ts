import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

import { freePort } from '../_postgres.ts';

/** A server that runs as a process of its own. */
export interface ServerProcess extends AsyncDisposable {
  url: string;
  pid: number;
  /** Processor time that it has used so far, in microseconds: what a request costs, whoever else is busy. */
  cpuMicroseconds: () => number;
  /** Memory that it holds now, in megabytes. */
  memory: () => Memory;
}

export interface Memory {
  residentMb: number;
  /** Its own, without the file of the database as far as that lies in memory. */
  ownMb: number;
}

export interface ProcessOptions {
  environment?: Record<string, string>;
  /** File that takes its standard error, where servers log. */
  logFile: string;
  /** Options of Node itself. */
  execArgv?: readonly string[];
  /** Where it will listen, if it doesn't say so. */
  url?: string;
}

const root = join(import.meta.dirname, '..', '..');
const program = join(root, 'src', 'fieldledger.js');
/** The options of Node in the program's first line: an operator runs it by its name. */
const productOptions = /^#!\S+ -S node (.+)\n/.exec(readFileSync(program, 'utf8'))?.[1]?.split(' ') ?? [];
/** Linux counts processor time in hundredths of a second. */
const MICROSECONDS_A_TICK = 10_000;

/** Starts `fieldledger serve` as an operator does: key check, limits, log and counts are on. */
export async function startProduct(databaseUrl: string, options: ProcessOptions): Promise<ServerProcess> {
  const environment = {
    DATABASE_URL: databaseUrl,
    PORT: '0',
    // The limits count, and are never reached.
    RATE_LIMIT_PER_MINUTE: '10000000',
    WRONG_KEYS_PER_MINUTE: '10000000',
    CONNECTIONS_PER_NETWORK_MAX: '10000',
    ...options.environment,
  };
  return startServer([program, 'serve'], { ...options, environment });
}

/** Starts Prism, which serves the examples of the contract; its log would cost it a good part of its time. */
export async function startPrism(logFile: string): Promise<ServerProcess> {
  const prism = join(root, 'node_modules', '.bin', 'prism');
  const port = await freePort();
  const contract = join(root, 'generated', 'openapi.json');
  const where = ['--host', '127.0.0.1', '--port', String(port)];
  return startServer([prism, 'mock', contract, ...where, '--verboseLevel', 'silent'], {
    url: `http://127.0.0.1:${port}`,
    logFile,
    // Otherwise it starts a second process only for its log.
    environment: { NODE_ENV: 'development' },
  });
}

/** Starts a script that prints its address once it listens, with the options that the product gives Node. */
export async function startServer(
  args: readonly string[],
  { environment = {}, logFile, execArgv = [], url: given }: ProcessOptions,
): Promise<ServerProcess> {
  const log = openSync(logFile, 'a');
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', ...environment };
  const child = spawn(process.execPath, [...productOptions, ...execArgv, ...args], {
    env,
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  const failed = once(child, 'exit').then((): never => {
    const said = readFileSync(logFile, 'utf8').slice(-2_000);
    throw new Error(`${args.join(' ')} ended before it listened.\n${said}`);
  });
  // Once it listens, its end is no failure.
  failed.catch(() => undefined);
  // Its standard output is a pipe.
  const address = given === undefined ? addressIn(child.stdout as Readable) : answering(given);
  const url = await Promise.race([address, failed]);
  const { pid = 0 } = child;
  return {
    url,
    pid,
    cpuMicroseconds: () => cpuMicroseconds(pid),
    memory: () => memoryOf(pid),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      // A server that holds idle connections may take its time, and nothing here is worth waiting for.
      const timer = setTimeout(() => child.kill('SIGKILL'), 2_000);
      await exited;
      clearTimeout(timer);
    },
  };
}

async function addressIn(output: Readable): Promise<string> {
  let text = '';
  return new Promise((resolve) => {
    output.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const [found] = /http:\/\/127\.0\.0\.1:\d+(?=\s)/.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
}

/** Waits until something answers there, for a minute at most. */
async function answering(url: string): Promise<string> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const response = await fetch(url).catch(() => undefined);
    if (response) return url;
    await pause(100);
  }
  throw new Error(`Nothing listens on ${url}.`);
}

function cpuMicroseconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold anything; user and system time are the 12th and 13th after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_A_TICK;
}

/** Memory that a process of this machine holds now. */
export function memoryOf(pid: number): Memory {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024;
  return { residentMb: megabytes('VmRSS'), ownMb: megabytes('RssAnon') };
}
