import { createCompany } from '../../src/server/access/companies.ts';
import { applyChange } from '../../src/server/backoffice/apply.ts';
import { type Backoffice, openBackoffice } from '../../src/server/backoffice/backoffice.ts';
import type { Change } from '../../src/contract/feed.ts';
import { engineNames, openTestDatabase } from '../_server.ts';
import type { Bench } from './_bench.ts';
import { compare, type Reached, type Side, tableOf } from './_rounds.ts';

const ROUNDS = 5;
/** Times that the story below is told in a round. */
const STORIES = 60;
const WEBHOOKS = 10;

const kinds = [
  'job.created',
  'job.updated',
  'job.completed',
  'form.submitted',
  'invoice.issued',
  'payment.recorded',
];
const profile = { legalName: 'Bench Ltd', addressLines: ['1 Quay'], countryCode: 'IE', vatId: 'IE3290618T' };
const line = {
  description: 'Work',
  quantity: '1.5',
  unitPriceMinor: 6400,
  vatCategory: 'S',
  vatRateBasisPoints: 1350,
};
const customer = {
  name: 'C',
  addressLines: ['1 Quay'],
  countryCode: 'IE',
  currency: 'EUR',
  paymentTermsDays: 14,
};
const job = {
  title: 'J',
  statusLabelId: 'new',
  customerId: 'cus',
  jobTypeId: 'type',
  jobTypeVersion: 1,
  createdBy: 'per',
};

/** Moves per second, one transaction each: with and without ten webhooks that hear of everything, on both engines. */
export const moves: Bench = {
  about:
    'moves a second on both engines, one transaction each; PostgreSQL runs without fsync, as in the tests',
  run: async () => {
    const figures = await benchMoves();
    return { figures, text: tableOf('moves', figures) };
  },
};

async function benchMoves(): Promise<Reached[]> {
  await using sqlite = await openTestDatabase('sqlite');
  await using postgres = await openTestDatabase('postgres');
  const databases = { sqlite, postgres };
  const sides: Side[] = [];
  for (const name of engineNames) {
    const { engine } = databases[name];
    const backoffice = openBackoffice(engine);
    for (const webhooks of [0, WEBHOOKS]) {
      const company = `webhooks-${webhooks}`;
      await openCompany(backoffice, company, webhooks);
      sides.push({ name: `${name}, ${webhooks} webhooks`, round: () => tellStories(backoffice, company) });
    }
  }
  return await compare(sides, ROUNDS);
}

async function openCompany(backoffice: Backoffice, company: string, webhookCount: number): Promise<void> {
  await createCompany(backoffice.engine, company, { profile }, new Date());
  await backoffice.engine.transaction(async (transaction) => {
    for (let index = 0; index < webhookCount; index += 1) {
      const row = {
        company,
        id: `whk_${index}`,
        url: 'https://hooks.customer.example',
        secret: 'whsec_bench',
      };
      const values = { ...row, events: JSON.stringify(kinds), created_at: '2026-11-20T12:00:00.000Z' };
      await transaction.insertInto('webhooks').values(values).execute();
    }
  });
  const make = maker(backoffice, company);
  await make('person.save', {
    id: 'per',
    displayName: 'P',
    email: 'p@p.example',
    roleId: 'r',
    roleName: 'R',
  });
  await make('customer.save', { id: 'cus', ...customer });
  await make('form.save', { id: 'frm', title: 'F', fields: [] });
  await make('form.publish', { id: 'frm' });
}

type Make = (change: Change['change'], what: object) => Promise<string>;

/** Makes a move and gives the id of its record. */
function maker(backoffice: Backoffice, company: string): Make {
  return async (change, what) => {
    // The bench knows what the moves take; applyChange checks it all the same.
    const outcome = await applyChange(backoffice, { company, change, with: what } as Change);
    const record = outcome.status === 'applied' ? (outcome.record ?? '{}') : '{}';
    return (JSON.parse(record) as { id: string }).id;
  };
}

/** A job from its creation to its payment, as often as a round wants. @returns how many moves that were. */
async function tellStories(backoffice: Backoffice, company: string): Promise<number> {
  const make = maker(backoffice, company);
  let moves = 0;
  const move: Make = (change, what) => {
    moves += 1;
    return make(change, what);
  };
  for (let story = 0; story < STORIES; story += 1) {
    const jobId = await move('job.create', job);
    await move('job.update', { id: jobId, dates: ['2026-11-23'], assignedTo: ['per'] });
    await move('form.submit', { formId: 'frm', jobId, submittedBy: 'per' });
    await move('job.complete', { id: jobId });
    const invoiceId = await move('invoice.draft', {
      kind: 'invoice',
      customerId: 'cus',
      lines: [{ ...line, jobId }, line],
    });
    await move('invoice.edit', { id: invoiceId, note: 'Thank you.' });
    await move('invoice.issue', { id: invoiceId });
    await move('payment.record', { invoiceId, amountMinor: 21_792, currency: 'EUR', method: 'card' });
  }
  return moves;
}
