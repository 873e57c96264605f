// Long: it kills workers that hand documents over.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { findEInvoice } from '../../../../src/server/invoice-pdf/stored-e-invoice.ts';
import { until } from '../../../_command.ts';
import { onEachEngine } from '../../backoffice/_backoffice.ts';
import { openSender } from './_hand-over.ts';

/** How often processes are killed on each engine; `make deliveries` asks for more. */
const KILLS = Number(process.env.HAND_OVER_KILLS ?? 5);

/** Starts a worker and waits until it has committed an issue, if it is to make any. */
async function startWorker(
  invoiceCount: number,
  place: readonly string[],
  startMs: number,
): Promise<ChildProcess> {
  const args = [...place, String(invoiceCount), String(startMs)];
  const child = spawn(process.execPath, [join(import.meta.dirname, '_worker.ts'), ...args], {
    env: { PATH: process.env.PATH },
    stdio: ['pipe', 'pipe', 'inherit'],
    // A group of its own: the process that writes the files is killed with it, or stays.
    detached: true,
  });
  if (invoiceCount === 0) return child;
  await once(child.stdout, 'readable');
  if (child.stdout.read() === null) throw new Error('The worker ended before it worked.');
  return child;
}

async function end(child: ChildProcess, signal: NodeJS.Signals, isGroup = false): Promise<void> {
  const exit = once(child, 'exit');
  process.kill((child.pid ?? 0) * (isGroup ? -1 : 1), signal);
  await exit;
}

const unfinishedIn = (folder: string) => readdirSync(folder).filter((name) => !name.endsWith('.xml'));

/** Waits for the moment of a kill: right after an issue, when another file is begun, or a random one. */
async function momentOf(kill: number, folder: string): Promise<void> {
  const latest = performance.now() + Math.random() * (kill % 3 === 0 ? 30 : 1_000);
  const before = unfinishedIn(folder).length;
  while (performance.now() < latest && (kill % 3 !== 1 || unfinishedIn(folder).length <= before))
    await pause(1);
}

onEachEngine('no document is lost or comes in half, whenever a process is killed', async (t, backoffice) => {
  const { engine, url: databaseUrl } = backoffice;
  const { id: company } = await openSender(backoffice);
  const folder = t.testdir({});
  /** The texts that came in, by the names of their files, which an access point takes away as soon as they are there. */
  const taken = new Map<string, string[]>();
  using timers = new DisposableStack();
  // Until the end of this function, because tap removes the folder before it tears down.
  timers.use(
    setInterval(() => {
      for (const name of readdirSync(folder).filter((one) => one.endsWith('.xml'))) {
        taken.set(name, [...(taken.get(name) ?? []), readFileSync(join(folder, name), 'utf8')]);
        rmSync(join(folder, name));
      }
    }, 2),
  );
  const [place, startMs] = [[databaseUrl, company, folder], Date.now()];
  const countOpen = async () =>
    (await engine.run("SELECT id FROM hand_overs WHERE state IN ('waiting', 'sending')")).length;
  const left = { open: 0, unfinished: 0 };
  for (let kill = 0; kill < KILLS; kill += 1) {
    const worker = await startWorker(4, place, startMs);
    await momentOf(kill, folder);
    await end(worker, 'SIGKILL', kill % 2 === 0);
    left.open += await countOpen();
    left.unfinished += unfinishedIn(folder).length;
  }
  const last = await startWorker(0, place, startMs);
  await until(async () => (await countOpen()) === 0);
  await end(last, 'SIGTERM');
  await until(() => readdirSync(folder).length === 0);
  const rows = (await engine.run('SELECT id, state FROM hand_overs')) as { id: string; state: string }[];
  t.ok(rows.length >= KILLS && left.open > 0, 'some were waiting when their process was killed');
  for (const { id, state } of rows) {
    const found = await findEInvoice(engine, company, id);
    const texts = taken.get(`${company}_${found?.name}_${id}.xml`) ?? [];
    t.strictSame([...new Set(texts)], [found?.text('ubl')], `${id} came in whole, and as it was issued`);
    t.ok(state === 'handed_over' && texts.length <= KILLS, `${id} came in ${texts.length} times`);
  }
  t.equal(taken.size, rows.length, 'and nothing else, nor under another name');
  const twice = [...taken.values()].filter(({ length }) => length > 1).length;
  t.comment(`${KILLS} kills, ${rows.length} documents, ${twice} came twice; left by kills`, left);
});
