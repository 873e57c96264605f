/** A feed that makes every move, with all that a move would otherwise make up: every id, every line, every day. */
import type { ChangeName, DraftLine, WithOf } from '../../../src/contract/feed.ts';

export const fedCompanies = [
  { id: 'acme', countryCode: 'IE', vatId: 'IE9876543H', currency: 'EUR', rate: 2300 },
  { id: 'borough', countryCode: 'GB', vatId: 'GB987654353', currency: 'GBP', rate: 2000 },
] as const;

type FedCompany = (typeof fedCompanies)[number];
type Step = { [Name in ChangeName]: { change: Name; with: WithOf<Name> } }[ChangeName];

/** Steps of a company, in order. `place` tells each use of a story from the others. */
type Story = (company: FedCompany, place: number) => Step[];

/** Every story is told `rounds` times in both companies, whose lines alternate. */
export function killFeed(rounds: number): object[] {
  const [first, second] = fedCompanies.map((company) => stepsOf(company, rounds));
  const lines = (first ?? []).flatMap((step, index) => [step, second?.[index]]);
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
  return [...staff(company, 0), ...steps.flat()].map((step) => ({ company: company.id, ...step }));
}

const staff: Story = (company) => [
  {
    change: 'person.save',
    with: {
      id: 'per-1',
      displayName: 'Aoife Byrne',
      email: 'aoife@brennan.example',
      roleId: 'role-1',
      roleName: 'Engineer',
    },
  },
  { change: 'customer.save', with: customer(company, 'cus-1', 'Harbour View Hotel') },
  { change: 'form.save', with: form('frm-1', ['Is it safe?']) },
  { change: 'form.publish', with: { id: 'frm-1' } },
];

const stories: Story[] = [peopleAndCustomers, jobsAndForms, invoices, creditNotes, quotes];

function peopleAndCustomers(company: FedCompany, place: number): Step[] {
  const [person, client] = [`per-${place}-a`, `cus-${place}-a`];
  const saved = {
    displayName: 'Brian Kelly',
    email: 'b@brennan.example',
    roleId: 'role-1',
    roleName: 'Engineer',
  };
  return [
    { change: 'person.save', with: { id: person, ...saved } },
    { change: 'customer.save', with: customer(company, client, 'Quay Foods') },
    { change: 'customer.archive', with: { id: client } },
    { change: 'person.deactivate', with: { id: person } },
    { change: 'customer.restore', with: { id: client } },
    { change: 'person.save', with: { id: person, ...saved, jobTitle: 'Foreman' } },
    { change: 'customer.save', with: customer(company, client, 'Quay Foods') },
    { change: 'customer.save', with: customer(company, 'cus-1', `Harbour View Hotel ${place}`) },
  ];
}

function jobsAndForms(_company: FedCompany, place: number): Step[] {
  const id = `job-${place}`;
  const job = { id, title: 'Service the boiler', customerId: 'cus-1', createdBy: 'per-1' };
  const labels = { statusLabelId: 'label-1', jobTypeId: 'type-1', jobTypeVersion: 1 };
  return [
    { change: 'job.create', with: { ...job, ...labels } },
    { change: 'job.update', with: { id, title: 'Replace the pump', assignedTo: ['per-1'] } },
    { change: 'form.save', with: form('frm-1', ['Is it safe?', `Is it safe on day ${place}?`]) },
    {
      change: 'form.submit',
      with: {
        id: `sub-${place}`,
        formId: 'frm-1',
        jobId: id,
        submittedBy: 'per-1',
        answers: { 'fld-0': true },
      },
    },
    { change: 'job.complete', with: { id } },
    // Nothing changes, so nothing is sent.
    { change: 'job.update', with: { id, title: 'Replace the pump' } },
    { change: 'job.reopen', with: { id, statusLabelId: 'label-2' } },
  ];
}

function invoices(company: FedCompany, place: number): Step[] {
  const [id, draft, proForma] = ['a', 'b', 'c'].map((letter) => uuid('1', place, letter)) as [
    string,
    string,
    string,
  ];
  const money = { invoiceId: id, currency: company.currency, method: 'card' };
  const grossMinor = grossOf(company, 3);
  return [
    {
      change: 'invoice.draft',
      with: { id, kind: 'invoice', customerId: 'cus-1', lines: [line(company, 'l1', 2)] },
    },
    { change: 'invoice.draft', with: { id: draft, kind: 'invoice', customerId: 'cus-1' } },
    {
      change: 'invoice.edit',
      with: { id, note: 'Thank you.', lines: [line(company, 'l1', 2), line(company, 'l2', 1)] },
    },
    { change: 'invoice.issue', with: { id } },
    { change: 'payment.record', with: { ...money, id: 'pay-1', amountMinor: 1_000 } },
    { change: 'invoice.discard', with: { id: draft } },
    { change: 'payment.record', with: { ...money, id: 'pay-2', amountMinor: grossMinor - 1_000 } },
    { change: 'payment.void', with: { invoiceId: id, id: 'pay-1' } },
    { change: 'payment.record', with: { ...money, id: 'pay-3', amountMinor: 1_500 } },
    { change: 'refund.record', with: { ...money, id: 'ref-1', amountMinor: 700 } },
    { change: 'refund.void', with: { invoiceId: id, id: 'ref-1' } },
    { change: 'refund.record', with: { ...money, id: 'ref-2', amountMinor: 500 } },
    {
      change: 'invoice.draft',
      with: { id: proForma, kind: 'pro_forma', customerId: 'cus-1', lines: [line(company, 'l1', 1)] },
    },
    { change: 'invoice.issue', with: { id: proForma } },
  ];
}

function creditNotes(company: FedCompany, place: number): Step[] {
  const [id, partial, rest] = ['a', 'b', 'c'].map((letter) => uuid('2', place, letter)) as [
    string,
    string,
    string,
  ];
  const credit = {
    kind: 'credit_note',
    customerId: 'cus-1',
    creditsInvoiceId: id,
    note: 'Too much.',
  } as const;
  const paid = { invoiceId: id, id: 'pay-1', currency: company.currency, method: 'cash' };
  return [
    {
      change: 'invoice.draft',
      with: { id, kind: 'invoice', customerId: 'cus-1', lines: [line(company, 'l1', 3)] },
    },
    { change: 'invoice.issue', with: { id } },
    { change: 'invoice.draft', with: { ...credit, id: partial, lines: [line(company, 'l1', 1)] } },
    { change: 'invoice.issue', with: { id: partial } },
    { change: 'payment.record', with: { ...paid, amountMinor: grossOf(company, 1) } },
    { change: 'invoice.draft', with: { ...credit, id: rest, lines: [line(company, 'l1', 1)] } },
    // Settles the invoice.
    { change: 'invoice.issue', with: { id: rest } },
  ];
}

function quotes(company: FedCompany, place: number): Step[] {
  const [id, revised, declined, invoice] = ['a', 'b', 'c', 'd'].map((letter) => uuid('3', place, letter)) as [
    string,
    string,
    string,
    string,
  ];
  const draft = { customerId: 'cus-1', title: 'A new boiler', lines: [line(company, 'l1', 4)] };
  const labels = { statusLabelId: 'label-1', jobTypeId: 'type-1', jobTypeVersion: 1 };
  return [
    { change: 'quote.draft', with: { id, quoteGroupId: uuid('4', place, 'a'), ...draft } },
    { change: 'quote.draft', with: { id: declined, quoteGroupId: uuid('4', place, 'b'), ...draft } },
    { change: 'quote.edit', with: { id, title: 'A newer boiler' } },
    { change: 'quote.send', with: { id } },
    { change: 'quote.send', with: { id: declined } },
    { change: 'quote.revise', with: { id, newId: revised, lines: [line(company, 'l1', 5)] } },
    { change: 'quote.decline', with: { id: declined } },
    { change: 'quote.send', with: { id: revised } },
    { change: 'quote.accept', with: { id: revised } },
    {
      change: 'quote.convert_to_job',
      with: { id: revised, job: { id: `job-${place}-q`, createdBy: 'per-1', ...labels } },
    },
    {
      change: 'quote.convert_to_invoice',
      with: { id: revised, invoice: { id: invoice, lines: [line(company, 'l1', 5)] } },
    },
    { change: 'invoice.issue', with: { id: invoice } },
  ];
}

function customer(company: FedCompany, id: string, name: string): WithOf<'customer.save'> {
  const { countryCode, currency } = company;
  return { id, name, addressLines: ['1 Quay Street'], countryCode, currency, paymentTermsDays: 30 };
}

function form(id: string, labels: string[]): WithOf<'form.save'> {
  const fields = labels.map((label, index) => ({ id: `fld-${index}`, type: 'yesno', label }));
  return { id, title: 'Safety check', fields };
}

const UNIT_MINOR = 12_345;

function line({ rate }: FedCompany, id: string, quantity: number): DraftLine {
  return {
    id,
    description: 'Work',
    quantity: String(quantity),
    unitPriceMinor: UNIT_MINOR,
    vatCategory: 'S',
    vatRateBasisPoints: rate,
  };
}

function grossOf({ rate }: FedCompany, quantity: number): number {
  const netMinor = quantity * UNIT_MINOR;
  return netMinor + Math.round((netMinor * rate) / 10_000);
}

function uuid(story: string, place: number, letter: string): string {
  return `0000000${story}-0000-7000-8000-${place.toString(16).padStart(11, '0')}${letter}`;
}
