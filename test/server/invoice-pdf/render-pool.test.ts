import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

import t, { type Test } from 'tap';

import { RenderPool, type RenderPoolOptions } from '../../../src/server/invoice-pdf/render-pool.ts';
import type { Logger } from '../../../src/server/log.ts';
import { createMetrics } from '../../../src/server/metrics.ts';
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

/** The one process of a pool. */
function printingPid(): number {
  const [pid, ...others] = childrenOf(process.pid);
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

t.test('a process is started for the first document, prints all, and ends with the pool', async (t) => {
  const { pool, print, ids } = await openPool(t, { documents: 3 });
  t.strictSame(childrenOf(process.pid), []);
  t.match(
    await Promise.all(ids.map((id) => print(id))),
    ids.map(() => ({ outcome: 'stored', head: { sha256: /^[0-9a-f]{64}$/, byteCount: Number } })),
  );
  const pid = printingPid();
  await pool[Symbol.asyncDispose]();
  t.notOk(isRunning(pid));
  await t.rejects(print(), BUSY);
});

/** The niceness of each thread of a process, as proc(5) counts the fields. */
function nicenessOfThreads(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}

t.test('every thread of the process has the lowest priority after the first document', async (t) => {
  const { print } = await openPool(t);
  await print();
  const found = nicenessOfThreads(printingPid());
  t.ok(found.length > 1);
  t.strictSame(
    found,
    found.map(() => 19),
  );
});

t.test('nothing of the database is on the command line of the process', async (t) => {
  const { print } = await openPool(t);
  await print();
  const commandLine = readFileSync(`/proc/${printingPid()}/cmdline`, 'utf8');
  t.match(commandLine, /node/);
  t.notMatch(commandLine, /sqlite/);
});

t.test('a document whose process is killed is printed by another one', async (t) => {
  const { print, ids, logged } = await openPool(t, { documents: 3 });
  await print();
  const pid = printingPid();
  const printed = ids.map((id) => print(id));
  process.kill(pid, 'SIGKILL');
  t.match(await Promise.all(printed), Array(3).fill({ outcome: 'stored' }));
  t.not(printingPid(), pid);
  t.match(logged, [{ level: 'info', name: 'document.process-ended' }]);
});

t.test('a document that ends two processes fails, and another process prints the next one', async (t) => {
  const { print, ids, logged, metrics } = await openPool(t, { documents: 2 });
  await print();
  const pid = printingPid();
  const [doomed, next] = ids.map((id) => print(id).catch((error: unknown) => error));
  process.kill(pid, 'SIGKILL');
  await until(() => childrenOf(process.pid).some((child) => child !== pid && hasDatabase(child)));
  process.kill(printingPid(), 'SIGKILL');
  t.match(await doomed, BUSY);
  t.match(await next, { outcome: 'stored' });
  const failures = logged.filter(({ name }) => name === 'document.failed');
  t.match(failures, [
    { level: 'error', line: { document: ids[0], failure: { name: 'ended two processes' } } },
  ]);
  t.match(await metrics.text(), /^fieldledger_documents_printed_total\{outcome="failed"\} 1$/m);
});

t.test('a process that is killed while it has nothing to do is replaced', async (t) => {
  const { print, logged } = await openPool(t);
  await print();
  const pid = printingPid();
  process.kill(pid, 'SIGKILL');
  await until(() => logged.length > 0);
  t.match(logged, [{ level: 'info', name: 'document.process-ended' }]);
  t.match(await print(), { outcome: 'stored' });
  t.not(printingPid(), pid);
});

for (const [when, before] of [
  ['', 1],
  [', even one that has only just started', 0],
] as const) {
  t.test(`a document that takes too long is given up, and its process replaced${when}`, async (t) => {
    const { print, ids, logged } = await openPool(t, { documents: 2, documentMsMax: 6_000 });
    for (let count = 0; count < before; count += 1) await print();
    const [late, next] = ids.map((id) => print(id).catch((error: unknown) => error));
    await until(() => childrenOf(process.pid).length > 0);
    const pid = printingPid();
    process.kill(pid, 'SIGSTOP');
    t.match(await late, BUSY);
    t.match(await next, { outcome: 'stored' });
    await until(() => !isRunning(pid));
    t.not(printingPid(), pid);
    t.match(logged, [{ name: 'document.failed', line: { failure: { name: 'too late' } } }]);
  });
}

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

t.test(
  'companies that ask for many documents let those of others wait for one of each, not for all',
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
    const refused = (await Promise.all(answers)).filter((answer) => typeof answer !== 'number');
    for (const answer of refused) t.match(answer, BUSY);
    // One was being printed, and twenty waited.
    t.strictSame(
      [company.id, second.company, third.company].map((owner) => done.filter((id) => id === owner).length),
      [10, 10, 1],
    );
    t.ok(done.indexOf(third.company) <= 3, `${done.indexOf(third.company)} were before it`);
    t.match(await metrics.text(), /^fieldledger_documents_refused_total 40$/m);
  },
);

t.test('a document that took too long is not tried again at once', async (t) => {
  const { print, ids } = await openPool(t, { documents: 2, documentMsMax: 6_000 });
  await print();
  const pid = printingPid();
  const late = print(ids[1]).catch((error: unknown) => error);
  process.kill(pid, 'SIGSTOP');
  t.match(await late, BUSY);
  await t.rejects(print(ids[1]), BUSY);
  await until(() => !isRunning(pid));
  t.strictSame(childrenOf(process.pid), [], 'no process was started for it');
  t.match(await print(), { outcome: 'stored' }, 'another one is printed');
});

t.test('the callers who wait are told when the pool ends', async (t) => {
  const { pool, print, ids } = await openPool(t, { documents: 2 });
  const waiting = ids.map((id) => print(id).catch((error: unknown) => error));
  await pool[Symbol.asyncDispose]();
  for (const refused of await Promise.all(waiting)) t.match(refused, BUSY);
});

t.test('a failure is logged without a word of the document', async (t) => {
  const { print, ids, logged, engine, company } = await openPool(t);
  await engine.run(
    `UPDATE invoices SET unpublished = '{"supplier":{"legalName":"Secret Limited","logoSha256":"Secret"}}'`,
  );
  await t.rejects(print(), BUSY);
  t.match(logged, [
    {
      level: 'error',
      name: 'document.failed',
      line: { company: company.id, document: ids[0], failure: { name: 'Error', frames: [/suppliers\.ts/] } },
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
