// Long: it stops real processes in the middle of a feed.
import { execFileSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';

import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { type Running, until, type Workplace } from '../../_command.ts';
import { jobCreate } from '../backoffice/_changes.ts';
import { answersIn, feedOf } from '../backoffice/_feed.ts';
import { countJobs, fileOf, jobs, openAcme, shortAnswers, summaryIn } from './_apply.ts';

/** Starts a feed on standard input that doesn't end by itself, and waits until its first lines are answered. */
async function startFeed(workplace: Workplace, count: number): Promise<Running> {
  const running = workplace.start('apply --json', {}, 'pipe');
  running.child.stdin?.write(feedOf(jobs(count)));
  await until(() => running.output.stdout.split('\n').length > count);
  return running;
}

t.test('a line is answered as soon as it is there, and a signal stops a feed that waits', async (t) => {
  await using workplace = await openAcme();
  const running = await startFeed(workplace, 1);
  const text = feedOf(jobs(1, 2));
  running.child.stdin?.write(text.slice(0, 40));
  running.child.stdin?.write(text.slice(40));
  await until(() => running.output.stdout.split('\n').length > 2);
  // An unfinished line is no line yet.
  running.child.stdin?.write('{"id":"change 3",');
  t.strictSame(await running.end('SIGTERM'), { exitCode: 1, signal: null });
  t.strictSame(shortAnswers(running.output.stdout), ['1 change 1 applied', '2 change 2 applied']);
  const stopped = { reason: 'signal', line: 2, message: 'SIGTERM' };
  t.strictSame(summaryIn(running.output), { lines: 2, applied: 2, skipped: 0, refused: 0, stopped });
});

/** Lines that are more than pipes and files hold ready, so that a feed of them is always caught half-way. */
const MANY = 4_000;
const many = (count = MANY) => feedOf(jobs(count, 1, { notes: 'The dog is friendly. '.repeat(100) }));

t.test('SIGTERM in the middle of a feed finishes the line under way, and no other', async (t) => {
  await using workplace = await openAcme();
  const running = workplace.start(`apply ${fileOf(workplace, many())}`);
  await until(() => running.output.stdout.includes('\n'));
  t.strictSame(await running.end('SIGTERM'), { exitCode: 1, signal: null });
  const { length } = answersIn(running.output.stdout);
  t.ok(length < MANY, `${length} lines were answered`);
  t.equal(await countJobs(workplace), length, 'what is answered is stored, and nothing else');
  const shown = length.toLocaleString('en');
  const summary = `${shown} lines?: ${shown} applied, 0 skipped, 0 refused, in .+ s; stopped after line ${shown}: SIGTERM`;
  t.match(running.output.stderr, new RegExp(`^${summary}\\n$`));

  const again = await workplace.call(`apply --json ${fileOf(workplace, many(length + 2))}`);
  t.match(summaryIn(again), { skipped: length, applied: 2, stopped: null });
});

t.test('a named pipe is read like a file, and a signal is heard while it is silent', async (t) => {
  await using workplace = await openAcme();
  const pipe = join(workplace.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const running = workplace.start(`apply ${pipe} --json`);
  const writer = createWriteStream(pipe);
  writer.on('error', () => undefined).write(feedOf(jobs(1)));
  await until(() => running.output.stdout.includes('\n'));
  t.strictSame(await running.end('SIGTERM'), { exitCode: 1, signal: null });
  t.match(summaryIn(running.output), { lines: 1, stopped: { reason: 'signal', line: 1 } });
  writer.destroy();
});

t.test('a feed whose answers nobody reads any longer stops, and says where', async (t) => {
  await using workplace = await openAcme();
  const running = workplace.start(`apply ${fileOf(workplace, many())} --json`);
  await until(() => running.output.stdout.includes('\n'));
  running.child.stdout?.destroy();
  t.strictSame(await running.ended, { exitCode: 1, signal: null });
  const summary = summaryIn(running.output);
  t.match(summary, { refused: 0, stopped: { reason: 'closed', message: 'nobody reads the answers' } });
  t.equal(await countJobs(workplace), summary.applied);
  t.ok(Number(summary.applied) < MANY, `${String(summary.applied)} lines were applied`);
});

t.test('a feed waits for who reads its answers', async (t) => {
  await using workplace = await openAcme();
  const running = workplace.start(`apply ${fileOf(workplace, many())}`);
  running.child.stdout?.pause();
  // It fills what lies between the two processes, and goes no further.
  let before = -1;
  await until(async () => {
    const count = await countJobs(workplace);
    const isStill = count > 0 && count === before;
    before = count;
    await pause(500);
    return isStill;
  });
  t.ok(before < MANY, `${before} lines were applied`);
  running.child.stdout?.resume();
  t.strictSame(await running.ended, { exitCode: 0, signal: null });
  t.equal(answersIn(running.output.stdout).length, MANY);
});

/** Whether a feed has told that it waits for its database. */
const waits = ({ output }: Running) => output.stderr.includes('"away"');

t.test('sqlite: a feed waits for a database that stays locked, until it is told to stop', async (t) => {
  await using workplace = await openAcme();
  const [goesOn, isStopped] = [await startFeed(workplace, 1), await startFeed(workplace, 1)];
  const start = (changes: object[]) => {
    const running = workplace.start('apply --json', {}, 'pipe');
    running.child.stdin?.end(feedOf(changes));
    return running;
  };
  await using engine = await openEngine(workplace.databaseUrl);
  const startsLate = await engine.transaction(async () => {
    goesOn.child.stdin?.end(feedOf(jobs(2, 2)));
    isStopped.child.stdin?.write(feedOf(jobs(2, 2)));
    const [late, nameless] = [start(jobs(2, 4)), start([{ company: 'acme', ...jobCreate({ id: 'job_9' }) }])];
    for (const running of [goesOn, isStopped, late]) await until(() => waits(running));
    t.strictSame(await isStopped.end('SIGTERM'), { exitCode: 1, signal: null });
    t.strictSame(await nameless.ended, { exitCode: 1, signal: null });
    const stopped = { reason: 'unavailable', line: 1, message: 'database is locked' };
    t.match(summaryIn(nameless.output), { stopped }, 'a change without an id is not tried again');
    return late;
  });
  const answers = ({ output }: Running) => shortAnswers(output.stdout);
  t.strictSame(answers(isStopped), ['1 change 1 skipped', '2 change 2 unavailable']);
  for (const running of [goesOn, startsLate])
    t.strictSame(await running.ended, { exitCode: 0, signal: null });
  t.strictSame(answers(goesOn), ['1 change 1 applied', '2 change 2 applied', '3 change 3 applied']);
  t.match(goesOn.output.stderr, /^{"away":"database is locked"}\n{"lines":3,/);
  t.strictSame(answers(startsLate), ['1 change 4 applied', '2 change 5 applied']);
  t.equal(await countJobs(workplace), 5);
});
