import type { Change } from '../../src/contract/feed.ts';
import { createCompany } from '../../src/server/backoffice/companies.ts';
import { applyChange } from '../../src/server/backoffice/apply.ts';
import { type Backoffice, openBackoffice } from '../../src/server/backoffice/backoffice.ts';
import { createFeedToken } from '../../src/server/features/feed-tokens/feed-tokens.ts';
import { applyFeed } from '../../src/server/backoffice/feed.ts';
import { createFeedSender } from '../../src/client/feed/feed-sender.ts';
import { type EngineName, engineNames, openTestDatabase } from '../_server.ts';
import { freePort } from '../_postgres.ts';
import { aligned, compareRates, quantile, type Side } from './_rounds.ts';
import { startProduct } from './_servers.ts';

const ROUNDS = Number(process.env.MOVES_ROUNDS ?? 5);
/** Times that the story below is told in a round. */
const STORIES = 60;
const EVENTS = 'job.created job.updated job.completed form.submitted invoice.issued payment.recorded'.split(
  ' ',
);

const place = { addressLines: ['1 Quay'], countryCode: 'IE' };
const price = { quantity: '1.5', unitPriceMinor: 6400, vatCategory: 'S', vatRateBasisPoints: 1350 };
const line = { description: 'Work', ...price };
const type = { jobTypeId: 'type', jobTypeVersion: 1 };
const job = { title: 'J', statusLabelId: 'new', customerId: 'cus', createdBy: 'per', ...type };

/** Moves a second, one transaction each: with and without ten webhooks that hear of everything, on both engines. */
export async function benchMoves(): Promise<string> {
  await using stack = new AsyncDisposableStack();
  const sides: Side[] = [];
  for (const name of engineNames) {
    const { engine } = stack.use(await openTestDatabase(name));
    const backoffice = openBackoffice(engine);
    for (const webhooks of [0, 10]) {
      const company = `webhooks-${webhooks}`;
      await openCompany(backoffice, company, webhooks);
      sides.push({ name: `${name}, ${webhooks} webhooks`, rate: () => tellStories(backoffice, company) });
    }
  }
  const overHttp: string[] = [];
  for (const name of engineNames) overHttp.push(await benchFeed(name));
  return [await compareRates('moves', sides, ROUNDS), ...overHttp].join('\n\n');
}

const CHANGES = 2_000;
const ALONE = 500;

/** A feed that is applied on the spot, and one that goes over HTTP to a server of its own; and changes one by one. */
async function benchFeed(name: EngineName): Promise<string> {
  await using database = await openTestDatabase(name);
  const { engine } = database;
  const backoffice = openBackoffice(engine);
  await openCompany(backoffice, 'fed', 0);
  const { token } = await createFeedToken(engine, { keyPrefix: 'fl', name: 'bench', now: new Date() });
  const port = await freePort();
  const limits = { FEED_PORT: String(port), FEED_REQUESTS_PER_MINUTE: '1000000', DELIVER_WEBHOOKS: 'off' };
  await using stack = new AsyncDisposableStack();
  stack.use(await startProduct(database.url, limits));
  const sender = createFeedSender({ url: `http://127.0.0.1:${port}`, token });
  let last = 0;
  const changes = (count: number) =>
    Array.from({ length: count }, () => {
      last += 1;
      const id = `job-${last - (last % 4)}`;
      const moves = [
        { change: 'job.create', with: { ...job, id } },
        { change: 'job.update', with: { id, dates: ['2026-11-23'], assignedTo: ['per'] } },
        { change: 'job.complete', with: { id } },
        { change: 'job.reopen', with: { id } },
      ];
      return JSON.stringify({ id: `c${last}`, company: 'fed', ...moves[last % 4] });
    });
  const rateOf = async (take: (texts: string[]) => AsyncIterable<{ text: string }>, count = CHANGES) => {
    const texts = changes(count);
    const startedAt = performance.now();
    let applied = 0;
    for await (const { text } of take(texts)) if (text.includes('"status":"applied"')) applied += 1;
    if (applied !== count) throw new Error(`${applied} of ${count} were applied.`);
    return (count * 1000) / (performance.now() - startedAt);
  };
  async function* chunks(texts: readonly string[]): AsyncGenerator<Uint8Array> {
    yield Buffer.from(texts.join('\n'));
  }
  last = 3;
  const sides = [
    {
      name: `${name}, applied on the spot`,
      rate: () => rateOf((texts) => applyFeed(backoffice, chunks(texts))),
    },
    { name: `${name}, batches over HTTP`, rate: () => rateOf((texts) => sender.sendTexts(texts)) },
  ];
  const table = await compareRates('changes', sides, ROUNDS);
  const ms: number[] = [];
  for (let count = 0; count < ALONE; count += 1) ms.push(1000 / (await rateOf(sender.sendTexts, 1)));
  const cells = [0.5, 0.99].map((share) => quantile(ms, share).toFixed(1));
  return `${table}\n\n${aligned([
    ['', 'p50 ms', 'p99 ms'],
    [`${name}, one change alone over HTTP`, ...cells],
  ])}`;
}

async function openCompany(backoffice: Backoffice, company: string, webhookCount: number): Promise<void> {
  const profile = { legalName: 'Bench Ltd', vatId: 'IE3290618T', ...place };
  await createCompany(backoffice.engine, company, { profile }, new Date());
  for (let index = 0; index < webhookCount; index += 1) {
    await backoffice.engine.run(`
      INSERT INTO webhooks (company, id, url, secret, events, created_at) VALUES ('${company}', 'whk_${index}',
        'https://hooks.customer.example', 'whsec_bench', '${JSON.stringify(EVENTS)}', '2026-11-20T12:00:00.000Z')`);
  }
  const move = (change: Change['change'], what: object) => make(backoffice, company, change, what);
  const role = { roleId: 'r', roleName: 'R' };
  await move('person.save', { id: 'per', displayName: 'P', email: 'p@p.example', ...role });
  await move('customer.save', { id: 'cus', name: 'C', currency: 'EUR', paymentTermsDays: 14, ...place });
  await move('form.save', { id: 'frm', title: 'F', fields: [] });
  await move('form.publish', { id: 'frm' });
}

/** Makes a move and gives the id of its record. */
async function make(
  backoffice: Backoffice,
  company: string,
  change: Change['change'],
  what: object,
): Promise<string> {
  // The bench knows what the moves take; applyChange checks it all the same.
  const outcome = await applyChange(backoffice, { company, change, with: what } as Change);
  const record = outcome.status === 'applied' ? (outcome.record ?? '{}') : '{}';
  return (JSON.parse(record) as { id: string }).id;
}

/** A job from its creation to its payment, again and again. @returns the moves a second. */
async function tellStories(backoffice: Backoffice, company: string): Promise<number> {
  let moves = 0;
  const move = (change: Change['change'], what: object) => {
    moves += 1;
    return make(backoffice, company, change, what);
  };
  const startedAt = performance.now();
  for (let story = 0; story < STORIES; story += 1) {
    const jobId = await move('job.create', job);
    await move('job.update', { id: jobId, dates: ['2026-11-23'], assignedTo: ['per'] });
    await move('form.submit', { formId: 'frm', jobId, submittedBy: 'per' });
    await move('job.complete', { id: jobId });
    const lines = [{ ...line, jobId }, line];
    const invoiceId = await move('invoice.draft', { kind: 'invoice', customerId: 'cus', lines });
    await move('invoice.edit', { id: invoiceId, note: 'Thank you.' });
    await move('invoice.issue', { id: invoiceId });
    await move('payment.record', { invoiceId, amountMinor: 21_792, currency: 'EUR', method: 'card' });
  }
  return (moves * 1000) / (performance.now() - startedAt);
}
