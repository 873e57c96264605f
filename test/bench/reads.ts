import { join } from 'node:path';

import { openTestDatabase } from '../_server.ts';
import { BIG_CUSTOMER, fillCompany, idAt } from './_company.ts';
import { type Generator, startGenerator } from './_load.ts';
import { aligned, median, spread, takeTurns, whole } from './_rounds.ts';
import { cpuMicroseconds, type Server, startProduct, startServer } from './_servers.ts';

/** Five gave one page 0.70 of the bare handler and then 0.98, on a machine that is quick and slow by turns. */
const ROUNDS = Number(process.env.READS_ROUNDS ?? 11);
const SECONDS = Number(process.env.READS_SECONDS ?? 0.5);
/**
 * For each question. V8 compiles what is hot in the background, again and again: on pages the bare handler is as quick as
 * it gets after three seconds, and both the server and Fastify, which have more to be compiled, after six.
 */
const WARM_UP_SECONDS = Number(process.env.READS_WARM_UP_SECONDS ?? 6);
/** Enough to keep a server busy all the time, and few enough that the wait in its queue doesn't hide the work. */
const CONNECTIONS = 8;
const JOBS = 20_000;
const PATHS = {
  'one record': `/api/v1/jobs/${idAt(JOBS / 2)}`,
  'a page of 50': '/api/v1/jobs?limit=50',
  'a filtered page of 50': `/api/v1/invoices?kind=invoice&customer=${BIG_CUSTOMER}&limit=50`,
};

interface Side {
  name: string;
  server: Server;
}

/** Requests a second of the server, beside a bare handler, which is the limit, and Fastify with the same duties. */
export async function benchReads(): Promise<string> {
  await using database = await openTestDatabase('sqlite');
  const key = await fillCompany(database.engine, { jobs: JOBS, invoices: 5_000, quotes: 0 });
  const peer = (name: string) =>
    startServer([join(import.meta.dirname, `_peer-${name}.ts`)], { DATABASE_URL: database.url });
  await using bare = await peer('bare');
  await using product = await startProduct(database.url);
  await using fastify = await peer('fastify');
  await using generator = await startGenerator();
  const sides = [
    { name: 'bare node:http', server: bare },
    { name: 'fieldledger serve', server: product },
    { name: 'Fastify, same duties', server: fastify },
  ];
  const tables: string[] = [];
  for (const [question, path] of Object.entries(PATHS)) {
    const bytes = await requireSameBodies(sides, path, key);
    const units = ['requests/s', 'spread', 'p50 ms', 'p99 ms', 'CPU us', 'of bare'];
    const heads = [`${question}, ${whole(bytes)} bytes`, ...units];
    tables.push(aligned([heads, ...(await measure(generator, sides, path, key))]));
  }
  return tables.join('\n\n');
}

/** Makes sure that the sides do the same work. @returns the length of the body that they give. */
async function requireSameBodies(sides: readonly Side[], path: string, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' };
  const bodies = new Set<string>();
  for (const { name, server } of sides) {
    const response = await fetch(server.url + path, { headers });
    const body = await response.text();
    if (response.status !== 200) throw new Error(`${name} answers ${path} with ${response.status}: ${body}`);
    bodies.add(body);
  }
  const [body = '', other] = bodies;
  if (other !== undefined)
    throw new Error(`The sides give different answers for ${path}.\n${body}\n${other}`);
  return Buffer.byteLength(body);
}

/** Processor time is the server's for a request; the ratio to the bare handler is the median of the rounds' ratios. */
async function measure(
  generator: Generator,
  sides: readonly Side[],
  path: string,
  key: string,
): Promise<string[][]> {
  const load = async ({ server: { url, pid } }: Side, seconds: number) => {
    const before = cpuMicroseconds(pid);
    const paths = [path];
    const answers = await generator.runAnswered({ url, key, paths, connections: CONNECTIONS, seconds });
    return { ...answers, cpu: (cpuMicroseconds(pid) - before) / answers.count };
  };
  for (const side of sides) await load(side, WARM_UP_SECONDS);
  const rounds = await takeTurns(
    sides.map((side) => () => load(side, SECONDS)),
    ROUNDS,
  );
  return sides.map(({ name }, index) => {
    const own = rounds[index] ?? [];
    const rates = own.map(({ perSecond }) => perSecond);
    const ratios = rates.map((rate, round) => rate / (rounds[0]?.[round]?.perSecond ?? rate));
    return [
      name,
      whole(median(rates)),
      spread(rates),
      median(own.map(({ p50 }) => p50)).toFixed(2),
      median(own.map(({ p99 }) => p99)).toFixed(2),
      whole(median(own.map(({ cpu }) => cpu))),
      median(ratios).toFixed(2),
    ];
  });
}
