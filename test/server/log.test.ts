import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const log = join(import.meta.dirname, '..', '..', 'src', 'server', 'log.ts');

/** Runs a script that logs, and gives the lines it left on standard error. */
function linesOf(script: string, level = 'info'): Record<string, unknown>[] {
  const source = `
    import { createLogger } from ${JSON.stringify(log)};
    const log = createLogger(${JSON.stringify(level)});
    ${script}`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  const lines = stderr.split('\n');
  t.equal(lines.pop(), '', 'the last line is whole');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const MANY = `for (let n = 0; n < 999; n += 1) n % 3 ? log.info({ n }, 'thing.done') : log.warn({ n }, 'thing.odd');`;
const inOrder = Array.from({ length: 999 }, (_, n) => n);

t.test('every line is there in the order of logging when the process ends by itself', async (t) => {
  t.strictSame(
    linesOf(MANY).map(({ n }) => n),
    inOrder,
  );
});

t.test('every line is there when the process is ended by itself before its time', async (t) => {
  t.strictSame(
    linesOf(`${MANY} process.exit(0);`).map(({ n }) => n),
    inOrder,
  );
});

const hasFullDevice = existsSync('/dev/full');

t.test(
  'a process whose log no longer fits on the disk goes on, and ends by itself',
  { skip: !hasFullDevice && 'the system has no full device' },
  async (t) => {
    const source = `
      import { setTimeout as pause } from 'node:timers/promises';
      import { createLogger } from ${JSON.stringify(log)};
      const log = createLogger('info');
      for (const n of [1, 2, 3]) {
        log.warn({ n }, 'thing.odd');
        await pause(200);
      }
      process.stdout.write('went on');
      log.warn('thing.last');`;
    const full = openSync('/dev/full', 'w');
    t.teardown(() => closeSync(full));
    const { status, signal, stdout } = spawnSync(
      process.execPath,
      ['--input-type=module', '--eval', source],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', full], timeout: 30_000 },
    );
    t.strictSame({ status, signal, stdout }, { status: 0, signal: null, stdout: 'went on' });
  },
);

t.test('a line has its time, its members and its name, and says nothing of the machine', async (t) => {
  const [line] = linesOf(
    `log.info({ company: 'acme', address: 'say "hi"\\n', ms: 0.25 }, 'request.answered');`,
  );
  t.match(line?.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.strictSame(
    { ...line, time: '' },
    { level: 30, time: '', company: 'acme', address: 'say "hi"\n', ms: 0.25, msg: 'request.answered' },
  );
});

t.test('a line tells the time at which it was logged, not that at which it was written', async (t) => {
  const [line, next] = linesOf(`
    const before = Date.now();
    log.info({ before }, 'thing.done');
    const after = Date.now();
    while (Date.now() < after + 50);
    log.info({ after }, 'thing.over');`);
  const loggedAt = Date.parse(String(line?.time));
  t.ok(loggedAt >= Number(line?.before) && loggedAt <= Number(next?.after), 'and not 50 ms later');
});

t.test('a log of warnings has no lines of requests', async (t) => {
  const lines = linesOf(`log.info({}, 'request.answered'); log.warn('thing.odd');`, 'warn');
  t.strictSame(
    lines.map(({ msg }) => msg),
    ['thing.odd'],
  );
});

t.test('a silent log says nothing', async (t) => {
  t.strictSame(linesOf(MANY, 'silent'), []);
});
