import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

import { until } from '../../_command.ts';
import { freePort } from '../../_postgres.ts';
import { feedOf } from '../backoffice/_feed.ts';
import { countJobs, fileOf, job, jobs, openAcme, shortAnswers, summaryIn } from './_apply.ts';

/** A company with a server of its feed; `to` are the options that lead there. */
async function openElsewhere() {
  const workplace = await openAcme();
  const { feed = '' } = (await workplace.serveHere([], { FEED_PORT: '0' })).greeting;
  const token = (
    await workplace.call('feed-token create --name erp --companies all --changes all')
  ).stdout.trim();
  const file = join(workplace.folder, 'token.txt');
  writeFileSync(file, `\ufeff${token}\r\n`);
  return { ...workplace, feed, to: `--to ${feed} --token-file ${file}` };
}

/** All that a command knows must come from its options. */
const NOWHERE = { DATABASE_URL: 'sqlite:/nowhere/nothing.db' };

t.test('a feed that is sent elsewhere is answered as if it were applied here', async (t) => {
  await using there = await openElsewhere();
  await using here = await openAcme();
  const longest = JSON.stringify(job(500)).padEnd(8 * 1024 * 1024, ' ');
  const feed = Buffer.concat([
    Buffer.from(`\ufeff \r\n${JSON.stringify(job(1))}\r\n`),
    Buffer.from(
      feedOf(['', 'nonsense', job(1), '{"id":"other","company":"acme","change":"job.delete","with":{}}']),
    ),
    Buffer.from([0x22, 0xe9, 0x22, 0x0a]),
    Buffer.from(`${longest}\n${longest} \n`),
    Buffer.from(feedOf([JSON.stringify(job(2)).replace('acme', 'nobody'), '   ', ...jobs(250, 3)])),
    Buffer.from(JSON.stringify(job(2))),
  ]);
  const local = await here.call(`apply ${fileOf(here, feed)} --json`);
  const line = `apply ${fileOf(there, feed)} ${there.to} --json`;
  const remote = await there.call(line, NOWHERE);
  t.strictSame([local.exitCode, remote.exitCode], [1, 1]);
  t.strictSame(shortAnswers(remote.stdout), shortAnswers(local.stdout));
  t.strictSame(shortAnswers(remote.stdout).slice(0, 8), [
    '2 change 1 applied',
    '4 malformed_line',
    '5 change 1 skipped',
    '6 other unknown_change at /change',
    '7 malformed_line',
    '8 change 500 applied',
    '9 malformed_line',
    '10 change 2 unknown_company at /company',
  ]);
  t.match(summaryIn(local), { applied: 253, skipped: 1, refused: 5, stopped: null });
  t.strictSame(summaryIn(remote), summaryIn(local));
  t.equal(await countJobs(there), await countJobs(here));
  const again = await there.call(line, NOWHERE);
  t.match(summaryIn(again), { applied: 0, skipped: 254, refused: 5, stopped: null });
});

t.test('what is not taken is told with its reason, and a change without an id is refused', async (t) => {
  await using there = await openElsewhere();
  const { call, feed, folder } = there;
  const apply = `apply ${fileOf(there, feedOf([{ ...job(1), id: undefined }, ...jobs(2)]))}`;
  t.match(
    (await call(`${apply} ${there.to}`)).stdout,
    /^\{"line":1,"status":"refused","error":\{"code":"invalid_change","message":"The change has no id/,
  );
  const { stdout: token } = await call('feed-token create --name crm --companies all --changes job.update');
  const [limited, empty] = [join(folder, 'limited.txt'), join(folder, 'empty.txt')];
  writeFileSync(limited, token);
  writeFileSync(empty, '');
  const withLimited = `${apply} --to ${feed} --token-file ${limited}`;
  t.strictSame(shortAnswers((await call(withLimited)).stdout).slice(1), [
    '2 change 1 not_allowed at /change',
    '3 change 2 not_allowed at /change',
  ]);
  await call(`feed-token revoke ${token.split('.')[1]}`);
  const revoked = await call(`${withLimited} --json`);
  const message = 'POST /feed/v1/changes: 401 revoked_key: This feed token was revoked.';
  t.strictSame(summaryIn(revoked).stopped, { reason: 'unsent', line: 0, message });
  t.strictSame([revoked.exitCode, revoked.stdout], [1, '']);
  const mistakes: [line: string, message: RegExp][] = [
    [withLimited, /^0 lines: .*; stopped after line 0: POST .*revoked\.\n$/],
    [
      `${apply} --to ${feed}`,
      /^fieldledger: A feed token is missing: name its file with --token-file, or set FEED_TOKEN\.\n$/,
    ],
    [
      `${apply} --to ${feed} --token-file ${empty}`,
      /^fieldledger: --token-file names ".*empty\.txt", which is empty\.\n$/,
    ],
  ];
  for (const [line, stderr] of mistakes) t.match(await call(line), { exitCode: 1, stderr });
});

t.test('a feed elsewhere that is away is waited for, and then each line is sent at once', async (t) => {
  await using workplace = await openAcme();
  const token = (
    await workplace.call('feed-token create --name erp --companies all --changes all')
  ).stdout.trim();
  const port = String(await freePort());
  const start = () => {
    const settings = { ...NOWHERE, FEED_TOKEN: token };
    const running = workplace.start(`apply --to http://127.0.0.1:${port}`, settings, 'pipe');
    running.child.stdin?.write(feedOf([job(1)]));
    return running;
  };
  const [waiting, stopped] = [start(), start()];
  for (const { output } of [waiting, stopped])
    await until(() => /no answer came \(.*ECONNREFUSED.*\)\. Trying again\.\n/.test(output.stderr));
  t.strictSame(await stopped.end('SIGTERM'), { exitCode: 1, signal: null });
  t.match(stopped.output.stderr, /stopped after line 0: SIGTERM\n$/);
  await workplace.serveHere([], { FEED_PORT: port });
  const answered = (count: number) => until(() => waiting.output.stdout.split('\n').length > count);
  await answered(1);
  waiting.child.stdin?.write(feedOf([job(2)]));
  await answered(2);
  waiting.child.stdin?.end();
  t.strictSame(await waiting.ended, { exitCode: 0, signal: null });
  t.strictSame(shortAnswers(waiting.output.stdout), ['1 change 1 applied', '2 change 2 applied']);
  t.match(waiting.output.stderr, /\n2 lines: 2 applied, 0 skipped, 0 refused, in \d+\.\d s\n$/);
});
