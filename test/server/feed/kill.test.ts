// Long: it kills real processes on each engine and waits until they go on.
import { setTimeout as pause } from 'node:timers/promises';

import got from 'got';
import pg from 'pg';
import t from 'tap';

import type { Answer } from '../../../src/contract/feed.ts';
import type { Running, Served } from '../../_command.ts';
import { freePort } from '../../_postgres.ts';
import { type EngineName, engineNames } from '../../_server.ts';
import { fedCompanies, killFeed } from '../backoffice/_kill-feed.ts';
import { startPooler } from '../store/engines/_pooler.ts';
import {
  endProblems,
  type Fed,
  kill,
  type Killed,
  leavesTheSame,
  openFed,
  problemsOf,
  readState,
  type Run,
  runUndisturbed,
  within,
} from '../backoffice/_kill.ts';

/** How often the sender, a server or the database is killed: each of them once, unless `make feed` asks for more. */
const killsOf = (name: EngineName, isCluster: boolean) =>
  Number(process.env.FEED_KILLS ?? (isCluster ? 4 : name === 'postgres' ? 3 : 2));
const LIFE_MS_MAX = 100;
const READ_MS = 20;

const feed = killFeed(process.env.FEED_KILLS === undefined ? 6 : 100);

/** A server that is started again at the same ports. */
interface Restarted {
  served: Served;
  settings: Record<string, string>;
}

/**
 * Sends the feed to a server elsewhere until all of it is answered, with as many kills as are asked for, or as it lasts for.
 * @param isCluster whether there are two servers behind a pooler, which the sender takes in turn.
 */
async function sendWithKills(name: EngineName, killsMax: number, isCluster: boolean): Promise<Killed> {
  await using fed = await openFed(name, feed);
  await using stack = new AsyncDisposableStack();
  const servers = isCluster ? await startCluster(fed, stack) : [await startServer(fed, fed.databaseUrl)];
  const FEED_TOKEN = (
    await fed.call('feed-token create --name erp --companies all --changes all')
  ).stdout.trim();
  const victims = ['sender', ...servers.keys(), ...(name === 'postgres' ? ['database'] : [])];
  const reader = stack.use(await readMeanwhile(fed, servers));
  let killCount = 0;
  let runCount = 0;
  let run: Run;
  const problems: string[] = [];
  const applied = new Map<number, Answer>();
  do {
    const port = servers[runCount % servers.length]?.settings.FEED_PORT;
    runCount += 1;
    const running = fed.start(['apply', fed.file, '--to', `http://127.0.0.1:${port}`], { FEED_TOKEN });
    while (killCount < killsMax && (await outlives(running))) {
      const victim = victims[killCount % victims.length];
      killCount += 1;
      if (victim === 'sender') break;
      await strike(fed, servers[Number(victim)]);
    }
    run = killCount < killsMax ? await kill(running) : await whole(running);
    problems.push(...problemsOf(run.answers, applied));
    for (const answer of run.answers) if (answer.status === 'applied') applied.set(answer.line, answer);
  } while (run.answers.length < feed.length);
  problems.push(...(await reader.stop()));
  const state = await readState(fed.databaseUrl);
  return { killCount, problems: [...problems, ...endProblems(feed, run, applied, state)], state };
}

/** Waits until changes are applied, and a random while longer. @returns whether the sender still runs. */
async function outlives({ child, ended }: Running): Promise<boolean> {
  const more = new Promise<void>((resolve) => {
    const onData = (text: string) => {
      if (!text.includes('"status":"applied"')) return;
      child.stdout?.off('data', onData);
      resolve();
    };
    child.stdout?.on('data', onData);
  });
  await Promise.race([more, ended]);
  await within(Math.random() * LIFE_MS_MAX, ended);
  return child.exitCode === null;
}

/** Starts two servers behind a pooler. */
async function startCluster(fed: Fed, stack: AsyncDisposableStack): Promise<Restarted[]> {
  const { url } = stack.use(await startPooler(fed.databaseUrl, { sessionCount: 6 }));
  return [await startServer(fed, url), await startServer(fed, url)];
}

async function startServer(fed: Fed, databaseUrl: string): Promise<Restarted> {
  const [FEED_PORT, PORT] = [String(await freePort()), String(await freePort())];
  // Deliveries would change what is compared.
  const quiet = { DELIVER_WEBHOOKS: 'off', RATE_LIMIT_PER_MINUTE: '1000000' };
  const settings = { FEED_PORT, PORT, DATABASE_URL: databaseUrl, ...quiet };
  return { served: await fed.serve([], settings), settings };
}

/** Kills a server, or cuts the connections of all. */
async function strike(fed: Fed, server: Restarted | undefined): Promise<void> {
  if (!server) return cutConnections(fed.databaseUrl);
  await server.served.end('SIGKILL');
  server.served = await fed.serve([], server.settings);
}

/** Reads a company's jobs from all servers in turn. @returns what stops it, and tells of answers that are neither a page nor 503. */
async function readMeanwhile(fed: Fed, servers: readonly Restarted[]) {
  const [company = ''] = fedCompanies.map(({ id }) => id);
  await fed.call(['company', 'set', company, '--api']);
  const { stdout } = await fed.call(['key', 'create', company, '--scopes', 'jobs:read']);
  const headers = { authorization: `Bearer ${stdout.trim().split('\n').at(-1)}` };
  const problems: string[] = [];
  let pages = 0;
  const stopping = new AbortController();
  const read = async () => {
    for (let turn = 0; !stopping.signal.aborted; turn += 1) {
      const { PORT } = servers[turn % servers.length]?.settings ?? {};
      const answered = await got(`http://127.0.0.1:${PORT}/api/v1/jobs`, {
        ...{ headers, throwHttpErrors: false, retry: { limit: 0 }, timeout: { request: 20_000 } },
      }).catch(() => undefined);
      if (answered?.statusCode === 200) pages += 1;
      else if (answered && answered.statusCode !== 503)
        problems.push(`${answered.statusCode} ${answered.body}`);
      await pause(READ_MS);
    }
  };
  const reading = read();
  const stop = async () => {
    stopping.abort();
    await reading;
    return pages > 0 ? problems : [...problems, 'no page was read'];
  };
  return {
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

/** Ends every connection to a database in whatever it is doing, as when its server is killed. */
async function cutConnections(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`);
  await client.end();
}

async function whole(running: Running): Promise<Run> {
  await running.ended;
  return kill(running);
}

for (const [name, isCluster] of [
  ...engineNames.map((one) => [one, false] as const),
  ['postgres', true] as const,
]) {
  const where = isCluster ? `${name}, two servers behind a pooler` : name;
  t.test(`${where}: whatever is killed while a feed is sent, it leaves the same`, async (t) => {
    const undisturbed = await runUndisturbed(name, feed);
    await leavesTheSame(t, killsOf(name, isCluster), undisturbed, (killsMax) =>
      sendWithKills(name, killsMax, isCluster),
    );
  });
}
