/** Documents and histories with one thing wrong, each with the label of the invariant that has to notice. */
import type { Invoice } from '../../../src/contract/records.ts';
import type { History, Step } from './_histories.ts';
import type { Shown } from './_invariants.ts';

/** The label, what is wrong, and how a copy is put wrong. */
export type Violation<Subject> = readonly [label: string, what: string, wrong: (subject: Subject) => void];

type Item = Invoice['vatBreakdown'][number];
type Line = Invoice['lines'][number];

/** The first of a list that has to have one. */
function first<T>(list: readonly T[] | undefined): T {
  const [found] = list ?? [];
  if (found === undefined) throw new Error('There is nothing to put wrong.');
  return found;
}

const line = ({ document }: Shown, category: string): Line =>
  first(document.lines.filter(({ vatCategory }) => vatCategory === category));
const item = ({ document }: Shown, category: string): Item =>
  first(document.vatBreakdown.filter((one) => one.category === category));

/** For an issued invoice of Ireland to France in dollars, with lines in S, Z, E, AE and K. */
export const brokenDocuments: Violation<Shown>[] = [
  ['I1', 'a net that is a cent off', ({ document }) => (document.totals.netMinor += 1)],
  ['I2', 'a VAT that is a cent off', ({ document }) => (document.totals.vatMinor -= 1)],
  ['I3', 'a gross that is a cent off', ({ document }) => (document.totals.grossMinor += 1)],
  ['I4', 'a taxable amount that is a cent off', (shown) => (item(shown, 'S').taxableMinor += 1)],
  [
    'I5',
    'an item that comes twice',
    ({ document }) => document.vatBreakdown.push({ ...first(document.vatBreakdown) }),
  ],
  ['I5', 'an item that is missing', ({ document }) => document.vatBreakdown.pop()],
  [
    'I6',
    'two taxable amounts that are off by the same cent',
    (shown) => {
      item(shown, 'S').taxableMinor += 1;
      item(shown, 'Z').taxableMinor -= 1;
    },
  ],
  ['I7', 'VAT that is rounded down', (shown) => (item(shown, 'S').vatMinor -= 1)],
  ['I7', 'VAT on what is exempt', (shown) => (item(shown, 'E').vatMinor = 1)],
  ['I8', 'category S without a rate', (shown) => (item(shown, 'S').rateBasisPoints = 0)],
  ['I8', 'category K with a rate', (shown) => (item(shown, 'K').rateBasisPoints = 2300)],
  ['I9', 'an exemption without a reason', (shown) => (line(shown, 'E').vatExemptionReason = null)],
  ['I9', 'a blank reason', (shown) => (line(shown, 'AE').vatExemptionReason = ' ')],
  ['I9', 'a reason where VAT is charged', (shown) => (line(shown, 'S').vatExemptionReason = 'No')],
  [
    'I9',
    'two reasons for one category',
    ({ document }) => {
      const exempt = first(document.lines.filter(({ vatCategory }) => vatCategory === 'E'));
      document.lines.push({ ...exempt, vatExemptionReason: 'Another' });
    },
  ],
  ['I10', 'category O beside others', (shown) => (item(shown, 'Z').category = 'O')],
  ['I11', 'a customer without VAT number', ({ document }) => (document.buyer.vatId = null)],
  ['I12', 'goods without a day', ({ document }) => (document.supplyDate = null)],
  ['I13', 'an amount that is a cent off', (shown) => (line(shown, 'S').amountMinor += 1)],
  ['I13', 'a position twice', ({ document }) => (first(document.lines).position = 2)],
  ['I13', 'no lines', ({ document }) => (document.lines = [])],
  ['I13', 'a line without a unit', (shown) => (line(shown, 'S').unitCode = '')],
  [
    'I14',
    'a period that ends before it begins',
    ({ document }) => (document.supplyPeriod = { startDate: '2026-11-20', endDate: '2026-11-19' }),
  ],
  ['I16', 'a day too late', ({ document }) => (document.dueDate = '2027-01-20')],
  ['I16', 'no due day', ({ document }) => (document.dueDate = null)],
  [
    'I17',
    'a converted amount that is a cent off',
    ({ document }) => (first(document.accountingCurrency?.vatBreakdown).vatMinor += 1),
  ],
  ['I17', 'no own currency', ({ document }) => (document.accountingCurrency = null)],
  ['I18', 'no supplier', (shown) => (shown.supplier = null)],
  ['I18', 'a supplier without an address', ({ supplier }) => delete supplier?.addressLines],
  ['I18', 'a supplier without a number', ({ supplier }) => delete supplier?.vatId],
  ['I18', 'a number without a prefix', ({ document }) => (document.buyer.vatId = '12345678')],
];

const documents = ({ shown }: History) => shown.map(({ document }) => document);
const note = (history: History) => first(documents(history).filter(({ kind }) => kind === 'credit_note'));
const invoice = (history: History) =>
  first(documents(history).filter(({ id }) => id === note(history).creditsInvoiceId));

/** The last step of a name. */
const stepOf = ({ steps }: History, name: string): Step =>
  first(steps.filter(({ change, isRefused }) => change.change === name && !isRefused).reverse());

/** The same, with the invoice that it left behind. */
function lastOf(history: History, name: string): { step: Step; after: Invoice } {
  const step = stepOf(history, name);
  const { invoiceId } = step.change.with as { invoiceId?: string };
  return { step, after: first([step.after.get(invoiceId ?? '')].filter((found) => found !== undefined)) };
}

/** For a history in which an invoice is paid, voided, credited and paid again. */
export const brokenHistories: Violation<History>[] = [
  ['I15', 'a number twice', (history) => (invoice(history).number = note(history).number)],
  ['I15', 'a gap', (history) => (invoice(history).number = 'INV-2026-0009')],
  ['I15', 'no day of issue', (history) => (invoice(history).issueDate = null)],
  [
    'I15',
    'a number that changes',
    (history) => (lastOf(history, 'payment.record').after.number = 'INV-2026-0002'),
  ],
  ['C1', 'a credit note of nothing', (history) => (note(history).creditedInvoice = null)],
  ['C1', 'an invoice that corrects', (history) => (invoice(history).creditsInvoiceId = 'x')],
  ['C2', 'another customer', (history) => (note(history).customer.id = 'cus_2')],
  ['C2', 'another currency', (history) => (note(history).currency = 'USD')],
  ['C2', 'an earlier day', (history) => (note(history).issueDate = '2026-01-01')],
  ['C3', 'a cent too much', (history) => (first(note(history).vatBreakdown).taxableMinor = 1e9)],
  ['C3', 'VAT too much', (history) => (first(note(history).vatBreakdown).vatMinor = 1e9)],
  ['C7', 'a cent of VAT', (history) => (first(note(history).vatBreakdown).vatMinor += 1)],
  ['C4', 'a note of nothing', (history) => (note(history).totals.grossMinor = 0)],
  ['C4', 'a negative item', (history) => (first(note(history).vatBreakdown).vatMinor = -1)],
  ['C5', 'a note that is missing', (history) => invoice(history).creditNotes.pop()],
  ['C5', 'another amount', (history) => (first(invoice(history).creditNotes).grossMinor -= 1)],
  ['C6', 'an old stamp', (history) => (invoice(history).updatedAt = '2026-01-01T00:00:00.000Z')],
  [
    'P1',
    'due and owed back at once',
    (history) => {
      const { after } = lastOf(history, 'payment.record');
      after.amountDueMinor = 1;
      after.creditBalanceMinor = 1;
    },
  ],
  ['P2', 'a cent', (history) => (lastOf(history, 'payment.record').after.amountDueMinor = 1)],
  ['P3', 'a rest', (history) => (lastOf(history, 'payment.void').after.creditBalanceMinor = 1)],
  ['P4', 'no event', (history) => (lastOf(history, 'payment.record').step.events = [])],
  [
    'P4',
    'an event twice',
    (history) => {
      const { step } = lastOf(history, 'payment.record');
      step.events = [...step.events, ...step.events];
    },
  ],
  [
    'P5',
    'a stamp that stays',
    (history) => {
      const { step, after } = lastOf(history, 'payment.record');
      after.updatedAt = first([step.before.get(after.id)].filter((found) => found !== undefined)).updatedAt;
    },
  ],
  [
    'P5',
    'a change by another move',
    (history) => {
      first([...stepOf(history, 'customer.save').after.values()]).note = 'Another';
    },
  ],
];
