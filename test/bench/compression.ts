import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, constants, gzip, gzipSync, zstdCompressSync } from 'node:zlib';

import { listEnvelope } from '../../src/contract/json-text.ts';
import { loadGeneratedCompany } from '../../src/demo/load.ts';
import { openEngine } from '../../src/store/engine.ts';
import { listInvoices } from '../../src/store/invoices.ts';
import { createListReader } from '../../src/store/lists.ts';
import { migrate } from '../../src/store/migrate.ts';
import type { Page } from '../../src/store/pages.ts';
import { listRecords } from '../../src/store/records.ts';
import type { Bench } from './_bench.ts';
import { aligned, quantile, takeTurns, whole } from './_rounds.ts';

const ROUNDS = 9;
/** Pages that a round compresses. */
const PAGES = 50;
const RECORDS = 2_000;

/** What compressing a page costs, and what it saves. */
export const compression: Bench = {
  about: 'time and bytes of a page of 50 by gzip, brotli and zstd, and of records that are stored compressed',
  run: async () => {
    const figures = [];
    for (const [name, page] of Object.entries(await pagesOfDemo())) figures.push(await measure(name, page));
    return { figures, text: figures.map(textOf).join('\n\n') };
  },
};

async function pagesOfDemo(): Promise<Record<string, Page<unknown>>> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-bench-'));
  try {
    await using engine = await openEngine(`sqlite:${join(folder, 'bench.db')}`);
    await migrate(engine);
    const { id } = await loadGeneratedCompany(engine, RECORDS, () => undefined);
    const read = createListReader(engine);
    const page = { after: '', limit: 50 };
    return {
      jobs: await listRecords(read, 'jobs', id, undefined, page),
      invoices: await listInvoices(read, id, { status: 'issued' }, page),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Way = (text: string) => Uint8Array | Promise<Uint8Array>;

const gzipAside = promisify<string, object, Buffer>(gzip);
const brotli = (quality: number) => (text: string) =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
const zstd = (level: number) => (text: string) =>
  zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: level } });

const ways: Record<string, Way> = {
  'as it is': (text) => Buffer.from(text),
  'gzip 1': (text) => gzipSync(text, { level: 1 }),
  'gzip 3, the server': (text) => gzipSync(text, { level: 3 }),
  'gzip 3, by another thread': (text) => gzipAside(text, { level: 3 }),
  'gzip 6': (text) => gzipSync(text, { level: 6 }),
  'brotli 1': brotli(1),
  'brotli 4': brotli(4),
  'brotli 6': brotli(6),
  'zstd 1': zstd(1),
  'zstd 3': zstd(3),
  'zstd 9': zstd(9),
};

interface Compared {
  list: string;
  bytes: number;
  ways: { way: string; bytes: number; microseconds: number }[];
}

async function measure(list: string, { records }: Page<unknown>): Promise<Compared> {
  const text = listEnvelope(records, null);
  // Members of gzip may follow each other (RFC 1952 section 2.2): joining them costs next to nothing.
  const stored = records.map((record) => gzipSync(`${record},`, { level: 9 }));
  const all: Record<string, Way> = { ...ways, 'gzip 9 of each record, joined': () => Buffer.concat(stored) };
  const sides = Object.values(all).map((compress) => async () => {
    const startedAt = performance.now();
    for (let page = 0; page < PAGES; page += 1) await compress(text);
    return ((performance.now() - startedAt) * 1_000) / PAGES;
  });
  const times = await takeTurns(sides, ROUNDS);
  const measured = Object.entries(all).map(async ([way, compress], index) => ({
    way,
    bytes: (await compress(text)).length,
    microseconds: quantile(times[index] ?? [], 0.5),
  }));
  return { list, bytes: Buffer.byteLength(text), ways: await Promise.all(measured) };
}

function textOf({ list, bytes, ways: compared }: Compared): string {
  const rows = compared.map((one) => {
    const savedBits = 8 * (bytes - one.bytes);
    return [
      one.way,
      whole(one.bytes),
      `${Math.round((100 * one.bytes) / bytes)} %`,
      whole(one.microseconds),
      // A line that is slower than this gains more than the compression takes.
      savedBits > 0 ? whole(savedBits / one.microseconds) : '',
    ];
  });
  const heading = [`a page of 50 ${list}`, 'bytes', 'of all', 'microseconds', 'pays below Mbit/s'];
  return aligned([heading, ...rows]);
}
