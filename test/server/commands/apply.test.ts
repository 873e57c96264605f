// Long: it gives a process fifteen thousand lines and bounds its memory.
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import t from 'tap';

import { openWorkplace } from '../../_command.ts';
import { feedOf } from '../backoffice/_feed.ts';
import { countJobs, fileOf, jobs, openAcme, shortAnswers, summaryIn } from './_apply.ts';

t.test('a feed is applied from a file and from standard input, and skipped again', async (t) => {
  await using workplace = await openAcme();
  // By its name alone, in the folder where the command runs.
  fileOf(workplace, feedOf(jobs(3)));
  const first = await workplace.run('apply feed.jsonl');
  t.equal(first.exitCode, 0);
  t.strictSame(shortAnswers(first.stdout), [
    '1 change 1 applied',
    '2 change 2 applied',
    '3 change 3 applied',
  ]);
  t.match(first.stderr, /^3 lines: 3 applied, 0 skipped, 0 refused, in \d+\.\d s\n$/);
  for (const [line, fourth] of [
    ['apply --json', '4 change 4 applied'],
    ['apply - --json', '4 change 4 skipped'],
  ] as const) {
    const running = workplace.start(line, {}, 'pipe');
    running.child.stdin?.end(feedOf(jobs(4)));
    t.strictSame(await running.ended, { exitCode: 0, signal: null });
    const [skipped, ...rest] = shortAnswers(running.output.stdout);
    t.strictSame([skipped, rest.at(-1)], ['1 change 1 skipped', fourth]);
  }
  t.equal(await countJobs(workplace), 4);
});

t.test('the summary reads well at any number, and an empty feed is no failure', async (t) => {
  await using workplace = await openAcme();
  for (const [feed, exitCode, summary] of [
    ['', 0, '0 lines: 0 applied, 0 skipped, 0 refused'],
    ['\n\n', 0, '0 lines: 0 applied, 0 skipped, 0 refused'],
    ['\ufeff', 0, '0 lines: 0 applied, 0 skipped, 0 refused'],
    [feedOf(jobs(1)), 0, '1 line: 1 applied, 0 skipped, 0 refused'],
    [feedOf([...jobs(1_234), 'bad']), 1, '1,235 lines: 1,233 applied, 1 skipped, 1 refused'],
  ] as const) {
    const applied = await workplace.call(`apply ${fileOf(workplace, feed)}`);
    t.match(applied, { exitCode, stderr: new RegExp(`^${summary}, in \\d+\\.\\d s\\n$`) });
    t.equal(applied.stdout === '', summary.startsWith('0'));
  }
});

const isSuperuser = process.getuid?.() === 0 && 'the superuser may read everything';
t.test('a file that may not be read is a mistake in the command', { skip: isSuperuser }, async (t) => {
  await using workplace = await openWorkplace();
  const locked = fileOf(workplace, '');
  chmodSync(locked, 0o000);
  const stderr = `value '${locked}' is invalid for argument 'file'. It may not be read.\n`;
  t.match(await workplace.call(`apply ${locked}`), { exitCode: 2, stdout: /^$/, stderr });
});

/** The memory that a process has of its own, in MiB; nothing where the system doesn't tell. */
function ownMemory(pid = 0): number {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return 0;
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(path, 'utf8'))?.[1]) / 1024;
}

t.test('a feed takes no more memory at its end than at its beginning', async (t) => {
  await using workplace = await openAcme();
  const count = 15_000;
  // Feed and answers are some 50 MB each, so that holding on to either would show.
  const notes = 'The dog is friendly. '.repeat(140);
  const file = fileOf(workplace, feedOf(jobs(count, 1, { notes })));
  const running = workplace.start(`apply ${file} --json`, { NODE_OPTIONS: '--max-old-space-size=128' });
  const { child } = running;
  let answered = 0;
  let early = 0;
  let late = 0;
  child.stdout?.removeAllListeners('data').on('data', (text: string) => {
    answered += text.split('\n').length - 1;
    // Before that, what is kept for good fills: compiled code, pages of the database, room for what dies young.
    if (answered >= 0.3 * count) early ||= ownMemory(child.pid);
    // Near the end, while the process still lives.
    if (answered >= 0.95 * count) late ||= ownMemory(child.pid);
  });
  t.strictSame(await running.ended, { exitCode: 0, signal: null });
  t.equal(answered, count);
  t.match(summaryIn(running.output), { lines: count, applied: count });
  t.ok(late - early < 25, `${early.toFixed(1)} MiB, and then ${late.toFixed(1)} MiB`);
});
