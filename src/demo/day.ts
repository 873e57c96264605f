import { MINUTE_MS } from '../contract/durations.ts';
import { companyDay } from '../contract/company-time.ts';
import { createCompany } from '../server/backoffice/companies.ts';
import { createIds } from '../server/process/ids.ts';
import { setNumbering } from '../server/backoffice/numbering.ts';
import type { EventToDeliver } from '../contract/delivery-request.ts';
import type { Customer, Form } from '../contract/records.ts';
import type { AppendEvents } from '../server/store/records/events.ts';
import type { Engine } from '../server/store/engines/engine.ts';
import { exampleCompany, examplesOf, pick } from './example-company.ts';
import { createRandom } from './random.ts';
import { openStory, type StoryChange, type TeamChange } from './story.ts';

/**
 * Lets the example company work for a day: a job from the call to the paid and credited invoice, and a quote. The moves
 * are the back office's own, so that the events are what the contract says they are.
 * @param engine of a database without that company.
 * @param beganAt the time of the first event. The ids of the day follow from it: another day has other ids.
 * @returns the events that webhooks get, in the order in which they happened.
 */
export async function recordDay(engine: Engine, beganAt: Date): Promise<EventToDeliver[]> {
  const { id, ...settings } = exampleCompany;
  await createCompany(engine, id, settings, beganAt);
  // Numbers are unique across days too.
  const last = Math.floor(beganAt.getTime() / 1000) % 10_000_000;
  for (const kind of ['invoice', 'credit_note', 'quote'] as const)
    await setNumbering(engine, id, { kind, last, now: beganAt });
  const events: EventToDeliver[] = [];
  const keep: AppendEvents = async (_transaction, company, sent, { mintId }) => {
    for (const { kind, createdAt, data } of sent)
      events.push({ id: mintId(), event: kind, createdAt, company, data });
  };
  await openStory(engine, { appendEvents: keep })(dayChanges(beganAt));
  return events;
}

/** The ids that the day's records have, and the days and the people that its changes name. */
interface Day {
  at: (minutes: number) => Date;
  today: string;
  form: Form;
  customer: Customer;
  job: string;
  submission: string;
  invoice: string;
  quote: string;
  creditNote: string;
}

type Told = readonly [minutes: number, change: TeamChange];

/** The changes of the day, after those that make the people and the customer. */
function dayChanges(beganAt: Date): StoryChange[] {
  const at = (minutes: number) => new Date(beganAt.getTime() + minutes * MINUTE_MS);
  const random = createRandom(beganAt.getTime());
  const ids = createIds((size) => random.bytes(size));
  const mint = (minutes: number) => ids.uuid(at(minutes).getTime());
  const { form, customer, before } = surroundings();
  const day: Day = {
    at,
    today: companyDay('Europe/Dublin', beganAt),
    form,
    customer,
    job: `job_${mint(0)}`,
    submission: `sub_${mint(240)}`,
    invoice: mint(290),
    quote: mint(330),
    creditNote: mint(500),
  };
  const earlier = before.map((change, index): Told => [index - before.length, change]);
  return [...earlier, ...workOf(day), ...documentsOf(day)]
    .sort(([left], [right]) => left - right)
    .map(([minutes, change]) => {
      const time = at(minutes).toISOString();
      return { id: `${time} ${change.change}`, at: time, company: exampleCompany.id, ...change };
    });
}

function workOf({ form, customer, job, submission, today }: Day): Told[] {
  const created = {
    id: job,
    customerId: customer.id,
    title: 'No hot water in rooms 12 to 18',
    statusLabelId: 'label_new',
    jobTypeId: 'type_call_out',
    jobTypeVersion: 4,
    createdBy: 'per_0001',
  };
  const updated = { id: job, statusLabelId: 'label_scheduled', dates: [today], assignedTo: ['per_0002'] };
  const submitted = {
    id: submission,
    formId: form.id,
    jobId: job,
    submittedBy: 'per_0002',
    answers: { fld_02: 'Remeha Quinta Ace 90', fld_05: 20.4, fld_07: true, fld_09: 'Passed' },
  };
  return [
    [0, { change: 'job.create', with: created }],
    [25, { change: 'job.update', with: updated }],
    [240, { change: 'form.submit', with: submitted }],
    [250, { change: 'job.complete', with: { id: job, statusLabelId: 'label_done' } }],
  ];
}

function documentsOf({ at, customer, job, invoice, quote, creditNote, today }: Day): Told[] {
  const vat = { vatCategory: 'S', vatRateBasisPoints: 1350 } as const;
  const labour = { description: 'Call-out, first hour', quantity: '1', unitPriceMinor: 12_000, ...vat };
  const part = { description: 'Diverter valve', quantity: '2', unitPriceMinor: 6_450, ...vat };
  // 12,000 and twice 6,450, and 13.5 % of VAT.
  const grossMinor = 28_262;
  const customerId = customer.id;
  const lines = [labour, part].map((line) => ({ ...line, jobId: job }));
  const paid = { invoiceId: invoice, currency: 'EUR', paidOn: today };
  const quoted = { id: quote, customerId, title: 'Second diverter valve', lines: [part] };
  const validUntil = companyDay('Europe/Dublin', at(30 * 24 * 60));
  const credited = { creditsInvoiceId: invoice, note: 'One valve was taken back.' };
  const kept = { kind: 'invoice', customerId, supplyDate: today } as const;
  return [
    [290, { change: 'invoice.draft', with: { ...kept, id: invoice, lines } }],
    [295, { change: 'invoice.issue', with: { id: invoice } }],
    [330, { change: 'quote.draft', with: { ...quoted, validUntil } }],
    [335, { change: 'quote.send', with: { id: quote } }],
    [380, { change: 'payment.record', with: { ...paid, amountMinor: 10_000, method: 'card' } }],
    [420, { change: 'quote.accept', with: { id: quote } }],
    [
      470,
      {
        change: 'payment.record',
        with: { ...paid, amountMinor: grossMinor - 10_000, method: 'bank_transfer' },
      },
    ],
    [
      500,
      {
        change: 'invoice.draft',
        with: {
          ...kept,
          ...credited,
          id: creditNote,
          kind: 'credit_note',
          lines: [{ ...part, quantity: '1' }],
        },
      },
    ],
    [540, { change: 'invoice.issue', with: { id: creditNote } }],
  ];
}

/** The company's people, a customer and a form of the contract's examples, and the changes that bring them about. */
function surroundings(): { form: Form; customer: Customer; before: TeamChange[] } {
  const form = examplesOf('forms').find(({ id }) => id === 'frm_0001');
  const customer = examplesOf('customers').find(({ id }) => id === 'cus_0003');
  if (!form || !customer) throw new Error('The contract has no example frm_0001 or cus_0003.');
  const people = examplesOf('people').map(({ status: _status, ...person }): TeamChange => ({
    change: 'person.save',
    with: person,
  }));
  const before: TeamChange[] = [
    ...people,
    { change: 'customer.save', with: savedOf(customer) },
    { change: 'form.save', with: pick(form, 'id', 'title', 'description', 'fields') },
    { change: 'form.publish', with: { id: form.id } },
  ];
  return { form, customer, before };
}

function savedOf({ archived: _archived, createdAt: _createdAt, updatedAt: _updatedAt, ...saved }: Customer) {
  return saved;
}
