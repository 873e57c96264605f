import { execFileSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';

import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { type Running, until, type Workplace } from '../../_command.ts';
import { jobCreate } from '../backoffice/_changes.ts';
import { answersIn, feedOf } from '../backoffice/_feed.ts';
import { countJobs, fileOf, jobs, openAcme, shortAnswers, summaryIn } from './_apply.ts';

/** Starts a feed on standard input that doesn't end by itself, and waits until its first lines are answered. */
async function startFeed(workplace: Workplace, count: number): Promise<Running> {
  const running = workplace.start(['apply', '--json'], {}, 'pipe');
  running.child.stdin?.write(feedOf(jobs(count)));
  await until(() => running.output.stdout.split('\n').length > count);
  return running;
}

t.test('a line is answered as soon as it is there', async (t) => {
  await using workplace = await openAcme();
  const running = await startFeed(workplace, 1);
  const text = feedOf(jobs(1, 2));
  running.child.stdin?.write(text.slice(0, 40));
  running.child.stdin?.write(text.slice(40));
  await until(() => running.output.stdout.split('\n').length > 2);
  t.strictSame(shortAnswers(running.output.stdout), ['1 change 1 applied', '2 change 2 applied']);
  t.notOk(running.child.exitCode);
  running.child.stdin?.end();
  t.strictSame(await running.ended, { exitCode: 0, signal: null });
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  t.test(`${signal} stops a feed that waits for more`, async (t) => {
    await using workplace = await openAcme();
    const running = await startFeed(workplace, 2);
    // An unfinished line is no line yet.
    running.child.stdin?.write('{"id":"change 3",');
    t.strictSame(await running.end(signal), { exitCode: 1, signal: null });
    t.strictSame(shortAnswers(running.output.stdout), ['1 change 1 applied', '2 change 2 applied']);
    t.strictSame(summaryIn(running.output), {
      lines: 2,
      applied: 2,
      skipped: 0,
      refused: 0,
      stopped: { reason: 'signal', line: 2, message: signal },
    });
  });
}

/** Lines that are more than pipes and files hold ready, so that a feed of them is always caught half-way. */
const MANY = 4_000;
const many = (count = MANY) => feedOf(jobs(count, 1, { notes: 'The dog is friendly. '.repeat(100) }));

t.test(
  'SIGTERM in the middle of a feed finishes the line under way, and the rest can be sent again',
  async (t) => {
    await using workplace = await openAcme();
    const running = workplace.start(['apply', fileOf(workplace, many())]);
    await until(() => running.output.stdout.includes('\n'));
    t.strictSame(await running.end('SIGTERM'), { exitCode: 1, signal: null });
    const { length } = answersIn(running.output.stdout);
    t.ok(length < MANY, `${length} lines were answered`);
    t.equal(await countJobs(workplace), length, 'what is answered is stored, and nothing else');
    const shown = length.toLocaleString('en');
    const summary = `${shown} lines?: ${shown} applied, 0 skipped, 0 refused, in .+ s; stopped after line ${shown}: SIGTERM`;
    t.match(running.output.stderr, new RegExp(`^${summary}\\n$`));

    const again = await workplace.call(['apply', '--json', fileOf(workplace, many(length + 2))]);
    t.match(summaryIn(again), { skipped: length, applied: 2, stopped: null });
  },
);

t.test('a second signal ends the process at once', async (t) => {
  await using workplace = await openAcme();
  const running = await startFeed(workplace, 1);
  await using engine = await openEngine(workplace.databaseUrl);
  // While somebody else writes, the line under way can't be finished.
  await engine.transaction(async () => {
    running.child.stdin?.write(feedOf(jobs(1, 2)));
    await until(() => {
      running.child.kill('SIGTERM');
      return running.child.exitCode !== null;
    });
  });
  t.strictSame(await running.ended, { exitCode: 1, signal: null });
  t.equal(running.output.stderr, '', 'it had no time for a summary');
});

t.test('a named pipe is read like a file, and a signal is heard while it is silent', async (t) => {
  await using workplace = await openAcme();
  const pipe = join(workplace.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const running = workplace.start(['apply', pipe, '--json']);
  const writer = createWriteStream(pipe);
  writer.on('error', () => undefined).write(feedOf(jobs(1)));
  await until(() => running.output.stdout.includes('\n'));
  t.strictSame(await running.end('SIGTERM'), { exitCode: 1, signal: null });
  t.match(summaryIn(running.output), { lines: 1, stopped: { reason: 'signal', line: 1 } });
  writer.destroy();
});

t.test('a feed whose answers nobody reads any longer stops, and says where', async (t) => {
  await using workplace = await openAcme();
  const running = workplace.start(['apply', fileOf(workplace, many()), '--json']);
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
  const running = workplace.start(['apply', fileOf(workplace, many())]);
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

/** SQLite is waited for seconds before a feed says so; these tests wait side by side. */
const WAITING = { buffered: true };
t.jobs = 3;

/** Whether a feed has told that it waits for its database. */
const waits = ({ output }: Running) => output.stderr.includes('"away"');

async function endFeed(t: Test, running: Running): Promise<void> {
  running.child.stdin?.end();
  t.strictSame(await running.ended, { exitCode: 0, signal: null });
  t.strictSame(shortAnswers(running.output.stdout), [
    '1 change 1 applied',
    '2 change 2 applied',
    '3 change 3 applied',
  ]);
}

t.test(
  'sqlite: a feed waits for a database that stays locked, and goes on at that line',
  WAITING,
  async (t) => {
    await using workplace = await openAcme();
    const running = await startFeed(workplace, 1);
    {
      await using engine = await openEngine(workplace.databaseUrl);
      await engine.transaction(async () => {
        running.child.stdin?.write(feedOf(jobs(2, 2)));
        await until(() => waits(running));
      });
    }
    await endFeed(t, running);
    t.match(running.output.stderr, /^{"away":"database is locked"}\n{"lines":3,/);
    t.equal(await countJobs(workplace), 3);
  },
);

t.test('sqlite: a feed that starts while its database is locked waits for it', WAITING, async (t) => {
  await using workplace = await openAcme();
  await using engine = await openEngine(workplace.databaseUrl);
  const running = await engine.transaction(async () => {
    const starting = workplace.start(['apply', '--json'], {}, 'pipe');
    starting.child.stdin?.write(feedOf(jobs(3)));
    await until(() => waits(starting));
    return starting;
  });
  await endFeed(t, running);
});

t.test(
  'a feed that waits for its database is told to stop, and a change without an id is not tried again',
  WAITING,
  async (t) => {
    await using workplace = await openAcme();
    const running = await startFeed(workplace, 1);
    await using engine = await openEngine(workplace.databaseUrl);
    await engine.transaction(async () => {
      const nameless = { company: 'acme', ...jobCreate({ id: 'job_4' }) };
      const other = workplace.start(['apply', '--json'], {}, 'pipe');
      other.child.stdin?.write(feedOf([nameless]));
      running.child.stdin?.write(feedOf(jobs(2, 2)));
      await until(() => waits(running));
      t.strictSame(await running.end('SIGTERM'), { exitCode: 1, signal: null });
      t.strictSame(await other.ended, { exitCode: 1, signal: null });
      t.match(summaryIn(other.output), {
        stopped: { reason: 'unavailable', line: 1, message: 'database is locked' },
      });
    });
    t.strictSame(shortAnswers(running.output.stdout), ['1 change 1 applied', '2 change 2 unavailable']);
    t.equal(await countJobs(workplace), 1);
  },
);

t.test('postgres: a feed goes on at the line at which its connection broke', async (t) => {
  await using workplace = await openAcme('postgres');
  const running = await startFeed(workplace, 1);
  {
    await using engine = await openEngine(workplace.databaseUrl);
    await engine.transaction(async (transaction) => {
      await transaction.selectFrom('company_clocks').selectAll().forUpdate().execute();
      running.child.stdin?.write(feedOf(jobs(2, 2)));
      await until(async () => {
        const ended = await engine.run(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return ended.length > 0;
      });
      await until(() => waits(running));
    });
  }
  await endFeed(t, running);
  t.equal(await countJobs(workplace), 3);
});
