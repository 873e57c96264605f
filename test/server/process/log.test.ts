import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';

import t from 'tap';

const log = join(import.meta.dirname, '../../../src/server/process/log.ts');

/** Runs a script that logs to a pipe, unless it is given another file. */
function run(
  script: string,
  { level = 'info', stderr = 'pipe' }: { level?: string; stderr?: 'pipe' | number } = {},
) {
  const source = `
    import { setTimeout as pause } from 'node:timers/promises';
    import { createLogger } from ${JSON.stringify(log)};
    const log = createLogger(${JSON.stringify(level)});
    ${script}`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', stderr],
    timeout: 30_000,
  });
}

/** The lines that a script has left. */
function linesOf(script: string, level = 'info'): Record<string, unknown>[] {
  const lines = run(script, { level }).stderr.split('\n');
  t.equal(lines.pop(), '', 'the last line is whole');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const MANY = `for (let n = 0; n < 999; n += 1) n % 3 ? log.info({ n }, 'thing.done') : log.warn({ n }, 'thing.odd');`;

t.test(
  'every line is there in the order of logging, also when its process ends before its time',
  async (t) => {
    const inOrder = Array.from({ length: 999 }, (_, n) => n);
    for (const end of ['', 'process.exit(0);']) {
      const numbers = linesOf(MANY + end).map(({ n }) => n);
      t.strictSame(numbers, inOrder, end);
    }
  },
);

const skip = !existsSync('/dev/full') && 'the system has no full device';

t.test('a process whose log no longer fits on the disk goes on, and ends by itself', { skip }, async (t) => {
  const full = openSync('/dev/full', 'w');
  t.teardown(() => closeSync(full));
  const script = `
    for (const n of [1, 2, 3]) {
      log.warn({ n }, 'thing.odd');
      await pause(200);
    }
    process.stdout.write('went on');
    log.warn('thing.last');`;
  const { status, signal, stdout } = run(script, { stderr: full });
  t.strictSame({ status, signal, stdout }, { status: 0, signal: null, stdout: 'went on' });
});

t.test('a line has the time at which it was logged, its members and its name, and no machine', async (t) => {
  const [line, next] = linesOf(`
    const before = Date.now();
    log.info({ before, address: 'say "hi"\\n', ms: 0.25 }, 'request.answered');
    const after = Date.now();
    while (Date.now() < after + 50);
    log.info({ after }, 'thing.over');`);
  const { time, before, ...others } = line ?? {};
  t.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.strictSame(others, { level: 30, address: 'say "hi"\n', ms: 0.25, msg: 'request.answered' });
  const loggedAt = Date.parse(String(time));
  t.ok(loggedAt >= Number(before) && loggedAt <= Number(next?.after), 'and not 50 ms later');
});

t.test('a log of warnings has no lines of requests, and a silent one none', async (t) => {
  const script = `log.info({}, 'request.answered'); log.warn('thing.odd');`;
  t.match(linesOf(script, 'warn'), [{ msg: 'thing.odd' }]);
  t.strictSame(linesOf(script, 'silent'), []);
});
