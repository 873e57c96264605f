import fc from 'fast-check';
import t from 'tap';

import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { Refusal } from '../../../src/server/backoffice/refusal.ts';
import type { Change } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { type EngineName, engineNames, openTestDatabase } from '../../_server.ts';
import { brokenDocuments, brokenHistories } from './_invariant-violations.ts';
import { customerSave } from './_changes.ts';
import { amountsOf, breakdownOf, convertedItems, isSafe, lineAmount } from './_exact.ts';
import { type History, historyDraw, openHistory, runHistory } from './_histories.ts';
import { historyInvariants } from './_history-invariants.ts';
import {
  type Desk,
  documentDraw,
  type DocumentDraw,
  draftOf,
  exchangeIn,
  openDesk,
  shownBy,
} from './_invariant-documents.ts';
import { documentInvariants, type Invariant, type Shown } from './_invariants.ts';
import { createTestBackoffice, recordIn, type TestBackoffice } from './_backoffice.ts';
import { customerIn, irishCompany, type Situation, situations } from './_vat-situations.ts';

/*
 * Every label of _invariants.ts and _history-invariants.ts, but those of lists (../../model/reads-between-moves.test.ts). The arithmetic by itself, for
 * any amounts at all, is tested in vat.test.ts.
 */

const DOCUMENTS: Record<EngineName, number> = { sqlite: 300, postgres: 40 };
const HISTORIES: Record<EngineName, number> = { sqlite: 30, postgres: 6 };
const TODAY = '2026-11-20';

/** How often each move was made in the histories. */
const moves = new Map<string, number>();

for (const name of engineNames) {
  t.test(`of random documents (${name})`, async (t) => {
    await using database = await openTestDatabase(name);
    const testBackoffice = createTestBackoffice(database);
    const desk = openDesk(testBackoffice);
    const tally = { drafted: 0, issued: 0, tooLarge: 0 };
    await fc.assert(
      fc.asyncProperty(documentDraw, async (draw) => {
        const shown = await showAll(testBackoffice, desk, draw, tally);
        noProblem(shown.flatMap((one) => problemsOf(documentInvariants, one)));
      }),
      { numRuns: DOCUMENTS[name] },
    );
    t.comment(JSON.stringify(tally));
    t.ok(tally.issued > tally.drafted / 2, 'most documents are issued');
  });

  t.test(`of random histories (${name})`, async (t) => {
    await using database = await openTestDatabase(name);
    const testBackoffice = createTestBackoffice(database);
    await t.resolves(
      fc.assert(
        fc.asyncProperty(historyDraw, async (draw) => {
          const history = await runHistory(testBackoffice, draw);
          countMoves(moves, history);
          noProblem(problemsOf(historyInvariants, history));
        }),
        { numRuns: HISTORIES[name] },
      ),
    );
  });
}

t.test('the random histories had every kind of move in them', async (t) => {
  t.comment(JSON.stringify(Object.fromEntries([...moves].sort())));
  for (const move of ['credit_note.issued', 'invoice.paid', 'payment.void', 'refund.record', 'refund.void'])
    t.ok(moves.get(move), `${move} happened`);
});

/** Where a subject breaks an invariant, with the label of the rule. */
function problemsOf<Subject>(invariants: readonly Invariant<Subject>[], subject: Subject): string[] {
  return invariants.flatMap(({ label, title, problems }) =>
    problems(subject).map((problem) => `${label}: ${title}: ${problem}`),
  );
}

function noProblem(problems: string[]): void {
  if (problems.length > 0) throw new Error(problems.join('; '));
}

/** Drafts a random document and issues it, and shows it as draft and as issued. */
async function showAll(
  testBackoffice: TestBackoffice,
  desk: Desk,
  draw: DocumentDraw,
  tally: { drafted: number; issued: number; tooLarge: number },
): Promise<Shown[]> {
  const situation = situations[draw.situation] ?? situations[0];
  if (!situation) throw new Error('There is no situation.');
  const company = await desk(situation);
  const change = draftOf(situation, draw, TODAY);
  const dueDate = change.with.dueDate ?? null;
  const show = (document: Invoice) =>
    shownBy(testBackoffice.engine, company, situation, { document, dueDate });
  const attempt = async (given: object): Promise<Invoice | Refusal> => {
    try {
      return recordIn<Invoice>(
        await applyChange(testBackoffice.backoffice, { company: company.id, ...given } as Change),
      );
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  };
  const draft = await attempt(change);
  if (draft instanceof Refusal) {
    tally.tooLarge += 1;
    noProblem(isTooLarge(situation, change.with.lines ?? []) ? [] : [draft.message]);
    return [];
  }
  tally.drafted += 1;
  const issued = await attempt({ change: 'invoice.issue', with: { id: draft.id } });
  if (!(issued instanceof Refusal)) tally.issued += 1;
  else noProblem(draft.totals.grossMinor < 0 ? [] : [issued.message]);
  return Promise.all([draft, ...(issued instanceof Refusal ? [] : [issued])].map(show));
}

type Lines = NonNullable<ReturnType<typeof draftOf>['with']['lines']>;

/** Whether an amount of a document is beyond what a number can hold exactly. */
function isTooLarge(situation: Situation, lines: Lines): boolean {
  const amounts = lines.map(({ quantity, unitPriceMinor }) => lineAmount(quantity, unitPriceMinor));
  const items = breakdownOf(lines.map((line, index) => ({ ...line, amount: amounts[index] ?? 0n })));
  const { exchange } = exchangeIn(situation);
  const { company, customer } = situation;
  const own = exchange
    ? convertedItems(items, exchange.exchangeRate, customer.currency, company.currency ?? 'EUR')
    : [];
  return ![...amounts, ...amountsOf(items), ...amountsOf(own)].every(isSafe);
}

function countMoves(tally: Map<string, number>, { steps }: History): void {
  for (const { change, isRefused, events } of steps) {
    const names = isRefused
      ? [`${change.change}, refused`]
      : [change.change, ...events.map(({ kind }) => kind)];
    for (const name of new Set(names)) tally.set(name, (tally.get(name) ?? 0) + 1);
  }
}

t.test('the checks bite', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const testBackoffice = createTestBackoffice(database);
  const labelsOf = <Subject>(invariants: Invariant<Subject>[], subject: Subject) =>
    invariants.flatMap(({ label, problems }) => (problems(subject).length > 0 ? [label] : []));

  await t.test('on a document', async (t) => {
    const sound = await soundDocument(testBackoffice);
    t.strictSame(labelsOf(documentInvariants, sound), [], 'the sound one has no problem');
    for (const [label, what, wrong] of brokenDocuments) {
      const broken = structuredClone(sound);
      wrong(broken);
      t.ok(labelsOf(documentInvariants, broken).includes(label), `${label} notices ${what}`);
    }
    const labels = new Set(brokenDocuments.map(([label]) => label));
    t.strictSame(
      [...labels],
      documentInvariants.map(({ label }) => label),
      'every label bites',
    );
  });

  await t.test('on a history', async (t) => {
    const sound = await soundHistory(testBackoffice);
    t.strictSame(labelsOf(historyInvariants, sound), [], 'the sound one has no problem');
    for (const [label, what, wrong] of brokenHistories) {
      const broken = cloned(sound);
      wrong(broken);
      t.ok(labelsOf(historyInvariants, broken).includes(label), `${label} notices ${what}`);
    }
    const labels = new Set(brokenHistories.map(([label]) => label));
    t.strictSame(
      [...labels],
      historyInvariants.map(({ label }) => label),
      'every label bites',
    );
  });
});

const sales = { description: 'Labour', quantity: '1', unitPriceMinor: 10_050 };
const exempt = { vatRateBasisPoints: 0, vatExemptionReason: 'Exempt: VATCA 2010 Sch 1 para 7' };

/** An issued invoice from Ireland to France in dollars, with a line in each category that may stand there. */
async function soundDocument(testBackoffice: TestBackoffice): Promise<Shown> {
  const customer = customerIn('FR', 'USD');
  const situation: Situation = { name: 'sound', company: irishCompany, customer, categories: [] };
  const company = await testBackoffice.openCompany(irishCompany);
  await company.apply(customerSave({ id: 'cus_1', ...customer }));
  const draft = await company.apply({
    change: 'invoice.draft',
    with: {
      kind: 'invoice',
      customerId: 'cus_1',
      ...exchangeIn(situation),
      lines: [
        { ...sales, vatCategory: 'S', vatRateBasisPoints: 2300 },
        { ...sales, vatCategory: 'Z', vatRateBasisPoints: 0 },
        { ...sales, vatCategory: 'E', ...exempt },
        { ...sales, vatCategory: 'AE', vatRateBasisPoints: 0 },
        { ...sales, vatCategory: 'K', vatRateBasisPoints: 0 },
      ],
    },
  });
  const document = await company.apply({ change: 'invoice.issue', with: { id: draft.id } });
  return shownBy(testBackoffice.engine, company, situation, { document, dueDate: null });
}

/** An invoice is paid, the payment voided, a part credited, and the rest paid. */
async function soundHistory(testBackoffice: TestBackoffice): Promise<History> {
  const [situation] = situations;
  if (!situation) throw new Error('There is no situation.');
  const open = await openHistory(testBackoffice, situation);
  const line = { ...sales, vatCategory: 'S', vatRateBasisPoints: 2300 } as const;
  const invoiceId = '00000000-0000-7000-8000-000000000001';
  const noteId = '00000000-0000-7000-8000-000000000002';
  const draft = { customerId: 'cus_1', lines: [line] };
  await open.make({
    change: 'invoice.draft',
    with: { ...draft, id: invoiceId, kind: 'invoice', lines: [line, line] },
  });
  await open.make({ change: 'invoice.issue', with: { id: invoiceId } });
  const money = { invoiceId, currency: 'EUR', method: 'card' };
  await open.make({ change: 'payment.record', with: { ...money, id: 'pay_1', amountMinor: 24_723 } });
  await open.make({ change: 'payment.void', with: { invoiceId, id: 'pay_1' } });
  const credit = { kind: 'credit_note', creditsInvoiceId: invoiceId, note: 'Half of it.' } as const;
  await open.make({ change: 'invoice.draft', with: { ...draft, id: noteId, ...credit } });
  await open.make({ change: 'invoice.issue', with: { id: noteId } });
  await open.make(customerSave({ id: 'cus_2' }));
  await open.make({ change: 'payment.record', with: { ...money, id: 'pay_2', amountMinor: 12_361 } });
  return open.end();
}

/** A copy of what is recorded of a history; the company itself stays. */
function cloned({ company, steps, shown }: History): History {
  return { company, steps: structuredClone(steps), shown: structuredClone(shown) };
}
