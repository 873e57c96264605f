import pg from 'pg';
import t from 'tap';

import type { Answer } from '../../../src/contract/feed.ts';
import type { Running, Served } from '../../_command.ts';
import { freePort } from '../../_postgres.ts';
import { type EngineName, engineNames } from '../../_server.ts';
import { killFeed } from '../backoffice/_kill-feed.ts';
import {
  differences,
  type Fed,
  kill,
  numberProblems,
  openFed,
  readState,
  type Run,
  runUndisturbed,
  stampProblems,
  type State,
  within,
} from '../backoffice/_kill.ts';

/** How often the sender, the server or the database is killed on each engine; `make feed` asks for more. */
const KILLS = Number(process.env.FEED_KILLS ?? 4);
const LIFE_MS_MAX = 100;

const feed = killFeed(process.env.FEED_KILLS === undefined ? 6 : 100);

interface Sent {
  killCount: number;
  problems: string[];
  state: State;
}

/** Sends the feed to a server elsewhere until all of it is answered, with as many kills as are asked for, or as it lasts for. */
async function sendWithKills(name: EngineName, killsMax: number): Promise<Sent> {
  await using fed = await openFed(name, feed);
  const port = await freePort();
  // Deliveries would change what is compared.
  const settings = { FEED_PORT: String(port), DELIVER_WEBHOOKS: 'off' };
  const FEED_TOKEN = (await fed.call(['feed-token', 'create', '--name', 'erp'])).stdout.trim();
  const victims = ['sender', 'server', ...(name === 'postgres' ? ['database'] : [])];
  let served = await fed.serve([], settings);
  let killCount = 0;
  let run: Run;
  const problems: string[] = [];
  const applied = new Map<number, Answer>();
  do {
    const running = fed.start(['apply', fed.file, '--to', `http://127.0.0.1:${port}`], { FEED_TOKEN });
    while (killCount < killsMax && (await outlives(running))) {
      const victim = victims[killCount % victims.length];
      killCount += 1;
      if (victim === 'sender') break;
      if (victim === 'server') served = await restart(fed, served, settings);
      else await cutConnections(fed.databaseUrl);
    }
    run = killCount < killsMax ? await kill(running) : await whole(running);
    problems.push(...problemsOf(run.answers, applied));
    for (const answer of run.answers) if (answer.status === 'applied') applied.set(answer.line, answer);
  } while (run.answers.length < feed.length);
  // The refused lines are why it isn't 0.
  if (run.exitCode !== 1) problems.push(`the last run ended with ${run.exitCode}: ${run.stderr}`);
  const inOrder = [...applied.values()].sort((a, b) => a.line - b.line);
  problems.push(...stampProblems(feed, inOrder));
  const state = await readState(fed.databaseUrl);
  return { killCount, problems: [...problems, ...numberProblems(state)], state };
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

async function restart(fed: Fed, { end }: Served, settings: Record<string, string>): Promise<Served> {
  await end('SIGKILL');
  return fed.serve([], settings);
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

/** What is untrue of a run's answers, given what was applied by the runs before it. */
function problemsOf(answers: readonly Answer[], before: ReadonlyMap<number, Answer>): string[] {
  return answers.flatMap(({ line, id = '', status }, index) => {
    const isRefused = id.startsWith('refused');
    return [
      ...(line === index + 1 ? [] : [`line ${line} is out of order`]),
      ...(isRefused === (status === 'refused') ? [] : [`line ${line} is ${status}`]),
      ...(before.has(line) && status !== 'skipped' ? [`line ${line} is applied twice`] : []),
    ];
  });
}

for (const name of engineNames) {
  t.test(
    `${name}: whatever is killed while a feed is sent, it leaves what an undisturbed one leaves`,
    async (t) => {
      const undisturbed = await runUndisturbed(name, feed);
      for (let killCount = 0, round = 1; killCount < KILLS; round += 1) {
        const sent = await sendWithKills(name, KILLS - killCount);
        const about = `feed ${round}, ${sent.killCount} kills`;
        t.strictSame(sent.problems, [], `${about}: each answer is true`);
        t.strictSame(differences(sent.state, undisturbed), [], `${about}: the same is left`);
        killCount += sent.killCount;
      }
    },
  );
}
