/** Documents and histories with one thing wrong, each with the label of the invariant that has to notice. */
import type { Invoice } from '../../src/contract/records.ts';
import type { History, Step } from './_histories.ts';
import type { Shown } from './_invariants.ts';

export interface Breakage<Subject> {
  label: string;
  what: string;
  /** Puts something wrong with a copy. */
  wrong: (subject: Subject) => void;
}

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
export const brokenDocuments: Breakage<Shown>[] = [
  { label: 'I1', what: 'a net that is a cent off', wrong: ({ document }) => (document.totals.netMinor += 1) },
  { label: 'I2', what: 'a VAT that is a cent off', wrong: ({ document }) => (document.totals.vatMinor -= 1) },
  {
    label: 'I3',
    what: 'a gross that is a cent off',
    wrong: ({ document }) => (document.totals.grossMinor += 1),
  },
  {
    label: 'I4',
    what: 'a taxable amount that is a cent off',
    wrong: (shown) => (item(shown, 'S').taxableMinor += 1),
  },
  {
    label: 'I5',
    what: 'an item that comes twice',
    wrong: ({ document }) => document.vatBreakdown.push({ ...first(document.vatBreakdown) }),
  },
  { label: 'I5', what: 'an item that is missing', wrong: ({ document }) => document.vatBreakdown.pop() },
  {
    label: 'I6',
    what: 'two taxable amounts that are off by the same cent',
    wrong: (shown) => {
      item(shown, 'S').taxableMinor += 1;
      item(shown, 'Z').taxableMinor -= 1;
    },
  },
  { label: 'I7', what: 'VAT that is rounded down', wrong: (shown) => (item(shown, 'S').vatMinor -= 1) },
  { label: 'I7', what: 'VAT on what is exempt', wrong: (shown) => (item(shown, 'E').vatMinor = 1) },
  {
    label: 'I8',
    what: 'category S without a rate',
    wrong: (shown) => (item(shown, 'S').rateBasisPoints = 0),
  },
  {
    label: 'I8',
    what: 'category K with a rate',
    wrong: (shown) => (item(shown, 'K').rateBasisPoints = 2300),
  },
  {
    label: 'I9',
    what: 'an exemption without a reason',
    wrong: (shown) => (line(shown, 'E').vatExemptionReason = null),
  },
  { label: 'I9', what: 'a blank reason', wrong: (shown) => (line(shown, 'AE').vatExemptionReason = ' ') },
  {
    label: 'I9',
    what: 'a reason where VAT is charged',
    wrong: (shown) => (line(shown, 'S').vatExemptionReason = 'No'),
  },
  {
    label: 'I9',
    what: 'two reasons for one category',
    wrong: ({ document }) => {
      const exempt = first(document.lines.filter(({ vatCategory }) => vatCategory === 'E'));
      document.lines.push({ ...exempt, vatExemptionReason: 'Another' });
    },
  },
  { label: 'I10', what: 'category O beside others', wrong: (shown) => (item(shown, 'Z').category = 'O') },
  {
    label: 'I11',
    what: 'a customer without VAT number',
    wrong: ({ document }) => (document.buyer.vatId = null),
  },
  { label: 'I12', what: 'goods without a day', wrong: ({ document }) => (document.supplyDate = null) },
  {
    label: 'I13',
    what: 'an amount that is a cent off',
    wrong: (shown) => (line(shown, 'S').amountMinor += 1),
  },
  { label: 'I13', what: 'a position twice', wrong: ({ document }) => (first(document.lines).position = 2) },
  { label: 'I13', what: 'no lines', wrong: ({ document }) => (document.lines = []) },
  { label: 'I13', what: 'a line without a unit', wrong: (shown) => (line(shown, 'S').unitCode = '') },
  {
    label: 'I14',
    what: 'a period that ends before it begins',
    wrong: ({ document }) => (document.supplyPeriod = { startDate: '2026-11-20', endDate: '2026-11-19' }),
  },
  { label: 'I16', what: 'a day too late', wrong: ({ document }) => (document.dueDate = '2027-01-20') },
  { label: 'I16', what: 'no due day', wrong: ({ document }) => (document.dueDate = null) },
  {
    label: 'I17',
    what: 'a converted amount that is a cent off',
    wrong: ({ document }) => (first(document.accountingCurrency?.vatBreakdown).vatMinor += 1),
  },
  { label: 'I17', what: 'no own currency', wrong: ({ document }) => (document.accountingCurrency = null) },
  { label: 'I18', what: 'no supplier', wrong: (shown) => (shown.supplier = null) },
  {
    label: 'I18',
    what: 'a supplier without an address',
    wrong: ({ supplier }) => delete supplier?.addressLines,
  },
  { label: 'I18', what: 'a supplier without a number', wrong: ({ supplier }) => delete supplier?.vatId },
  {
    label: 'I18',
    what: 'a number without a prefix',
    wrong: ({ document }) => (document.buyer.vatId = '12345678'),
  },
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
export const brokenHistories: Breakage<History>[] = [
  {
    label: 'I15',
    what: 'a number twice',
    wrong: (history) => (invoice(history).number = note(history).number),
  },
  { label: 'I15', what: 'a gap', wrong: (history) => (invoice(history).number = 'INV-2026-0009') },
  { label: 'I15', what: 'no day of issue', wrong: (history) => (invoice(history).issueDate = null) },
  {
    label: 'I15',
    what: 'a number that changes',
    wrong: (history) => (lastOf(history, 'payment.record').after.number = 'INV-2026-0002'),
  },
  {
    label: 'C1',
    what: 'a credit note of nothing',
    wrong: (history) => (note(history).creditedInvoice = null),
  },
  {
    label: 'C1',
    what: 'an invoice that corrects',
    wrong: (history) => (invoice(history).creditsInvoiceId = 'x'),
  },
  { label: 'C2', what: 'another customer', wrong: (history) => (note(history).customer.id = 'cus_2') },
  { label: 'C2', what: 'another currency', wrong: (history) => (note(history).currency = 'USD') },
  { label: 'C2', what: 'an earlier day', wrong: (history) => (note(history).issueDate = '2026-01-01') },
  {
    label: 'C3',
    what: 'a cent too much',
    wrong: (history) => (first(note(history).vatBreakdown).taxableMinor = 1e9),
  },
  {
    label: 'C3',
    what: 'VAT too much',
    wrong: (history) => (first(note(history).vatBreakdown).vatMinor = 1e9),
  },
  { label: 'C4', what: 'a note of nothing', wrong: (history) => (note(history).totals.grossMinor = 0) },
  {
    label: 'C4',
    what: 'a negative item',
    wrong: (history) => (first(note(history).vatBreakdown).vatMinor = -1),
  },
  { label: 'C5', what: 'a note that is missing', wrong: (history) => invoice(history).creditNotes.pop() },
  {
    label: 'C5',
    what: 'another amount',
    wrong: (history) => (first(invoice(history).creditNotes).grossMinor -= 1),
  },
  {
    label: 'C6',
    what: 'an old stamp',
    wrong: (history) => (invoice(history).updatedAt = '2026-01-01T00:00:00.000Z'),
  },
  {
    label: 'P1',
    what: 'due and owed back at once',
    wrong: (history) => {
      const { after } = lastOf(history, 'payment.record');
      after.amountDueMinor = 1;
      after.creditBalanceMinor = 1;
    },
  },
  {
    label: 'P2',
    what: 'a cent',
    wrong: (history) => (lastOf(history, 'payment.record').after.amountDueMinor = 1),
  },
  {
    label: 'P3',
    what: 'a rest',
    wrong: (history) => (lastOf(history, 'payment.void').after.creditBalanceMinor = 1),
  },
  { label: 'P4', what: 'no event', wrong: (history) => (lastOf(history, 'payment.record').step.events = []) },
  {
    label: 'P4',
    what: 'an event twice',
    wrong: (history) => {
      const { step } = lastOf(history, 'payment.record');
      step.events = [...step.events, ...step.events];
    },
  },
  {
    label: 'P5',
    what: 'a stamp that stays',
    wrong: (history) => {
      const { step, after } = lastOf(history, 'payment.record');
      after.updatedAt = first([step.before.get(after.id)].filter((found) => found !== undefined)).updatedAt;
    },
  },
  {
    label: 'P5',
    what: 'a change by another move',
    wrong: (history) => {
      first([...stepOf(history, 'customer.save').after.values()]).note = 'Another';
    },
  },
];
