// Long: it starts and ends the processes that print.
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

import t, { type Test } from 'tap';

import { RenderPool, type RenderPoolOptions } from '../../../src/server/invoice-pdf/render-pool.ts';
import type { Logger } from '../../../src/server/process/log.ts';
import { createMetrics } from '../../../src/server/process/metrics.ts';
import { openWorkplace, until } from '../../_command.ts';
import { openTestDatabase } from '../../_server.ts';
import { invoiceDraft, issued, openIssuer } from '../backoffice/_documents.ts';
import { createTestBackoffice } from '../backoffice/_backoffice.ts';

const BUSY = { code: 'unavailable', retryAfterSeconds: 5 };

/** A pool for a company with so many issued documents, and what it has logged and counted. */
async function openPool(t: Test, options: Partial<RenderPoolOptions> & { documents?: number } = {}) {
  const { documents = 1, ...given } = options;
  const database = await openTestDatabase('sqlite');
  const backoffice = createTestBackoffice(database);
  const company = await openIssuer(backoffice);
  const ids: string[] = [];
  for (let count = 0; count < documents; count += 1) ids.push((await issued(company, invoiceDraft())).id);
  const logged: { level: string; line: object; name: string }[] = [];
  const note = (level: string) => (line: object, name: string) => logged.push({ level, line, name });
  const log = { info: note('info'), error: note('error') } as unknown as Logger;
  const metrics = createMetrics();
  const pool = new RenderPool({
    databaseUrl: database.url,
    log,
    metrics: metrics.documents,
    processesMax: 1,
    ...given,
  });
  t.teardown(async () => {
    await pool[Symbol.asyncDispose]();
    await until(() => printing().length === 0);
    await database[Symbol.asyncDispose]();
  });
  const print = (id = ids[0] ?? '') => pool.print(company.id, id);
  return { pool, print, ids, logged, metrics, company, backoffice, engine: database.engine };
}

/** The processes that a process has started and that run. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number).filter(isRunning);
}

/** The processes that other test files have started, with which this one shares its own. */
const earlier = childrenOf(process.pid);
const printing = () => childrenOf(process.pid).filter((pid) => !earlier.includes(pid));

/** The one process of a pool. */
function printingPid(): number {
  const [pid, ...others] = printing();
  if (pid === undefined || others.length > 0) throw new Error(`There are ${others.length} processes beside.`);
  return pid;
}

/** Whether a process has opened its database, which it does for its first document. */
function hasDatabase(pid: number): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((fd) => readlinkSync(`${folder}/${fd}`).endsWith('.db'));
  } catch {
    // A file has just been closed.
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    // The state is what follows the name in parentheses; a process that has ended may wait for its parent.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z');
  } catch {
    return false;
  }
}

/** The niceness of each thread of a process, as proc(5) counts the fields. */
function nicenessOfThreads(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}

t.test('a process is started for the first document, prints all, and ends with the pool', async (t) => {
  const { pool, print, ids } = await openPool(t, { documents: 3 });
  t.strictSame(printing(), []);
  t.match(
    await Promise.all(ids.map((id) => print(id))),
    ids.map(() => ({ outcome: 'stored', head: { sha256: /^[0-9a-f]{64}$/, byteCount: Number } })),
  );
  const pid = printingPid();
  const niceness = nicenessOfThreads(pid);
  t.ok(niceness.length > 1);
  t.strictSame(new Set(niceness), new Set([19]), 'every thread of it has the lowest priority');
  const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  t.match(commandLine, /node/);
  t.notMatch(commandLine, /sqlite/, 'and the command line says nothing of the database');
  await pool[Symbol.asyncDispose]();
  t.notOk(isRunning(pid));
  await t.rejects(print(), BUSY);
});

t.test('a process that is killed is replaced, and its document printed by another one', async (t) => {
  const { print, ids, logged } = await openPool(t, { documents: 3 });
  await print();
  const first = printingPid();
  const printed = ids.map((id) => print(id));
  process.kill(first, 'SIGKILL');
  t.match(await Promise.all(printed), Array(3).fill({ outcome: 'stored' }));
  const second = printingPid();
  t.not(second, first);
  t.match(logged, [{ level: 'info', name: 'document.process-ended' }]);
  process.kill(second, 'SIGKILL');
  await until(() => logged.length > 1);
  t.match(logged[1], { level: 'info', name: 'document.process-ended' }, 'also one that has nothing to do');
  t.match(await print(), { outcome: 'stored' });
  t.not(printingPid(), second);
});

t.test('a document that ends two processes fails, and another process prints the next one', async (t) => {
  const { print, ids, logged, metrics } = await openPool(t, { documents: 2 });
  await print();
  const pid = printingPid();
  const [doomed, next] = ids.map((id) => print(id).catch((error: unknown) => error));
  process.kill(pid, 'SIGKILL');
  await until(() => printing().some((child) => child !== pid && hasDatabase(child)));
  process.kill(printingPid(), 'SIGKILL');
  t.match(await doomed, BUSY);
  t.match(await next, { outcome: 'stored' });
  const failures = logged.filter(({ name }) => name === 'document.failed');
  t.match(failures, [
    { level: 'error', line: { document: ids[0], failure: { name: 'ended two processes' } } },
  ]);
  t.match(await metrics.text(), /^fieldledger_documents_printed_total\{outcome="failed"\} 1$/m);
});

/**
 * The limits of time that are set from now on, in their order. They end when the test says so: on a machine that is busy
 * with something else, a process that prints takes as long as one that hangs.
 */
function takeTimeLimits(t: Test): { ms: number; end: () => void }[] {
  const limits: { ms: number; end: () => void }[] = [];
  const given = Object.getOwnPropertyDescriptor(AbortSignal, 'timeout') ?? {};
  t.teardown(() => Object.defineProperty(AbortSignal, 'timeout', given));
  AbortSignal.timeout = (ms) => {
    const limit = new AbortController();
    limits.push({ ms, end: () => limit.abort() });
    return limit.signal;
  };
  return limits;
}

for (const [when, before] of [
  ['', 1],
  [', even one that has only just started', 0],
] as const) {
  t.test(`a document that takes too long is given up, and its process replaced${when}`, async (t) => {
    const { print, ids, logged } = await openPool(t, { documents: 2, documentMsMax: 6_000 });
    const limits = takeTimeLimits(t);
    for (let count = 0; count < before; count += 1) await print();
    const [late, next] = ids.map((id) => print(id).catch((error: unknown) => error));
    await until(() => printing().length > 0);
    const pid = printingPid();
    process.kill(pid, 'SIGSTOP');
    t.match(limits.slice(before), [{ ms: 6_000 }], 'the time of the other one begins with its printing');
    limits[before]?.end();
    t.match(await late, BUSY);
    t.match(await next, { outcome: 'stored' });
    await until(() => !isRunning(pid));
    t.not(printingPid(), pid);
    t.match(logged, [{ name: 'document.failed', line: { failure: { name: 'too late' } } }]);
    // Nor is it tried again at once.
    await t.rejects(print(), BUSY);
    t.equal(limits.length, before + 2, 'no process got it');
    t.match(await print(ids[1]), { outcome: 'stored' }, 'another one is printed');
  });
}

t.test(
  'more documents than may wait are refused, of those of whom most wait, and companies take turns',
  async (t) => {
    const { print, pool, company, backoffice, metrics } = await openPool(t, { waitingMax: 20 });
    await print();
    const ofOthers = async () => {
      const other = await openIssuer(backoffice);
      const { id } = await issued(other, invoiceDraft());
      return { company: other.id, id };
    };
    const [second, third] = [await ofOthers(), await ofOthers()];
    const done: string[] = [];
    const ask = (owner: string, printing: Promise<unknown>) =>
      printing.then(
        () => done.push(owner),
        (error: unknown) => error,
      );
    const answers = [
      ...Array.from({ length: 30 }, () => ask(company.id, print())),
      ...Array.from({ length: 30 }, () => ask(second.company, pool.print(second.company, second.id))),
      ask(third.company, pool.print(third.company, third.id)),
    ];
    t.match(await metrics.text(), /^fieldledger_documents_waiting 20$/m);
    const refused = (await Promise.all(answers)).filter((answer) => typeof answer !== 'number');
    for (const answer of refused) t.match(answer, BUSY);
    // One was being printed, and twenty waited.
    t.strictSame(
      [company.id, second.company, third.company].map((owner) => done.filter((id) => id === owner).length),
      [10, 10, 1],
    );
    t.ok(done.indexOf(third.company) <= 3, `${done.indexOf(third.company)} were before it`);
    const text = await metrics.text();
    t.match(text, /^fieldledger_documents_refused_total 40$/m);
    t.match(text, /^fieldledger_documents_printed_total\{outcome="stored"\} 22$/m);
    t.match(text, /^fieldledger_documents_waiting 0$/m);
  },
);

t.test('the callers who wait are told when the pool ends', async (t) => {
  const { pool, print, ids } = await openPool(t, { documents: 2 });
  const waiting = ids.map((id) => print(id).catch((error: unknown) => error));
  await pool[Symbol.asyncDispose]();
  for (const refused of await Promise.all(waiting)) t.match(refused, BUSY);
});

t.test('a failure is logged without a word of the document, and the next one is printed', async (t) => {
  const { print, ids, logged, engine, company } = await openPool(t, { documents: 2 });
  await engine.run('ALTER TABLE invoices RENAME TO elsewhere');
  await t.rejects(print(), BUSY);
  await engine.run('ALTER TABLE elsewhere RENAME TO invoices');
  t.match(await print(ids[1]), { outcome: 'stored' }, 'when the database is there again');
  await engine.run(
    `UPDATE invoices SET unpublished = '{"supplier":{"legalName":"Secret Limited","logoSha256":"Secret"}}'`,
  );
  await t.rejects(print(), BUSY);
  t.match(logged[1], {
    level: 'error',
    name: 'document.failed',
    line: { company: company.id, document: ids[0], failure: { name: 'Error', frames: [/suppliers\.ts/] } },
  });
  t.notMatch(JSON.stringify(logged), /Secret/);
});

t.test('a signal to all processes of a server lets the documents under way be finished', async (t) => {
  const { print, ids } = await openPool(t, { documents: 20 });
  await print();
  const pid = printingPid();
  const printing = Promise.all(ids.map((id) => print(id)));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(pid, signal);
  t.match(await printing, Array(20).fill({ outcome: 'stored' }));
  await until(() => !isRunning(pid));
  t.match(await print(), { outcome: 'stored' }, 'another process prints what is asked for later');
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
  const children = childrenOf(served.child.pid ?? 0);
  t.equal(children.length, 1);
  await served.end('SIGKILL');
  await until(() => !children.some(isRunning));
  t.pass('it has ended');
});
