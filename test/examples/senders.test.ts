import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';

import t from 'tap';
import type { Test } from 'tap';

import { revokeFeedToken } from '../../src/server/features/feed-tokens/stored-feed-tokens.ts';
import { until } from '../_command.ts';
import { openTestDatabase, STORY_NOW } from '../_server.ts';
import { listen } from '../client/_service.ts';
import { openDoor, tokenFor } from '../server/feed/_door.ts';
import { missing } from '../server/reference/_samples.ts';

/*
 * The senders that business systems start from, run against a real door by way of a line that fails, and killed.
 */

const root = join(import.meta.dirname, '..', '..');
const examples = join(root, 'src', 'examples');
/** Where Debian puts SQLite's driver for Java. */
const JDBC = '/usr/share/java/sqlite-jdbc.jar';

interface Program {
  command: string;
  args: string[];
  /** Before the name of the outbox's file. */
  scheme: string;
  /** What this machine lacks. */
  lacks: string | false;
}

const programs: Record<string, Program> = {
  'sender.ts': { command: process.execPath, args: [], scheme: '', lacks: false },
  'sender.py': { command: 'python3', args: [], scheme: '', lacks: missing('python3') },
  'sender.php': { command: 'php', args: [], scheme: 'sqlite:', lacks: missing('php') },
  'Sender.java': {
    command: 'java',
    args: ['-cp', JDBC],
    scheme: 'jdbc:sqlite:',
    lacks: missing('java') || (!existsSync(JDBC) && 'there is no driver of SQLite for Java'),
  },
};

/** A company with 200 jobs, and rows that the feed refuses, ten of them as long as rows get. */
function rowsOf(company: string): [row: string, code: string | null][] {
  const logo = `data:image/png;base64,${'A'.repeat(900_000)}`;
  const person = { id: 'per_1', displayName: 'Jane', email: 'jane@acme.example', roleId: 'r', roleName: 'R' };
  const place = { addressLines: ['Quay'], countryCode: 'IE', currency: 'EUR' };
  const job = { statusLabelId: 'planned', customerId: 'cus_1', createdBy: 'per_1' };
  const jobType = { jobTypeId: 'service', jobTypeVersion: 1 };
  const changes: [change: string, what: object, code?: string][] = [
    ['company.save', { name: 'Acme', currency: 'EUR' }],
    ['person.save', person],
    ['customer.save', { id: 'cus_1', name: 'Hotel', ...place, paymentTermsDays: 30 }],
    ['job.complete', { id: 'job_none' }, 'unknown_record'],
    ...Array.from({ length: 200 }, (_, n): [string, object] => [
      'job.create',
      { ...job, ...jobType, id: `job_${n}`, title: `Job ${n}` },
    ]),
    ...Array.from({ length: 10 }, (): [string, object, string] => ['logo.set', { logo }, 'invalid_change']),
    ['job.update', { id: 'job_1', title: 'The last' }],
  ];
  return [
    // A blank row is no change, and must not keep the others back.
    ['  ', 'malformed_line'],
    ...changes.map(([change, what, code = null], index): [string, string | null] => [
      // Some systems write JSON on many lines.
      JSON.stringify({ id: `erp-${index}`, company, change, with: what }, undefined, index % 2),
      code,
    ]),
  ];
}

/** What happens to the first requests: nothing is answered, an answer is lost, and the database goes away half-way. */
const happenings: ((req: IncomingMessage, res: ServerResponse, door: string) => Promise<unknown>)[] = [
  async (_req, res) => res.destroy(),
  async (_req, res) =>
    res.writeHead(429, { 'Retry-After': '1' }).end('{"error":{"code":"rate_limited","message":"Wait."}}'),
  async (req, res, door) => {
    await handOn(req, await text(req), door);
    res.destroy();
  },
  answerWhole,
  async (_req, res) => res.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad gateway</h1>'),
  async (req, res, door) => {
    const lines = (await text(req)).split('\n');
    const answers = await (await handOn(req, lines.slice(0, 40).join('\n'), door)).text();
    const rest = lines.slice(41).map((_line, index) => `{"line":${index + 42},"status":"not_tried"}\n`);
    const error = '{"code":"unavailable","message":"The database can\'t be used.","path":""}';
    res.end(`${answers}{"line":41,"status":"refused","error":${error}}\n${rest.join('')}`);
  },
];

async function answerWhole(req: IncomingMessage, res: ServerResponse, door: string): Promise<void> {
  const answer = await handOn(req, await text(req), door);
  res.writeHead(answer.status).end(await answer.text());
}

async function handOn(req: IncomingMessage, body: string, door: string): Promise<Response> {
  const { authorization = '', 'content-type': type = '' } = req.headers;
  return fetch(`${door}${req.url}`, {
    method: 'POST',
    body,
    headers: { authorization, 'content-type': type },
  });
}

/** Listens, and hands requests on to the door after the first ones have failed. */
async function startLine(t: Test, door: string): Promise<string> {
  const left = [...happenings];
  const { url } = await listen(t, (req, res) => void (left.shift() ?? answerWhole)(req, res, door));
  return url;
}

/** Opens the feed of an empty database, until the test ends. */
async function openFeed(t: Test) {
  const database = await openTestDatabase('sqlite');
  const { engine } = database;
  const { token, id } = await tokenFor(engine);
  const door = await openDoor(engine, token);
  t.teardown(async () => {
    await door[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  return { engine, url: door.url, token, id };
}

/** Copies a sender, as one begins with it, to an outbox with some rows. */
function openOutbox(t: Test, name: string, rows: readonly string[], environment: Record<string, string>) {
  const { command = '', args = [], scheme = '' } = programs[name] ?? {};
  const client = t.fixture('symlink', join(root, 'src', 'client'));
  const folder = t.testdir({
    node_modules: { '@fieldledger': { client } },
    'package.json': '{"type":"module"}',
  });
  copyFileSync(join(examples, name), join(folder, name));
  const outbox = new DatabaseSync(join(folder, 'outbox.db'), { timeout: 5_000 });
  t.teardown(() => outbox.close());
  outbox.exec(
    'PRAGMA journal_mode = WAL; CREATE TABLE outbox (id INTEGER PRIMARY KEY, body TEXT NOT NULL, status TEXT, error TEXT)',
  );
  for (const row of rows) outbox.prepare('INSERT INTO outbox (body) VALUES (?)').run(row);
  const env = { PATH: process.env.PATH, OUTBOX: `${scheme}${join(folder, 'outbox.db')}`, ...environment };
  const start = () => {
    const sender = spawn(command, [...args, name], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    t.teardown(() => sender.kill('SIGKILL'));
    return { said: Promise.all([text(sender.stdout), text(sender.stderr)]), sender };
  };
  return { outbox, start };
}

t.test(
  'the senders bring every row in once and in order, whatever happens to the line and to them',
  async (t) => {
    const { engine, url, token } = await openFeed(t);
    for (const [name, { lacks }] of Object.entries(programs))
      await t.test(name, { skip: lacks }, async (t) => {
        const company = name.toLowerCase().replace('.', '-');
        const rows = rowsOf(company);
        const texts = rows.map(([row]) => row);
        const settings = { FEED_URL: await startLine(t, url), FEED_TOKEN: `${token}\r\n` };
        const { outbox, start } = openOutbox(t, name, texts, settings);
        const count = outbox.prepare('SELECT count(*) AS count FROM outbox WHERE status IS NOT NULL');
        for (const least of [100, rows.length]) {
          const { sender } = start();
          await until(() => Number(count.get()?.count) >= least);
          sender.kill('SIGKILL');
          await once(sender, 'exit');
        }
        const answered = outbox.prepare('SELECT status, error FROM outbox ORDER BY id').all() as Record<
          'status' | 'error',
          string | null
        >[];
        const errors = answered.map(({ error }) => JSON.parse(error ?? 'null') as { code: string } | null);
        t.strictSame(
          errors.map((error) => error?.code ?? null),
          rows.map(([, code]) => code),
        );
        const isRight = ({ status }: { status: string | null }, index: number) =>
          errors[index] === null ? /^(?:applied|skipped)$/.test(status ?? '') : status === 'refused';
        t.ok(answered.every(isRight), 'the status goes with the error');
        t.match(errors[4], { code: 'unknown_record', message: /job_none/, path: '/with/id' });
        const jobs = await engine.run(
          `SELECT count(*) AS jobs, max(body ->> 'title') AS last FROM jobs WHERE company = '${company}'`,
        );
        t.strictSame(jobs, [{ jobs: 200, last: 'The last' }]);
      });
  },
);

t.test('a sender with a revoked token ends and says so, however long its rows are', async (t) => {
  const { engine, url, token, id } = await openFeed(t);
  await revokeFeedToken(engine, id, STORY_NOW);
  for (const [name, program] of Object.entries(programs))
    await t.test(name, { skip: program.lacks }, async (t) => {
      // The feed doesn't read it to its end.
      const row = JSON.stringify({ id: '1', company: 'acme', change: 'x'.repeat(8_000_000), with: {} });
      const { sender, said } = openOutbox(t, name, [row], { FEED_URL: url, FEED_TOKEN: token }).start();
      const [exitCode] = (await once(sender, 'exit')) as [number];
      t.equal(exitCode, 1);
      t.match((await said).join(), /401.*revoked_key/s);
    });
});

t.test('each sender has at most 80 lines', async (t) => {
  const files = readdirSync(examples);
  t.strictSame(files.sort(), ['Sender.cs', ...Object.keys(programs)].sort());
  for (const name of files)
    t.ok(readFileSync(join(examples, name), 'utf8').trimEnd().split('\n').length <= 80, name);
});
