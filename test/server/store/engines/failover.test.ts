// Long: it starts two PostgreSQL servers of its own and has one take over.
// It takes longer than others: it starts pairs of PostgreSQL servers, and kills the first of them.
import { join } from 'node:path';
import { once } from 'node:events';

import t from 'tap';

import { openWorkplace, until } from '../../../_command.ts';
import { freePort } from '../../../_postgres.ts';
import { type ServerPair, startPair } from '../../../_standby.ts';
import { answersIn } from '../../backoffice/_feed.ts';
import { killFeed } from '../../backoffice/_kill-feed.ts';
import {
  differences,
  numberProblems,
  openFed,
  readState,
  runUndisturbed,
  type State,
  within,
} from '../../backoffice/_kill.ts';

/** How often the primary is killed; `make failover` asks for more. */
const FAILOVERS = Number(process.env.FAILOVERS ?? 1);
const LIFE_MS_MAX = 500;

const feed = killFeed(process.env.FAILOVERS === undefined ? 6 : 60);

interface Sent {
  failovers: number;
  problems: string[];
  state: State;
  longestSilenceMs: number;
}

/** Sends a feed to a server while its primary is killed, again and again, until all of it is answered. */
async function sendWithFailovers(pair: ServerPair, failoversMax: number): Promise<Sent> {
  await using fed = await openFed('postgres', feed, pair);
  const port = await freePort();
  const settings = { FEED_PORT: String(port), DELIVER_WEBHOOKS: 'off' };
  const FEED_TOKEN = (
    await fed.call('feed-token create --name erp --companies all --changes all')
  ).stdout.trim();
  await fed.serve([], settings);
  const sender = fed.start(['apply', fed.file, '--to', `http://127.0.0.1:${port}`], { FEED_TOKEN });
  const { stdout } = sender.child;
  let [heardAt, longestSilenceMs] = [Infinity, 0];
  stdout?.on('data', () => {
    longestSilenceMs = Math.max(longestSilenceMs, performance.now() - heardAt);
    heardAt = performance.now();
  });
  let failovers = 0;
  const isOver = () => sender.child.exitCode !== null;
  while (failovers < failoversMax && stdout) {
    await Promise.race([once(stdout, 'data'), sender.ended]);
    await within(Math.random() * LIFE_MS_MAX, sender.ended);
    if (isOver()) break;
    await pair.failOver();
    failovers += 1;
    await Promise.race([once(stdout, 'data'), sender.ended]);
    await pair.follow();
  }
  await sender.ended;
  const answers = answersIn(sender.output.stdout);
  const problems = answers.flatMap(({ line, id = '', status }, index) => [
    ...(line === index + 1 ? [] : [`line ${line} is out of order`]),
    ...(id.startsWith('refused') === (status === 'refused') ? [] : [`line ${line} is ${status}`]),
  ]);
  if (answers.length < feed.length) problems.push(`only ${answers.length} lines are answered`);
  const state = await readState(fed.databaseUrl);
  return { failovers, problems: [...problems, ...numberProblems(state)], state, longestSilenceMs };
}

t.test('a standby takes over: nothing answered is missing, and no number is there twice', async (t) => {
  const expected = await runUndisturbed('postgres', feed);
  await using pair = await startPair();
  const silences: number[] = [];
  for (let count = 0, round = 1; count < FAILOVERS; round += 1) {
    const { failovers, problems, state, longestSilenceMs } = await sendWithFailovers(pair, FAILOVERS - count);
    t.ok(failovers > 0, `feed ${round}: ${failovers} failovers`);
    t.strictSame(problems, [], `feed ${round}: each answer is true`);
    t.strictSame(differences(state, expected), [], `feed ${round}: the same is left`);
    if (failovers === 0) break;
    silences.push(longestSilenceMs);
    count += failovers;
  }
  t.comment(`The longest silence was ${Math.round(Math.max(...silences))} ms.`);
});

t.test('on a standby what only reads works, and a server waits for its promotion', async (t) => {
  await using pair = await startPair();
  await using workplace = await openWorkplace('postgres', { pair });
  await workplace.json(['company', 'create', 'acme', '--name', 'Acme']);
  const DATABASE_URL = workplace.databaseUrl.replace(/@[^/]+/, `@${new URL(pair.standbyUrl()).host}`);
  const onStandby = { DATABASE_URL: DATABASE_URL.replace(/\?.*/, '') };
  // What the primary has just been told is on its way.
  await until(async () => /acme/.test((await workplace.call('company list', onStandby)).stdout));
  for (const args of [
    ['verify'],
    ['company', 'list'],
    ['status'],
    ['company', 'export', 'acme', join(workplace.folder, 'acme')],
  ])
    t.match(await workplace.call(args, onStandby), { exitCode: 0 }, args.join(' '));
  const settings = { ...onStandby, PORT: '0', DELIVER_WEBHOOKS: 'off' };
  const server = workplace.start(['serve', '--json'], settings);
  await until(() => server.output.stderr.includes('database.away'));
  t.equal(server.child.exitCode, null, 'it waits');
  await pair.failOver();
  await until(() => server.output.stdout.endsWith('\n'));
  const { address } = JSON.parse(server.output.stdout) as { address: string };
  t.equal((await fetch(`${address}/readyz`)).status, 200);
});
