import type { Change } from '../../src/contract/feed.ts';
import { createCompany } from '../../src/server/access/companies.ts';
import { applyChange } from '../../src/server/backoffice/apply.ts';
import { type Backoffice, openBackoffice } from '../../src/server/backoffice/backoffice.ts';
import { engineNames, openTestDatabase } from '../_server.ts';
import { compareRates, type Side } from './_rounds.ts';

const ROUNDS = Number(process.env.MOVES_ROUNDS ?? 5);
/** Times that the story below is told in a round. */
const STORIES = 60;
const EVENTS = [
  'job.created',
  'job.updated',
  'job.completed',
  'form.submitted',
  'invoice.issued',
  'payment.recorded',
];

const place = { addressLines: ['1 Quay'], countryCode: 'IE' };
const line = {
  description: 'Work',
  quantity: '1.5',
  unitPriceMinor: 6400,
  vatCategory: 'S',
  vatRateBasisPoints: 1350,
};
const job = {
  title: 'J',
  statusLabelId: 'new',
  customerId: 'cus',
  jobTypeId: 'type',
  jobTypeVersion: 1,
  createdBy: 'per',
};

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
  return await compareRates('moves', sides, ROUNDS);
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
  await move('person.save', {
    id: 'per',
    displayName: 'P',
    email: 'p@p.example',
    roleId: 'r',
    roleName: 'R',
  });
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
