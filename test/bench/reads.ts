import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openEngine } from '../../src/store/engine.ts';
import { migrate } from '../../src/store/migrate.ts';
import type { Bench } from './_bench.ts';
import { fillCompany } from './_company.ts';
import { type Generator, startGenerator } from './_load.ts';
import { type ServerProcess, startPrism, startProduct, startServer } from './_process.ts';
import { type Question, questionsOf } from './_questions.ts';
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
  /** The question as this side has to be asked, or undefined where it has no such answer. */
  asked: (question: Question) => Question | undefined;
  /** Whether it serves the database, and so has to give the same bodies as the others. */
  servesDatabase: boolean;
  /** Whether it states all that the contract has in an answer's head, and so the same fields as the others that do. */
  hasWholeHead: boolean;
}

/** What one side reached for one question; times in milliseconds. */
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
    const compared: Comparison[] = [];
    for (const question of questionsOf(key, JOBS, await etagOf(sides, key))) {
      const bytes = await requireSameAnswers(sides, question);
      compared.push({ question: question.name, bytes, sides: await measure(generator, sides, question) });
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
  const peer = (name: string, environment: Record<string, string> = {}) =>
    startServer([join(import.meta.dirname, `_peer-${name}.ts`)], {
      environment: { DATABASE_URL: databaseUrl, ...environment },
      logFile,
    });
  const sides: Side[] = [];
  const add = async (name: string, server: Promise<ServerProcess>, differing: Partial<Side> = {}) => {
    const same = { asked: (question: Question) => question, servesDatabase: true, hasWholeHead: false };
    sides.push({ name, server: stack.use(await server), ...same, ...differing });
  };
  await add('bare node:http', peer('bare'), { hasWholeHead: true });
  await add('fieldledger serve', startProduct(databaseUrl, { logFile }), { hasWholeHead: true });
  await add('Fastify, same duties', peer('fastify'));
  await add('Fastify, key and validation only', peer('fastify', { LEAN: '1' }), {
    asked: (question) => (question.status === 304 ? undefined : question),
  });
  await add('express-openapi-validator', peer('validator'));
  await add('Prism mock', startPrism(logFile), { asked: askedOfPrism, servesDatabase: false });
  return sides;
}

/** Prism looks at a key's presence only, and knows no ETags. */
function askedOfPrism(question: Question): Question | undefined {
  if (question.status === 304) return undefined;
  return question.status === 401 ? { ...question, headers: {} } : question;
}

async function etagOf(sides: readonly Side[], key: string): Promise<string> {
  const product = sides.find(({ name }) => name === 'fieldledger serve');
  const [question] = questionsOf(key, JOBS, '');
  if (!product || !question) throw new Error('There is nothing to ask for an ETag.');
  const response = await fetch(product.server.url + question.path, { headers: question.headers });
  await response.arrayBuffer();
  return response.headers.get('etag') ?? '';
}

/**
 * Makes sure that the sides do the same work.
 * @returns the length of the body that they give.
 * @throws Error when a side answers with another status, or another body or head than the others that are to have the same.
 */
async function requireSameAnswers(sides: readonly Side[], question: Question): Promise<number> {
  const bodies = new Map<string, string[]>();
  const heads = new Set<string>();
  for (const { name, server, asked, servesDatabase, hasWholeHead } of sides) {
    const own = asked(question);
    if (!own) continue;
    const response = await fetch(server.url + own.path, {
      headers: { ...own.headers, 'accept-encoding': 'identity' },
    });
    const body = await response.text();
    if (response.status !== own.status)
      throw new Error(`${name} answers ${question.name} with ${response.status}: ${body.slice(0, 500)}`);
    if (hasWholeHead) heads.add(fieldsOf(response));
    if (servesDatabase) bodies.set(body, [...(bodies.get(body) ?? []), name]);
  }
  if (bodies.size !== 1) {
    const groups = [...bodies].map(([body, names]) => `${names.join(', ')}: ${body.slice(0, 300)}`);
    throw new Error(`The sides give different answers for ${question.name}.\n${groups.join('\n')}`);
  }
  if (heads.size !== 1) throw new Error(`The heads of ${question.name} differ.\n${[...heads].join('\n')}`);
  return Buffer.byteLength([...bodies.keys()][0] ?? '');
}

/** The names of a head's fields, in alphabetical order. */
function fieldsOf({ headers }: Response): string {
  const names: string[] = [];
  headers.forEach((_value, name) => names.push(name));
  return names.join(' ');
}

async function measure(generator: Generator, sides: readonly Side[], question: Question): Promise<Figures[]> {
  const asked = sides.flatMap((side) => {
    const own = side.asked(question);
    return own ? [{ side, own }] : [];
  });
  for (const { side, own } of asked) await loadOnce(generator, side, own, WARM_UP_SECONDS);
  const rounds = await takeTurns(
    asked.map(
      ({ side, own }) =>
        () =>
          loadOnce(generator, side, own),
    ),
    ROUNDS,
  );
  const bare = rounds[0] ?? [];
  return asked.map(({ side }, index) => {
    const ofSide = rounds[index] ?? [];
    const median = (name: keyof Round) =>
      quantile(
        ofSide.map((round) => round[name]),
        0.5,
      );
    const rates = ofSide.map(({ perSecond }) => perSecond);
    const ratios = rates.map((rate, round) => rate / (bare[round]?.perSecond ?? rate));
    return {
      side: side.name,
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
  question: Question,
  seconds = SECONDS,
): Promise<Round> {
  const cpuBefore = server.cpuMicroseconds();
  const { errors, byStatus } = await generator.run({
    url: server.url + question.path,
    headers: question.headers,
    connections: CONNECTIONS,
    seconds,
  });
  const cpu = server.cpuMicroseconds() - cpuBefore;
  const expected = byStatus[question.status];
  const others = Object.keys(byStatus).filter((status) => status !== String(question.status));
  if (!expected || others.length > 0 || errors > 0)
    throw new Error(
      `${name} fails ${question.name} under load: ${errors} errors, statuses ${others.join(' ')}`,
    );
  const { count, perSecond, p50, p99 } = expected;
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
