import got from 'got';
import t from 'tap';

import type { FeedToken } from '../../../../src/server/features/feed-tokens/stored-feed-tokens.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { openWorkplace, until } from '../../../_command.ts';
import { feedOf } from '../../backoffice/_feed.ts';
import { countJobs, jobs, openAcme } from '../../commands/_apply.ts';

t.test('tokens are created, listed without their secrets, and revoked', async (t) => {
  await using workplace = await openWorkplace();
  const { json, call } = workplace;
  await json('company create acme');
  t.equal((await call('feed-token list')).stdout, 'No feed tokens.\n');
  const prose = await call('feed-token create --name erp --companies all --changes all');
  const stderr = /^Keep this token in a secret store: it won't be shown again\.\n$/;
  t.match(prose, { exitCode: 0, stdout: /^fl-feed\.[0-9a-f]{12}\.[\w-]{43}\n$/, stderr }, 'for a pipe');
  const made = await json<FeedToken & { token: string }>(
    "feed-token create --name crm --companies acme --changes 'job.create, job.update'",
  );
  const [, id = '', secret = ''] = made.token.split('.');
  const limits = { companies: ['acme'], changes: ['job.create', 'job.update'] };
  t.match(made, { id, name: 'crm', ...limits, usedAt: null });
  t.equal((await call(`feed-token revoke ${id}`)).stdout, `Revoked ${id}.\n`);
  const listed = await json<FeedToken[]>('feed-token list');
  t.match(listed, [
    { name: 'erp', companies: null, revokedAt: null },
    { id, revokedAt: /Z$/ },
  ]);
  const { stdout } = await call('feed-token list');
  t.match(stdout, /^ID +NAME +STATE +CREATED +LAST USED +COMPANIES +CHANGES +PORTAL LINKS\n/);
  t.match(stdout, new RegExp(`${id} +crm +revoked \\S+ +\\S+ +never +acme +job.create,job.update +none\n`));
  t.notMatch(stdout + JSON.stringify(listed), secret);
  const refused: [args: string, exitCode: number, message: RegExp][] = [
    ['create', 2, /--name/],
    ['create --name x --companies all', 2, /'--changes <names>' not specified/],
    ["create --name x --changes all --companies ' , '", 1, /A list is empty/],
    ['create --name x --changes all --companies bolt', 1, /There is no company "bolt"/],
    ['revoke nobody', 1, /There is no feed token "nobody"/],
  ];
  for (const [args, exitCode, message] of refused)
    t.match(await call(`feed-token ${args}`), { exitCode, stdout: /^$/, stderr: message });
});

t.test('the feed is served on FEED_PORT, and a stop lets a batch under way finish', async (t) => {
  await using workplace = await openAcme();
  const token = (
    await workplace.call('feed-token create --name erp --companies all --changes all')
  ).stdout.trim();
  const without = await workplace.serveHere();
  t.notOk('feed' in without.greeting, 'only where it is asked for');
  await without.stop();
  const served = await workplace.serve([], { FEED_PORT: '0', SHUTDOWN_SECONDS: '60' });
  const { feed = '' } = served.greeting;
  t.match(feed, /^http:\/\/127\.0\.0\.1:\d+$/);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
  const batch = got.post(`${feed}/feed/v1/changes`, {
    body: feedOf(jobs(1_000)),
    headers,
    retry: { limit: 0 },
  });
  await until(async () => (await countJobs(workplace)) > 0);
  const stopped = served.end('SIGTERM');
  const answers = (await batch.text()).trimEnd().split('\n');
  t.equal(answers.filter((answer) => answer.includes('"status":"applied"')).length, 1_000);
  t.strictSame(await stopped, { exitCode: 0, signal: null });
  t.equal(await countJobs(workplace), 1_000);
  const logged = served.logs().find(({ msg }) => msg === 'feed.answered');
  t.match(logged, { operation: 'applyChanges', status: 200, applied: 1_000, token: token.split('.')[1] });
  t.notMatch(served.output.stderr, token.split('.')[2] ?? token);
  await using engine = await openEngine(workplace.databaseUrl);
  t.match(await engine.run('SELECT used_at FROM feed_tokens'), [{ used_at: /Z$/ }]);

  const [, id = ''] = token.split('.');
  const changes = 'company changes acme';
  const [latest, ...others] = await workplace.json<{ id: string; recordId: string }[]>(
    `${changes} --token ${id}`,
  );
  t.equal(others.length, 99, 'a hundred unless told');
  t.match(latest, { change: 'job.create', resource: 'jobs', token: id, appliedAt: /Z$/ });
  const { id: change = '', recordId: record = '' } = latest ?? {};
  t.match(await workplace.json(`${changes} --record ${record}`), [{ id: change, token: id }]);
  t.match(
    (await workplace.call(`${changes} --record ${record}`)).stdout,
    new RegExp(`^APPLIED +CHANGE +RECORD +TOKEN +ID\n\\S+Z +job.create +${record} +${id} +${change}\n$`),
  );
  t.equal((await workplace.call(`${changes} --token other`)).stdout, 'No changes.\n');
  t.match(await workplace.call('company changes bolt'), { exitCode: 1, stderr: /no company "bolt"/ });
});
