import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Bench } from './_bench.ts';

const program = join(import.meta.dirname, '..', '..', 'src', 'fieldledger.js');
const LINES = Number(process.env.FEED_LINES ?? 100_000);
const MEMORY_INTERVAL_MS = 250;

/** A long feed, applied by the command line. */
export const feed: Bench = {
  about: 'a feed of FEED_LINES lines (100,000) applied on SQLite by `fieldledger apply`',
  run: async () => {
    const figures = await benchFeed();
    const { lines, seconds, earlyMb, highestMb } = figures;
    const text =
      `${lines.toLocaleString('en')} lines: ${seconds.toFixed(1)} s, ` +
      `${Math.round(lines / seconds).toLocaleString('en')} lines/s; ` +
      `${Math.round(earlyMb)} MB of memory after a quarter of it, ${Math.round(highestMb)} MB at most`;
    return { figures, text };
  },
};

/** What applying a long feed took. */
interface FeedFigures {
  lines: number;
  seconds: number;
  /** Memory of the process's own, without the mapped database: after a quarter of the time, and at its highest. */
  earlyMb: number;
  highestMb: number;
}

/** Applies a feed of jobs, documents and payments by the command line, one transaction a line, on SQLite. */
async function benchFeed(): Promise<FeedFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-bench-'));
  try {
    const environment = { PATH: process.env.PATH, DATABASE_URL: `sqlite:${join(folder, 'bench.db')}` };
    const profile = ['--legal-name', 'Bench Ltd', '--address-lines', '1 Quay', '--country-code', 'IE'];
    await run(
      ['company', 'create', 'bench', '--api', '--invoicing', ...profile, '--vat-id', 'IE3290618T'],
      environment,
    );
    const feed = join(folder, 'feed.jsonl');
    await writeFeed(feed);
    const startedAt = performance.now();
    const memoryMb = await run(['apply', feed], environment);
    const seconds = (performance.now() - startedAt) / 1000;
    const earlyMb = memoryMb[Math.floor(memoryMb.length / 4)] ?? 0;
    return { lines: LINES, seconds, earlyMb, highestMb: Math.max(...memoryMb) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a command to its end. @returns its own memory from time to time, in megabytes. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number[]> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'ignore'] });
  const memoryMb: number[] = [];
  const timer = setInterval(() => memoryMb.push(ownMb(child.pid)), MEMORY_INTERVAL_MS);
  const [exitCode] = (await once(child, 'close')) as [number | null];
  clearInterval(timer);
  if (exitCode !== 0) throw new Error(`fieldledger ${args[0]} ended with ${exitCode}.`);
  return memoryMb;
}

function ownMb(pid: number | undefined): number {
  try {
    const [, kilobytes] = /RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes ?? 0) / 1024;
  } catch {
    // It has ended, or the system has no such files.
    return 0;
  }
}

async function writeFeed(path: string): Promise<void> {
  const file = createWriteStream(path);
  let written = 0;
  for (const change of story()) {
    const lineOf = { id: `change-${written}`, company: 'bench', ...change };
    if (!file.write(`${JSON.stringify(lineOf)}\n`)) await once(file, 'drain');
    written += 1;
    if (written === LINES) break;
  }
  file.end();
  await once(file, 'close');
}

const line = {
  description: 'Work',
  quantity: '1.5',
  unitPriceMinor: 6400,
  vatCategory: 'S',
  vatRateBasisPoints: 1350,
};

/** A person and a customer, and then jobs without end, each from its creation to its payment. */
function* story(): Generator<{ change: string; with: object }> {
  yield {
    change: 'person.save',
    with: { id: 'per', displayName: 'P', email: 'p@p.example', roleId: 'r', roleName: 'R' },
  };
  const terms = { currency: 'EUR', paymentTermsDays: 14 };
  yield {
    change: 'customer.save',
    with: { id: 'cus', name: 'C', addressLines: ['1 Quay'], countryCode: 'IE', ...terms },
  };
  for (let number = 0; ; number += 1) {
    const jobId = `job_${number}`;
    const type = { jobTypeId: 'type', jobTypeVersion: 1, statusLabelId: 'new' };
    yield {
      change: 'job.create',
      with: { id: jobId, title: `Job ${number}`, customerId: 'cus', createdBy: 'per', ...type },
    };
    yield { change: 'job.complete', with: { id: jobId } };
    const invoiceId = `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
    const lines = [{ ...line, jobId }, line];
    yield { change: 'invoice.draft', with: { id: invoiceId, kind: 'invoice', customerId: 'cus', lines } };
    yield { change: 'invoice.issue', with: { id: invoiceId } };
    yield {
      change: 'payment.record',
      with: { invoiceId, amountMinor: 21_792, currency: 'EUR', method: 'card' },
    };
  }
}
