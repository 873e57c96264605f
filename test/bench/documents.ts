import { setTimeout as pause } from 'node:timers/promises';

import { engineNames, openTestDatabase } from '../_server.ts';
import { fillCompany, idAt } from './_company.ts';
import { startGenerator } from './_load.ts';
import { readMeanwhile } from './_paced.ts';
import { aligned, median, takeTurns, whole } from './_rounds.ts';
import { startProduct } from './_servers.ts';

const ROUNDS = Number(process.env.DOCUMENTS_ROUNDS ?? 3);
/** Documents of a round, and how many are asked for at once. */
const BURST = 200;
const CONNECTIONS = 50;
/** Documents that are asked for one after the other. */
const ALONE = 100;
const IDLE_MS = 5_000;

/** A new PDF from its request to its end, many at once, and a record that is read meanwhile. */
export async function benchDocuments(): Promise<string> {
  const rows: string[][] = [];
  for (const name of engineNames) {
    await using database = await openTestDatabase(name);
    const invoices = 2 * ALONE + BURST * (ROUNDS + 1);
    const key = await fillCompany(database.engine, { jobs: 1_000, invoices, quotes: 0 });
    await using product = await startProduct(database.url);
    await using generator = await startGenerator();
    let next = 0;
    const ask = async (amount: number, connections: number) => {
      const paths = Array.from({ length: amount }, () => `/api/v1/invoices/${idAt(next++)}/pdf`);
      const load = { url: product.url, key, paths, connections, amount };
      return generator.runAnswered({ ...load, isLow: connections > 1 });
    };
    await ask(ALONE, 1);
    const alone = await ask(ALONE, 1);
    const record = `${product.url}/api/v1/jobs/${idAt(1)}`;
    const idle = async () => ({ ms: 0, p99: await readMeanwhile(record, key, pause(IDLE_MS)) });
    const burst = async () => {
      const startedAt = performance.now();
      const p99 = await readMeanwhile(record, key, ask(BURST, CONNECTIONS));
      return { ms: performance.now() - startedAt, p99 };
    };
    const [idles = [], bursts = []] = await takeTurns([idle, burst], ROUNDS);
    rows.push([
      name,
      alone.p50.toFixed(1),
      alone.p99.toFixed(1),
      median(idles.map(({ p99 }) => p99)).toFixed(2),
      median(bursts.map(({ p99 }) => p99)).toFixed(2),
      whole(median(bursts.map(({ ms }) => ms))),
    ]);
  }
  const heads = ['ms', 'a new PDF, p50', 'p99', 'a record, p99', `beside ${BURST} PDFs`, 'these in all'];
  return aligned([heads, ...rows]);
}
