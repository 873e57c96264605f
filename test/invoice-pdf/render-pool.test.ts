import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

import t, { type Test } from 'tap';

import { RenderPool, type RenderPoolOptions } from '../../src/invoice-pdf/render-pool.ts';
import type { Logger } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';
import { openWorkplace, until } from '../_command.ts';
import { openTestDatabase } from '../_server.ts';
import { invoiceDraft, issued, openIssuer } from '../backoffice/_documents.ts';
import { createTestOffice } from '../backoffice/_office.ts';

const BUSY = { code: 'unavailable', retryAfterSeconds: 5 };
/** A machine that runs other tests as well may give no turn for seconds to who gives way. */
const STARVED_MS = 60_000;

/** A pool for a company with so many issued documents, and what it has logged and counted. */
async function openPool(t: Test, options: Partial<RenderPoolOptions> & { documents?: number } = {}) {
  const { documents = 1, ...given } = options;
  const database = await openTestDatabase('sqlite');
  const office = createTestOffice(database);
  const company = await openIssuer(office);
  const ids: string[] = [];
  for (let count = 0; count < documents; count += 1) ids.push((await issued(company, invoiceDraft())).id);
  const logged: { level: string; line: object; name: string }[] = [];
  const note = (level: string) => (line: object, name: string) => logged.push({ level, line, name });
  const log = { warn: note('warn'), error: note('error') } as unknown as Logger;
  const metrics = createMetrics();
  const pool = new RenderPool({
    databaseUrl: database.url,
    log,
    metrics: metrics.documents,
    workersMax: 1,
    starvedMs: STARVED_MS,
    ...given,
  });
  t.teardown(async () => {
    await pool[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  const print = (id = ids[0] ?? '') => pool.print(company.id, id);
  return { pool, print, ids, logged, metrics, company, engine: database.engine };
}

/** The one process of a pool. */
function pidOf(pool: RenderPool): number {
  const [pid, ...others] = pool.pids();
  if (pid === undefined || others.length > 0) throw new Error(`There are ${others.length} processes beside.`);
  return pid;
}

function isRunning(pid: number): boolean {
  try {
    // The state is what follows the name in parentheses; a process that has ended may wait for its parent.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z');
  } catch {
    return false;
  }
}

t.test('a process is started for the first document, prints all, and ends with the pool', async (t) => {
  const { pool, print, ids } = await openPool(t, { documents: 3 });
  t.strictSame(pool.pids(), []);
  t.match(
    await Promise.all(ids.map((id) => print(id))),
    ids.map(() => ({ outcome: 'stored', head: { sha256: /^[0-9a-f]{64}$/, byteCount: Number } })),
  );
  const pid = pidOf(pool);
  await pool[Symbol.asyncDispose]();
  t.notOk(isRunning(pid));
  await t.rejects(print(), BUSY);
});

/** Of each thread of a process: its niceness and the scheduling policy, as proc(5) counts the fields. */
function threadsOf(pid: number): { niceness: number; policy: number }[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { niceness: Number(fields[16]), policy: Number(fields[38]) };
  });
}

/** Linux's SCHED_OTHER, and what a process has that gives way: SCHED_IDLE, where there is a command to ask for it. */
const USUAL = 0;
const GIVING_WAY = spawnSync('chrt', ['--all-tasks', '--max']).status === 0 ? 5 : USUAL;

t.test(
  'every thread of the process has the lowest priority, and gives way after the first document',
  async (t) => {
    const { pool, print } = await openPool(t);
    for (const policy of [USUAL, GIVING_WAY]) {
      await print();
      const threads = threadsOf(pidOf(pool));
      t.ok(threads.length > 1);
      t.strictSame(
        threads,
        threads.map(() => ({ niceness: 19, policy })),
      );
    }
  },
);

t.test('a process that gets no turn is replaced by one that gives no way', async (t) => {
  const { pool, print, logged } = await openPool(t, { starvedMs: 1_000 });
  await print();
  const pid = pidOf(pool);
  process.kill(pid, 'SIGSTOP');
  t.match(await print(), { outcome: 'stored' });
  const next = pidOf(pool);
  t.not(next, pid);
  t.strictSame(logged, [{ level: 'warn', line: { pid, ending: 'starved' }, name: 'document.worker-ended' }]);
  t.match(await print(), { outcome: 'stored' });
  t.equal(pidOf(pool), next);
  t.ok(threadsOf(next).every(({ niceness, policy }) => niceness === 19 && policy === USUAL));
  process.kill(pid, 'SIGCONT');
  await until(() => !isRunning(pid));
  t.equal(logged.length, 1);
});

t.test('a pool that ends takes with it what still waits for a turn', async (t) => {
  const { pool, print } = await openPool(t, { starvedMs: 1_000 });
  await print();
  const pid = pidOf(pool);
  process.kill(pid, 'SIGSTOP');
  t.match(await print(), { outcome: 'stored' });
  await pool[Symbol.asyncDispose]();
  t.notOk(isRunning(pid));
});

t.test('a document whose process is killed is printed by another one', async (t) => {
  const { pool, print, ids, logged } = await openPool(t, { documents: 3 });
  await print();
  const pid = pidOf(pool);
  const printing = Promise.all(ids.map((id) => print(id)));
  process.kill(pid, 'SIGKILL');
  t.match(
    await printing,
    ids.map(() => ({ outcome: 'stored' })),
  );
  t.not(pidOf(pool), pid);
  t.strictSame(logged, [{ level: 'warn', line: { pid, ending: 'SIGKILL' }, name: 'document.worker-ended' }]);
});

t.test('a document that takes two processes with it is given up, and the next one is printed', async (t) => {
  const { pool, print, ids, logged } = await openPool(t, { documents: 2 });
  const doomed = print(ids[0]);
  const failed = doomed.catch((error: unknown) => error);
  for (let count = 0; count < 2; count += 1) {
    const pid = pidOf(pool);
    process.kill(pid, 'SIGKILL');
    await until(() => !pool.pids().includes(pid));
  }
  t.match(await failed, BUSY);
  t.match(logged.at(-1), { level: 'error', name: 'document.failed', line: { document: ids[0] } });
  t.match(await print(ids[1]), { outcome: 'stored' });
});

t.test('a document that takes too long is given up, and its process replaced', async (t) => {
  const { pool, print, ids, logged } = await openPool(t, { documents: 2, documentMsMax: 8_000 });
  const [late, next] = [print(ids[0]), print(ids[1])];
  const pid = pidOf(pool);
  process.kill(pid, 'SIGSTOP');
  await t.rejects(late, BUSY);
  t.match(await next, { outcome: 'stored' });
  t.not(pidOf(pool), pid);
  t.notOk(isRunning(pid));
  t.match(logged.at(-1), { name: 'document.failed', line: { failure: { name: 'too late' } } });
});

t.test('more documents than may wait are refused, and counted', async (t) => {
  const { print, metrics } = await openPool(t, { waitingMax: 2 });
  const printed = Array.from({ length: 5 }, () => print().catch((error: unknown) => error));
  t.match(await metrics.text(), /^fieldledger_documents_waiting 2$/m);
  const outcomes = await Promise.all(printed);
  t.match(outcomes.slice(0, 3), Array(3).fill({ outcome: 'stored' }));
  for (const refused of outcomes.slice(3)) t.match(refused, BUSY);
  const text = await metrics.text();
  t.match(text, /^fieldledger_documents_refused_total 2$/m);
  t.match(text, /^fieldledger_documents_printed_total\{outcome="stored"\} 3$/m);
  t.match(text, /^fieldledger_documents_waiting 0$/m);
});

t.test('those who wait are told when the pool ends', async (t) => {
  const { pool, print, ids } = await openPool(t, { documents: 2 });
  const waiting = ids.map((id) => print(id).catch((error: unknown) => error));
  await pool[Symbol.asyncDispose]();
  for (const refused of await Promise.all(waiting)) t.match(refused, BUSY);
});

t.test('what fails is logged without a word of the document', async (t) => {
  const { print, ids, logged, engine, company } = await openPool(t);
  await engine.run(
    `UPDATE invoices SET unpublished = '{"supplier":{"legalName":"Secret Limited","logoSha256":"Secret"}}'`,
  );
  await t.rejects(print(), BUSY);
  t.match(logged, [
    {
      level: 'error',
      name: 'document.failed',
      line: { company: company.id, document: ids[0], failure: { name: 'Error', frames: [/printing\.ts/] } },
    },
  ]);
  t.notMatch(JSON.stringify(logged), /Secret/);
});

t.test(
  'a database that is not there fails the document, and the next one is printed when it is',
  async (t) => {
    const { print, engine } = await openPool(t);
    await engine.run('ALTER TABLE invoices RENAME TO elsewhere');
    await t.rejects(print(), BUSY);
    await engine.run('ALTER TABLE elsewhere RENAME TO invoices');
    t.match(await print(), { outcome: 'stored' });
  },
);

t.test('a signal to the whole group leaves the process to its server', async (t) => {
  const { pool, print } = await openPool(t);
  await print();
  const pid = pidOf(pool);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(pid, signal);
  t.match(await print(), { outcome: 'stored' });
  t.equal(pidOf(pool), pid);
});

t.test('the process of a server that is killed ends by itself', async (t) => {
  await using workplace = await openWorkplace();
  const served = await workplace.serve(['--demo']);
  const { address, demo } = served.greeting;
  const headers = { authorization: `Bearer ${demo?.key}` };
  const answer = await fetch(`${address}/api/v1/invoices/01a0a486-e8e0-7076-ace5-e31611d48e0a/pdf`, {
    headers,
  });
  t.equal(answer.status, 200);
  t.match(Buffer.from(await answer.arrayBuffer()).toString('latin1'), /^%PDF-/);
  const children = readFileSync(`/proc/${served.child.pid}/task/${served.child.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number);
  t.equal(children.length, 1);
  await served.end('SIGKILL');
  await until(() => !children.some(isRunning));
  t.pass('it has ended');
});
