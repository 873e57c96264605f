/*
 * Makes the changes of a company's day, as a process of its own: everything that a copy can miss. Its arguments are the
 * database, the company, how many changes to make, a seed, and the most milliseconds between two changes.
 */
import { setTimeout as pause } from 'node:timers/promises';

import { applyChange } from '../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../src/server/backoffice/backoffice.ts';
import { Refusal } from '../../src/server/backoffice/refusal.ts';
import type { Change } from '../../src/contract/feed.ts';
import { openEngine } from '../../src/server/store/engines/open-engine.ts';
import { createDice } from '../server/backoffice/_sync.ts';

const [url = '', company = '', count = '0', seed = '0', pauseMs = '0'] = process.argv.slice(2);
await using engine = await openEngine(url);
const backoffice = openBackoffice(engine);
const roll = createDice(Number(seed));

const FORMS_MAX = 8;

type Kind = 'people' | 'forms' | 'jobs' | 'invoices' | 'payments' | 'quotes';

/** The ids of what was made so far; a payment's after its invoice's. */
const ids: Record<Kind, string[]> = {
  people: [],
  forms: [],
  jobs: [],
  invoices: [],
  payments: [],
  quotes: [],
};
const pick = (kind: Kind) => ids[kind][roll(ids[kind].length)] ?? 'none';

const lines = [
  { description: 'Work', quantity: '1.5', unitPriceMinor: 1000, vatRateBasisPoints: 2300, vatCategory: 'S' },
];
const person = { email: 'p@p.example', roleId: 'r', roleName: 'R' };

function changeAt(step: number): [change: string, what: object, made?: Kind] {
  const title = `Change ${step}`;
  const jobType = { jobTypeId: 'type', jobTypeVersion: 1 };
  const job = { ...jobType, statusLabelId: 'new', createdBy: 'per', customerId: 'cus' };
  const place = { addressLines: ['1 Quay'], countryCode: 'IE', currency: 'EUR' };
  const invoice = { kind: 'invoice', customerId: 'cus', lines };
  const payment = { invoiceId: pick('invoices'), amountMinor: 100, currency: 'EUR', method: 'card' };
  const submission = { formId: pick('forms'), submittedBy: 'per' };
  // A company has few forms, however long the day is.
  const isNewForm = ids.forms.length < FORMS_MAX;
  const [invoiceId = '', paymentId] = pick('payments').split(' ');
  const choices: [string, object, Kind?][] = [
    ['person.save', { ...person, displayName: title }, 'people'],
    ['person.save', { ...person, id: pick('people'), displayName: title }],
    ['person.deactivate', { id: pick('people') }],
    ['customer.save', { id: 'cus', name: title, ...place, paymentTermsDays: 14 }],
    isNewForm
      ? ['form.save', { title, fields: [] }, 'forms']
      : ['form.save', { id: pick('forms'), title, fields: [] }],
    ['form.publish', { id: pick('forms') }],
    ['form.submit', submission],
    ['form.submit', submission],
    ['job.create', { ...job, title }, 'jobs'],
    ['job.update', { id: pick('jobs'), title }],
    ['job.complete', { id: pick('jobs') }],
    ['invoice.draft', invoice, 'invoices'],
    ['invoice.draft', invoice, 'invoices'],
    ['invoice.edit', { id: pick('invoices'), note: title }],
    ['invoice.discard', { id: pick('invoices') }],
    ['invoice.issue', { id: pick('invoices') }],
    ['payment.record', { ...payment, id: `pay_${step}` }],
    ['payment.void', { invoiceId, id: paymentId }],
    ['quote.draft', { customerId: 'cus', title, lines }, 'quotes'],
    ['quote.send', { id: pick('quotes') }],
    ['quote.accept', { id: pick('quotes') }],
    ['quote.revise', { id: pick('quotes') }, 'quotes'],
  ];
  return choices[roll(choices.length)] ?? changeAt(step);
}

let made = 0;
while (made < Number(count)) {
  await pause(roll(Number(pauseMs)));
  const [change, what, kind] = changeAt(made);
  try {
    const outcome = await applyChange(backoffice, { company, change, with: what } as Change);
    if (outcome.status !== 'applied') continue;
    made += 1;
    const { id = '' } = JSON.parse(outcome.record ?? '{}') as { id?: string };
    if (kind) ids[kind].push(id);
    if (change === 'payment.record') ids.payments.push(`${id} pay_${made - 1}`);
  } catch (error) {
    // Chance picks what can't be moved now and then.
    if (!(error instanceof Refusal)) throw error;
  }
}
