/** A feed that makes every move, with all that a move would otherwise make up: every id, every line, every day. */
import type { ChangeName, DraftLine, ChangeContent } from '../../../src/contract/feed.ts';
import type { Given } from './_backoffice.ts';
import { customerSave, formSave, jobCreate, personSave } from './_changes.ts';

export const fedCompanies = [
  { id: 'acme', countryCode: 'IE', vatId: 'IE9876543H', currency: 'EUR', rate: 2300 },
  { id: 'borough', countryCode: 'GB', vatId: 'GB987654353', currency: 'GBP', rate: 2000 },
] as const;

type FedCompany = (typeof fedCompanies)[number];
type Step = Given;

const step = <Name extends ChangeName>(change: Name, given: ChangeContent<Name>) =>
  // It is the one of its name.
  ({ change, with: given }) as unknown as Step;

/** Steps of a company, in order. `place` tells each use of a story from the others. */
type Story = (company: FedCompany, place: number) => Step[];

/** Every story is told `rounds` times in both companies, whose lines alternate. */
export function killFeed(rounds: number): object[] {
  const [first, second] = fedCompanies.map((company) => stepsOf(company, rounds));
  const lines = (first ?? []).flatMap((one, index) => [one, second?.[index]]);
  // Five minutes apart from the last days of a year on, so that the series of numbers begin anew on the way.
  const startMs = Date.parse('2023-12-29T08:00:00Z');
  const changes = lines.map((line, index) => ({
    id: `change-${index}`,
    source: 'feed',
    sequence: index,
    at: new Date(startMs + index * 300_000).toISOString(),
    ...line,
  }));
  return changes.flatMap((change, index) =>
    index % 50 === 49 ? [...refusedLines(index), change] : [change],
  );
}

/** Lines that are refused, whatever the companies have by then. */
function refusedLines(index: number): object[] {
  const unknown = { change: 'job.complete', with: { id: 'job-nowhere' } };
  return [
    { id: `refused-${index}`, company: 'acme', ...unknown },
    { id: `refused-${index}`, company: 'nobody', ...unknown },
  ];
}

/** How many of the lines are to be refused. */
export function refusedCount(feed: readonly object[]): number {
  return feed.filter((line) => 'id' in line && String(line.id).startsWith('refused')).length;
}

function stepsOf(company: FedCompany, rounds: number): object[] {
  const steps = Array.from({ length: rounds }, (_, round) =>
    stories.flatMap((story) => story(company, round)),
  );
  return [...staff(company, 0), ...steps.flat()].map((one) => ({ company: company.id, ...one }));
}

const staff: Story = (company) => [
  personSave({ id: 'per-1' }),
  customer(company, 'cus-1', 'Harbour View Hotel'),
  form('Is it safe?'),
  step('form.publish', { id: 'frm-1' }),
];

const stories: Story[] = [peopleAndCustomers, jobsAndForms, invoices, creditNotes, quotes];

function peopleAndCustomers(company: FedCompany, place: number): Step[] {
  const [person, client] = [`per-${place}-a`, `cus-${place}-a`];
  return [
    personSave({ id: person, displayName: 'Brian Kelly' }),
    customer(company, client, 'Quay Foods'),
    step('customer.archive', { id: client }),
    step('person.deactivate', { id: person }),
    step('customer.restore', { id: client }),
    personSave({ id: person, displayName: 'Brian Kelly', jobTitle: 'Foreman' }),
    customer(company, client, 'Quay Foods'),
    customer(company, 'cus-1', `Harbour View Hotel ${place}`),
  ];
}

const people = { customerId: 'cus-1', createdBy: 'per-1' };

function jobsAndForms(_company: FedCompany, place: number): Step[] {
  const id = `job-${place}`;
  const submission = { id: `sub-${place}`, formId: 'frm-1', jobId: id, submittedBy: 'per-1' };
  return [
    jobCreate({ id, ...people }),
    step('job.update', { id, title: 'Replace the pump', assignedTo: ['per-1'] }),
    form('Is it safe?', `Is it safe on day ${place}?`),
    step('form.submit', { ...submission, answers: { 'fld-0': true } }),
    step('job.complete', { id }),
    // Nothing changes, so nothing is sent.
    step('job.update', { id, title: 'Replace the pump' }),
    step('job.reopen', { id, statusLabelId: 'label-2' }),
  ];
}

function invoices(company: FedCompany, place: number): Step[] {
  const [id, discarded, proForma] = [uuid('1', place, 'a'), uuid('1', place, 'b'), uuid('1', place, 'c')];
  const [one, two] = [line(company, 'l2', 1), line(company, 'l1', 2)];
  const money = { invoiceId: id, currency: company.currency, method: 'card' };
  return [
    step('invoice.draft', { id, kind: 'invoice', customerId: 'cus-1', lines: [two] }),
    step('invoice.draft', { id: discarded, kind: 'invoice', customerId: 'cus-1' }),
    step('invoice.edit', { id, note: 'Thank you.', lines: [two, one] }),
    step('invoice.issue', { id }),
    step('payment.record', { ...money, id: 'pay-1', amountMinor: 1_000 }),
    step('invoice.discard', { id: discarded }),
    step('payment.record', { ...money, id: 'pay-2', amountMinor: grossOf(company, 3) - 1_000 }),
    step('payment.void', { invoiceId: id, id: 'pay-1' }),
    step('payment.record', { ...money, id: 'pay-3', amountMinor: 1_500 }),
    step('refund.record', { ...money, id: 'ref-1', amountMinor: 700 }),
    step('refund.void', { invoiceId: id, id: 'ref-1' }),
    step('refund.record', { ...money, id: 'ref-2', amountMinor: 500 }),
    step('invoice.draft', { id: proForma, kind: 'pro_forma', customerId: 'cus-1', lines: [one] }),
    step('invoice.issue', { id: proForma }),
  ];
}

function creditNotes(company: FedCompany, place: number): Step[] {
  const [id, partial, rest] = [uuid('2', place, 'a'), uuid('2', place, 'b'), uuid('2', place, 'c')];
  const draft = { customerId: 'cus-1', lines: [line(company, 'l1', 1)] };
  const credit = { kind: 'credit_note', creditsInvoiceId: id, note: 'Too much.', ...draft } as const;
  const paid = { invoiceId: id, id: 'pay-1', currency: company.currency, method: 'cash' };
  return [
    step('invoice.draft', { ...draft, id, kind: 'invoice', lines: [line(company, 'l1', 3)] }),
    step('invoice.issue', { id }),
    step('invoice.draft', { ...credit, id: partial }),
    step('invoice.issue', { id: partial }),
    step('payment.record', { ...paid, amountMinor: grossOf(company, 1) }),
    step('invoice.draft', { ...credit, id: rest }),
    // Settles the invoice.
    step('invoice.issue', { id: rest }),
  ];
}

function quotes(company: FedCompany, place: number): Step[] {
  const [id, revised, declined] = [uuid('3', place, 'a'), uuid('3', place, 'b'), uuid('3', place, 'c')];
  const invoice = { id: uuid('3', place, 'd'), lines: [line(company, 'l1', 5)] };
  const draft = { customerId: 'cus-1', title: 'A new boiler', lines: [line(company, 'l1', 4)] };
  const { statusLabelId, jobTypeId, jobTypeVersion } = jobCreate().with;
  const job = { id: `job-${place}-q`, createdBy: 'per-1', statusLabelId, jobTypeId, jobTypeVersion };
  return [
    step('quote.draft', { id, quoteGroupId: uuid('4', place, 'a'), ...draft }),
    step('quote.draft', { id: declined, quoteGroupId: uuid('4', place, 'b'), ...draft }),
    step('quote.edit', { id, title: 'A newer boiler' }),
    step('quote.send', { id }),
    step('quote.send', { id: declined }),
    step('quote.revise', { id, newId: revised, lines: invoice.lines }),
    step('quote.decline', { id: declined }),
    step('quote.send', { id: revised }),
    step('quote.accept', { id: revised }),
    step('quote.convert_to_job', { id: revised, job }),
    step('quote.convert_to_invoice', { id: revised, invoice }),
    step('invoice.issue', { id: invoice.id }),
  ];
}

function customer({ countryCode, currency }: FedCompany, id: string, name: string): Step {
  return customerSave({ id, name, countryCode, currency });
}

function form(...labels: string[]): Step {
  const fields = labels.map((label, index) => ({ id: `fld-${index}`, type: 'yesno', label }));
  return formSave({ id: 'frm-1', fields });
}

const UNIT_MINOR = 12_345;

function line({ rate }: FedCompany, id: string, quantity: number): DraftLine {
  const vat = { vatCategory: 'S' as const, vatRateBasisPoints: rate };
  return { id, description: 'Work', quantity: String(quantity), unitPriceMinor: UNIT_MINOR, ...vat };
}

function grossOf({ rate }: FedCompany, quantity: number): number {
  const netMinor = quantity * UNIT_MINOR;
  return netMinor + Math.round((netMinor * rate) / 10_000);
}

function uuid(story: string, place: number, letter: string): string {
  return `0000000${story}-0000-7000-8000-${place.toString(16).padStart(11, '0')}${letter}`;
}
