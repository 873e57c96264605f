import { Agent, type IncomingMessage, request } from 'node:http';
import { once } from 'node:events';

import { loadExampleCompany } from '../../src/demo/load.ts';
import type { Engine } from '../../src/store/engine.ts';
import { type EngineName, engineNames, openTestDatabase, startTestServer, STORY_NOW } from '../_server.ts';
import { addHistory } from '../portal/_history.ts';
import { addAdministrator, COMPANY, EMAIL, PASSWORD, Visitor } from '../portal/_portal.ts';
import { addWebhook } from '../portal/_webhooks.ts';
import type { Bench } from './_bench.ts';
import { aligned, quantile } from './_rounds.ts';

const WEBHOOKS = 10;
const DELIVERIES = Number(process.env.PORTAL_DELIVERIES ?? 100_000);
const ROUNDS = Number(process.env.PORTAL_ROUNDS ?? 60);
/** Who sees the jobs alone, so that every list leaves something out. */
const LIMITED = { email: 'limited@brennan.example', password: PASSWORD };

interface Figures {
  engine: EngineName;
  page: string;
  p50: number;
  p99: number;
  bytes: number;
}

/** What a page of the portal costs beside ten webhooks of so many deliveries each. */
export const portal: Bench = {
  about: `pages of the portal with ${WEBHOOKS} webhooks of 100,000 deliveries each (PORTAL_DELIVERIES)`,
  run: async () => {
    const figures: Figures[] = [];
    for (const engine of engineNames) figures.push(...(await benchPortal(engine)));
    return { figures, text: textOf(figures) };
  },
};

/** Every page that is measured, by its name; and those that are measured for somebody who sees less. */
function pagesOf(webhook: string, delivery: string): Record<'all' | 'limited', Record<string, string>> {
  const of = `/portal/webhooks/${webhook}`;
  const list = `${of}/deliveries`;
  return {
    all: {
      overview: '/portal',
      keys: '/portal/keys',
      'new key': '/portal/keys/new',
      usage: '/portal/usage',
      documents: '/portal/documents',
      'documents, by number': '/portal/documents?search=inv-2026',
      'documents, of a customer': '/portal/documents?customer=cus_0003',
      'documents, drafts': '/portal/documents?show=drafts',
      document: '/portal/documents/01a15a0c-54c0-737e-abf7-cfe66f9292f6',
      'document, PDF': '/portal/documents/01a15a0c-54c0-737e-abf7-cfe66f9292f6/pdf',
      people: '/portal/people',
      audit: '/portal/audit',
      webhooks: '/portal/webhooks',
      'new webhook': '/portal/webhooks/new',
      webhook: of,
      deliveries: list,
      'deliveries, deep': `${list}?until=2026-10-23T00:00`,
      'deliveries, rare event': `${list}?event=quote.accepted`,
      'deliveries, no such event': `${list}?event=form.submitted`,
      'deliveries, failed': `${list}?state=unsent`,
      'deliveries, none waiting': `${list}?state=waiting`,
      'deliveries, none tried again': `${list}?state=retrying`,
      'deliveries, delivered': `${list}?state=delivered`,
      'deliveries, rare event failed': `${list}?state=unsent&event=quote.accepted`,
      'deliveries, two days': `${list}?from=2026-11-01T00:00&until=2026-11-03T00:00&event=job.updated`,
      delivery: `${list}/${delivery}`,
    },
    limited: { 'deliveries, some hidden': list, 'deliveries, failed, some hidden': `${list}?state=unsent` },
  };
}

async function benchPortal(name: EngineName): Promise<Figures[]> {
  await using database = await openTestDatabase(name);
  const { engine } = database;
  const { webhook, delivery } = await fill(engine);
  await using server = await startTestServer({ engine });
  using agent = new DisposableAgent();
  const pages = pagesOf(webhook, delivery);
  const figures: Figures[] = [];
  for (const [who, paths] of [
    [{ email: EMAIL, password: PASSWORD }, pages.all],
    [LIMITED, pages.limited],
  ] as const) {
    const cookie = await signedIn(server.url, who);
    for (const [page, path] of Object.entries(paths)) {
      const ask = () => timeOf(new URL(path, server.url), cookie, agent);
      // Statements are prepared, and code is compiled.
      for (let round = 0; round < 5; round += 1) await ask();
      const times: number[] = [];
      let bytes = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const asked = await ask();
        times.push(asked.ms);
        bytes = asked.bytes;
      }
      figures.push({ engine: name, page, p50: quantile(times, 0.5), p99: quantile(times, 0.99), bytes });
    }
  }
  return figures;
}

/** Makes the company, its administrators and what its webhooks were sent. */
async function fill(engine: Engine): Promise<{ webhook: string; delivery: string }> {
  await loadExampleCompany(engine);
  await addAdministrator(engine, { email: EMAIL, password: PASSWORD });
  await addAdministrator(engine, { ...LIMITED, scopes: ['jobs:read'] });
  const webhooks: string[] = [];
  for (let index = 0; index < WEBHOOKS; index += 1) webhooks.push((await addWebhook(engine)).id);
  await addHistory(engine, { company: COMPANY, webhooks, count: DELIVERIES, until: STORY_NOW });
  if (engine.name === 'postgres') await engine.run('ANALYZE');
  const [webhook = ''] = webhooks;
  const [row] = await engine.run(
    `SELECT id FROM deliveries WHERE webhook = '${webhook}' AND state = 'failed' ORDER BY id DESC LIMIT 1`,
  );
  return { webhook, delivery: String(row?.id) };
}

async function signedIn(url: string, who: { email: string; password: string }): Promise<string> {
  const visitor = new Visitor(url);
  await visitor.visit('/portal/sign-in');
  const { statusCode } = await visitor.submit('/portal/sign-in', who);
  if (statusCode !== 303) throw new Error(`Signing in was answered with ${statusCode}.`);
  return [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
}

class DisposableAgent extends Agent implements Disposable {
  constructor() {
    super({ keepAlive: true });
  }
  [Symbol.dispose](): void {
    this.destroy();
  }
}

/** Asks for a page on a kept connection, as a browser does. */
async function timeOf(url: URL, cookie: string, agent: Agent): Promise<{ ms: number; bytes: number }> {
  const startedAt = performance.now();
  const asked = request(url, { agent, headers: { cookie } }).end();
  // An event of this name has one value.
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of answer) bytes += (chunk as Buffer).length;
  const ms = performance.now() - startedAt;
  if (answer.statusCode !== 200) throw new Error(`${url.pathname} was answered with ${answer.statusCode}.`);
  return { ms, bytes };
}

function textOf(figures: readonly Figures[]): string {
  const rows = figures.map(({ engine, page, p50, p99, bytes }) => [
    engine,
    page,
    p50.toFixed(1),
    p99.toFixed(1),
    String(bytes),
  ]);
  return aligned([['engine', 'page', 'p50 ms', 'p99 ms', 'bytes'], ...rows]);
}
