/** Random histories of one company's documents: what each move led to, step by step. */
import fc from 'fast-check';

import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { Refusal } from '../../../src/server/backoffice/refusal.ts';
import type { Change, DraftLine } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { STORY_NOW } from '../../_server.ts';
import { customerSave, jobCreate, personSave } from './_changes.ts';
import { addDays } from './_days.ts';
import { exchangeIn, lineDraw, type LineDraw, linesOf, shownBy } from './_invariant-documents.ts';
import type { Shown } from './_invariants.ts';
import type { Given, KeptEvent, TestCompany, TestBackoffice } from './_backoffice.ts';
import { type Situation, situations } from './_vat-situations.ts';

export type Documents = ReadonlyMap<string, Invoice>;

export interface Step {
  change: Given;
  isRefused: boolean;
  before: Documents;
  after: Documents;
  /** The events that this step sent. */
  events: KeptEvent[];
}

export interface History {
  company: TestCompany;
  steps: Step[];
  /** Every document as it stands at the end. */
  shown: Shown[];
}

interface Act {
  kind: number;
  /** Which of several it is about. */
  which: number;
  /** How much, in thousandths of what there is. */
  share: number;
  lines: LineDraw[];
  laterMs: number;
}

export interface HistoryDraw {
  situation: number;
  acts: Act[];
}

const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.nat(999),
  which: fc.nat(99),
  share: fc.integer({ min: 1, max: 1200 }),
  lines: fc.array(
    lineDraw.map((line) => ({ ...line, quantity: '1.5', unitPriceMinor: line.unitPriceMinor % 50_000 })),
    { minLength: 1, maxLength: 4 },
  ),
  laterMs: fc.oneof(fc.constantFrom(0, 1, 1000), fc.constantFrom(36_000_000, 86_400_000)),
});

export const historyDraw: fc.Arbitrary<HistoryDraw> = fc.record({
  situation: fc.nat(situations.length - 1),
  acts: fc.array(act, { minLength: 25, maxLength: 45, size: 'max' }),
});

/** Opens a company and makes the moves of a random history. */
export async function runHistory(
  testBackoffice: TestBackoffice,
  { situation: index, acts }: HistoryDraw,
): Promise<History> {
  const situation = situations[index];
  if (!situation) throw new Error('There is no such situation.');
  const open = await openHistory(testBackoffice, situation);
  let nowMs = STORY_NOW.getTime();
  for (const one of acts) {
    nowMs += one.laterMs;
    const changes = changesOf(situation, one, [...open.documents().values()], open.history.steps.length);
    for (const change of changes) await open.make(change, nowMs);
  }
  return open.end();
}

/** A history that is written move by move. */
export interface OpenHistory {
  history: History;
  documents: () => Documents;
  make: (change: Given, nowMs?: number) => Promise<void>;
  end: () => Promise<History>;
}

export async function openHistory(
  testBackoffice: TestBackoffice,
  situation: Situation,
): Promise<OpenHistory> {
  const { openCompany, setNow, engine } = testBackoffice;
  const company = await openCompany(situation.company);
  await company.apply(customerSave({ id: 'cus_1', ...situation.customer }));
  await company.apply(personSave({ id: 'per_1' }));
  const steps: Step[] = [];
  const documents = (): Documents => steps.at(-1)?.after ?? new Map();
  return {
    history: { company, steps, shown: [] },
    documents,
    async make(change, nowMs = STORY_NOW.getTime()) {
      setNow(new Date(nowMs));
      const before = documents();
      const isRefused = await isRefusedBy(testBackoffice, { company: company.id, ...change });
      const after = await documentsOf(testBackoffice, company);
      const sent = steps.reduce((count, step) => count + step.events.length, 0);
      steps.push({ change, isRefused, before, after, events: (await company.events()).slice(sent) });
    },
    async end() {
      const show = (document: Invoice) => shownBy(engine, company, situation, { document, dueDate: null });
      return { company, steps, shown: await Promise.all([...documents().values()].map(show)) };
    },
  };
}

async function isRefusedBy({ backoffice }: TestBackoffice, change: Change): Promise<boolean> {
  try {
    await applyChange(backoffice, change);
    return false;
  } catch (error) {
    if (error instanceof Refusal) return true;
    throw error;
  }
}

async function documentsOf({ engine }: TestBackoffice, { id }: TestCompany): Promise<Documents> {
  const rows = await engine.db
    .selectFrom('invoices')
    .select(['id', 'body', 'detail'])
    .where('company', '=', id)
    .orderBy('id')
    .execute();
  return new Map(
    rows.map((row) => [row.id, { ...JSON.parse(row.body), ...JSON.parse(row.detail) } as Invoice]),
  );
}

const at = <T>(list: readonly T[], which: number): T | undefined => list[which % Math.max(1, list.length)];

/** The changes that an act comes to, where the documents stand; none when there is nothing to make them of. */
function changesOf(situation: Situation, one: Act, documents: readonly Invoice[], step: number): Given[] {
  const drafts = documents.filter(({ status }) => status === 'draft');
  const issued = documents.filter(({ kind, status }) => kind === 'invoice' && status === 'issued');
  const share = one.kind / 1000;
  if (share < 0.2 || documents.length === 0) return [drafting(situation, one)];
  if (share < 0.4) return issuing(at(drafts.toReversed(), one.which % 2));
  if (share < 0.52) return crediting(at(issued, one.which), one);
  if (share < 0.9) return moving(share, at(issued, one.which), one);
  if (share < 0.95) return undone(at(issued, one.which), one, step);
  return [besides(drafts, one, step)];
}

function drafting(situation: Situation, { which, lines }: Act): Given<'invoice.draft'> {
  const kind = which % 12 === 0 ? 'pro_forma' : 'invoice';
  return {
    change: 'invoice.draft',
    with: { kind, customerId: 'cus_1', lines: linesOf(situation, lines), ...exchangeIn(situation) },
  };
}

function issuing(draft: Invoice | undefined): Given<'invoice.issue'>[] {
  return draft ? [{ change: 'invoice.issue', with: { id: draft.id } }] : [];
}

/** A credit note of a share of some lines; a share above the whole is refused. */
function crediting(invoice: Invoice | undefined, { which, share }: Act): Given<'invoice.draft'>[] {
  if (!invoice) return [];
  const chosen = invoice.lines.filter(
    (_line, index) => which % 3 === 0 || index === which % invoice.lines.length,
  );
  const lines = chosen.map((line): DraftLine => {
    const { description, quantity, unitPriceMinor, vatRateBasisPoints, vatExemptionReason } = line;
    return {
      ...{ description, quantity, vatRateBasisPoints, vatExemptionReason },
      // A drafted line has a category of the feed.
      vatCategory: line.vatCategory as DraftLine['vatCategory'],
      unitPriceMinor: which % 2 === 0 ? unitPriceMinor : Math.floor((unitPriceMinor * share) / 1000),
      ...(line.vatCategory === 'AE' ? { reverseChargeRateBasisPoints: 2000 } : {}),
    };
  });
  const { id: creditsInvoiceId, customer } = invoice;
  const what = { creditsInvoiceId, customerId: customer.id, note: 'Returned.', lines };
  return [{ change: 'invoice.draft', with: { kind: 'credit_note', ...what } }];
}

/** Money comes or goes, or turns out not to have. */
function moving(share: number, invoice: Invoice | undefined, one: Act): Given[] {
  if (!invoice) return [];
  const payment = at(invoice.payments ?? [], one.which);
  if (share < 0.66 || !payment) {
    const { amountDueMinor: dueMinor = 0 } = invoice;
    const amountMinor = Math.max(1, one.which % 3 === 0 ? partOf(dueMinor, one) : dueMinor);
    return [{ change: 'payment.record', with: { ...moneyOf(invoice), amountMinor } }];
  }
  if (share < 0.71) return [{ change: 'payment.void', with: { invoiceId: invoice.id, id: payment.id } }];
  return [refunding(invoice, one, share > 0.83)];
}

function refunding(invoice: Invoice, one: Act, isVoided: boolean): Given {
  const { id: invoiceId, refunds = [], payments = [], creditBalanceMinor = 0 } = invoice;
  const refund = at(refunds, one.which);
  if (isVoided && refund) return { change: 'refund.void', with: { invoiceId, id: refund.id } };
  const isCredit = one.which % 2 === 0;
  const amountMinor = isCredit ? creditBalanceMinor : partOf(at(payments, one.which)?.amountMinor ?? 0, one);
  return { change: 'refund.record', with: { ...moneyOf(invoice), amountMinor: Math.max(1, amountMinor) } };
}

const moneyOf = ({ id: invoiceId, currency }: Invoice) => ({ invoiceId, currency, method: 'card' });
const partOf = (minor: number, { share }: Act) => Math.floor((minor * share) / 1000);

/** A payment that is voided at once. */
function undone(invoice: Invoice | undefined, one: Act, step: number): Given[] {
  if (!invoice) return [];
  const id = `pay_${step}`;
  const amountMinor = Math.max(1, partOf(invoice.totals.grossMinor, one));
  return [
    { change: 'payment.record', with: { ...moneyOf(invoice), id, amountMinor } },
    { change: 'payment.void', with: { invoiceId: invoice.id, id } },
  ];
}

/** A change to a draft, or to no document at all. */
function besides(drafts: readonly Invoice[], { which, share }: Act, step: number): Given {
  const draft = at(drafts, which);
  if (which % 3 === 0 && draft)
    return { change: 'invoice.edit', with: { id: draft.id, note: `Note ${share}` } };
  if (which % 3 === 1) return customerSave({ id: 'cus_2', name: `Another customer, ${step}` });
  return jobCreate({ dates: [addDays('2026-12-01', which)] });
}
