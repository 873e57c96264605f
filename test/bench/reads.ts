import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openEngine } from '../../src/server/store/engines/open-engine.ts';
import { migrate } from '../../src/server/store/migrations/migrate.ts';
import type { Bench } from './_bench.ts';
import { customerId, fillCompany, jobId } from './_company.ts';
import { type Generator, startGenerator } from './_load.ts';
import { type ServerProcess, startPrism, startProduct, startServer } from './_process.ts';
import { aligned, quantile, takeTurns, whole } from './_rounds.ts';

/** Five gave one page 0.70 of the bare handler and then 0.98, on a machine that is quick and slow by turns. */
const ROUNDS = Number(process.env.READS_ROUNDS ?? 11);
const SECONDS = Number(process.env.READS_SECONDS ?? 0.5);
/**
 * For each question. V8 compiles what is hot in the background, again and again: on pages the bare handler is as quick as
 * it gets after three seconds, and both the server and Fastify, which have more to be compiled, after six.
 */
const WARM_UP_SECONDS = 6;
/** Enough to keep a server busy all the time, and few enough that the wait in its queue doesn't hide the work. */
const CONNECTIONS = 8;
const JOBS = 20_000;
const INVOICES = 5_000;
const PATHS = {
  'one record': `/api/v1/jobs/${jobId(JOBS / 2)}`,
  'a page of 50': '/api/v1/jobs?limit=50',
  'a filtered page of 50': `/api/v1/invoices?kind=invoice&customer=${customerId(3)}&limit=50`,
};

/** The real server beside the limit and its peers. */
export const reads: Bench = {
  about:
    'requests a second of the server, beside a bare handler and its peers (READS_SECONDS for each round)',
  run: async () => {
    const figures = await benchReads();
    return { figures, text: figures.map(textOf).join('\n\n') };
  },
};

interface Side {
  name: string;
  server: ServerProcess;
  /** Whether it serves the database, and so has to give the same bodies as the others. */
  servesDatabase: boolean;
}

/** The results of one side for one question; times in milliseconds. */
interface Figures {
  side: string;
  perSecond: number;
  slowest: number;
  quickest: number;
  p50: number;
  p99: number;
  /** Processor time of the server for a request, in microseconds. */
  cpuMicroseconds: number;
  /** Requests a second beside the bare handler's, the median of the rounds. */
  ofBare: number;
}

interface Comparison {
  question: string;
  bytes: number;
  sides: Figures[];
}

async function benchReads(): Promise<Comparison[]> {
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-bench-'));
  const url = `sqlite:${join(folder, 'bench.db')}`;
  try {
    const key = await fill(url);
    await using stack = new AsyncDisposableStack();
    const sides = await startSides(stack, url, folder);
    const generator = stack.use(await startGenerator());
    const headers = { authorization: `Bearer ${key}` };
    const compared: Comparison[] = [];
    for (const [question, path] of Object.entries(PATHS)) {
      const bytes = await requireSameBodies(sides, path, headers);
      compared.push({ question, bytes, sides: await measure(generator, sides, path, headers) });
    }
    return compared;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(url: string): Promise<string> {
  await using engine = await openEngine(url);
  await migrate(engine);
  return await fillCompany(engine, { jobs: JOBS, invoices: INVOICES });
}

async function startSides(stack: AsyncDisposableStack, databaseUrl: string, folder: string): Promise<Side[]> {
  const logFile = join(folder, 'log');
  const environment = { DATABASE_URL: databaseUrl };
  const peer = (name: string) =>
    startServer([join(import.meta.dirname, `_peer-${name}.ts`)], { environment, logFile });
  const sides: Side[] = [];
  const add = async (name: string, server: Promise<ServerProcess>, servesDatabase = true) =>
    sides.push({ name, server: stack.use(await server), servesDatabase });
  await add('bare node:http', peer('bare'));
  await add('fieldledger serve', startProduct(databaseUrl, { logFile }));
  await add('Fastify, same duties', peer('fastify'));
  await add('express-openapi-validator', peer('validator'));
  await add('Prism mock', startPrism(logFile), false);
  return sides;
}

type Headers = Record<string, string>;

/**
 * Makes sure that the sides do the same work.
 * @returns the length of the body that they give.
 * @throws Error when a side answers with another status, or another body than the others that are to have the same.
 */
async function requireSameBodies(sides: readonly Side[], path: string, headers: Headers): Promise<number> {
  const bodies = new Map<string, string[]>();
  for (const { name, server, servesDatabase } of sides) {
    const response = await fetch(server.url + path, {
      headers: { ...headers, 'accept-encoding': 'identity' },
    });
    const body = await response.text();
    if (response.status !== 200)
      throw new Error(`${name} answers ${path} with ${response.status}: ${body.slice(0, 500)}`);
    if (servesDatabase) bodies.set(body, [...(bodies.get(body) ?? []), name]);
  }
  if (bodies.size !== 1) {
    const groups = [...bodies].map(([body, names]) => `${names.join(', ')}: ${body.slice(0, 300)}`);
    throw new Error(`The sides give different answers for ${path}.\n${groups.join('\n')}`);
  }
  return Buffer.byteLength([...bodies.keys()][0] ?? '');
}

async function measure(
  generator: Generator,
  sides: readonly Side[],
  path: string,
  headers: Headers,
): Promise<Figures[]> {
  const load = (side: Side, seconds: number) => loadOnce(generator, side, { path, headers, seconds });
  for (const side of sides) await load(side, WARM_UP_SECONDS);
  const rounds = await takeTurns(
    sides.map((side) => () => load(side, SECONDS)),
    ROUNDS,
  );
  const bare = rounds[0] ?? [];
  return sides.map(({ name }, index) => {
    const ofSide = rounds[index] ?? [];
    const median = (figure: keyof Round) =>
      quantile(
        ofSide.map((round) => round[figure]),
        0.5,
      );
    const rates = ofSide.map(({ perSecond }) => perSecond);
    const ratios = rates.map((rate, round) => rate / (bare[round]?.perSecond ?? rate));
    return {
      side: name,
      perSecond: median('perSecond'),
      slowest: Math.min(...rates),
      quickest: Math.max(...rates),
      p50: median('p50'),
      p99: median('p99'),
      cpuMicroseconds: median('cpuMicroseconds'),
      ofBare: quantile(ratios, 0.5),
    };
  });
}

interface Round {
  perSecond: number;
  p50: number;
  p99: number;
  cpuMicroseconds: number;
}

async function loadOnce(
  generator: Generator,
  { name, server }: Side,
  { path, headers, seconds }: { path: string; headers: Headers; seconds: number },
): Promise<Round> {
  const cpuBefore = server.cpuMicroseconds();
  const load = { url: server.url + path, headers, connections: CONNECTIONS, seconds };
  const { errors, byStatus } = await generator.run(load);
  const cpu = server.cpuMicroseconds() - cpuBefore;
  const { 200: answered, ...others } = byStatus;
  if (!answered || Object.keys(others).length > 0 || errors > 0)
    throw new Error(`${name} fails ${path}: ${errors} errors, statuses ${Object.keys(byStatus).join(' ')}`);
  const { count, perSecond, p50, p99 } = answered;
  return { perSecond, p50, p99, cpuMicroseconds: cpu / count };
}

function textOf({ question, bytes, sides }: Comparison): string {
  const rows = sides.map((figures) => [
    figures.side,
    whole(figures.perSecond),
    `${whole(figures.slowest)} to ${whole(figures.quickest)}`,
    figures.p50.toFixed(2),
    figures.p99.toFixed(2),
    whole(figures.cpuMicroseconds),
    figures.ofBare.toFixed(2),
  ]);
  const title = `${question}, ${whole(bytes)} bytes`;
  return aligned([[title, 'requests/s', 'spread', 'p50 ms', 'p99 ms', 'CPU us', 'of bare'], ...rows]);
}
