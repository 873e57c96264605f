/** What holds of documents together and of what becomes of them; _invariants.ts has the documents one at a time. */
import type { Invoice } from '../../../src/contract/records.ts';
import { converted, isSafe, sumOf, vatOn } from './_exact.ts';
import type { Documents, History, Step } from './_histories.ts';
import type { Invariant } from './_invariants.ts';

type Item = Invoice['vatBreakdown'][number];

const unless = (isRight: boolean, problem: string): string[] => (isRight ? [] : [problem]);
const nameOf = ({ kind, number, id }: Invoice) => `${kind} ${number ?? id}`;

const documentsOf = ({ shown }: History) => shown.map(({ document }) => document);
const creditNotesIn = (history: History) => documentsOf(history).filter(({ kind }) => kind === 'credit_note');
const invoicesIn = (documents: readonly Invoice[]) =>
  documents.filter(({ kind, status }) => kind === 'invoice' && status === 'issued');

/** Each credit note with the invoice that it corrects. */
function credits(history: History): { note: Invoice; invoice: Invoice | undefined }[] {
  const documents = new Map(documentsOf(history).map((document) => [document.id, document]));
  return creditNotesIn(history).map((note) => ({
    note,
    invoice: documents.get(note.creditsInvoiceId ?? ''),
  }));
}

/** Each issued invoice after each step, with how it was before. */
function* movesOf({
  steps,
}: History): Generator<{ step: Step; before: Invoice | undefined; after: Invoice }> {
  for (const step of steps) {
    for (const after of invoicesIn([...step.after.values()])) {
      yield { step, before: step.before.get(after.id), after };
    }
  }
}

export const historyInvariants: Invariant<History>[] = [
  {
    label: 'I15',
    title: 'an issued document has a number of its own that stays, a day of issue and a currency',
    problems: (history) => [...numberProblems(documentsOf(history)), ...history.steps.flatMap(renumbered)],
  },
  {
    label: 'C1',
    title: 'a credit note, and nothing else, names the invoice it corrects',
    problems: (history) =>
      documentsOf(history).flatMap((document) => {
        const isNote = document.kind === 'credit_note';
        const isNamed = (document.creditsInvoiceId !== null) === isNote;
        return unless(isNamed && (document.creditedInvoice !== null) === isNote, nameOf(document));
      }),
  },
  {
    label: 'C2',
    title: 'a credit note corrects an earlier issued invoice of its customer and currency',
    problems: (history) =>
      credits(history).flatMap(({ note, invoice }) => unless(!!invoice && isOf(note, invoice), nameOf(note))),
  },
  {
    label: 'C3',
    title: 'the credit notes of an invoice never exceed it in a category and rate, net and gross',
    problems: (history) =>
      invoicesIn(documentsOf(history)).flatMap((invoice) =>
        excessProblems(
          invoice,
          creditNotesIn(history).filter(
            ({ creditsInvoiceId, status }) => creditsInvoiceId === invoice.id && status === 'issued',
          ),
        ),
      ),
  },
  {
    label: 'C7',
    title:
      'the VAT of the credit notes of an invoice is that on their net, and so it is in the accounting currency',
    problems: (history) =>
      history.shown.flatMap(({ document, home }) =>
        document.kind === 'invoice'
          ? creditedVatProblems(
              document,
              home,
              creditNotesIn(history).filter(
                ({ creditsInvoiceId, status }) => creditsInvoiceId === document.id && status === 'issued',
              ),
            )
          : [],
      ),
  },
  {
    label: 'C4',
    title: 'a credit note gives something back, in positive amounts where the invoice has such',
    problems: (history) =>
      credits(history).flatMap(({ note, invoice }) =>
        unless(
          note.status === 'draft' || isPositive(note, invoice),
          `${nameOf(note)} ${JSON.stringify(note.totals)}`,
        ),
      ),
  },
  {
    label: 'C5',
    title: 'an issued credit note is shown by its invoice as it is, and no other is',
    problems: (history) =>
      invoicesIn(documentsOf(history)).flatMap((invoice) => referenceProblems(history, invoice)),
  },
  {
    label: 'C6',
    title: 'the corrected invoice changes when its credit note is issued',
    problems: (history) =>
      credits(history).flatMap(({ note, invoice }) =>
        unless(note.status === 'draft' || (invoice?.updatedAt ?? '') >= (note.issuedAt ?? ''), nameOf(note)),
      ),
  },
  {
    label: 'P1',
    title: 'something is due or owed back, or neither, and never both',
    problems: (history) =>
      [...movesOf(history)].flatMap(({ after }) => {
        const { amountDueMinor = -1, creditBalanceMinor = -1 } = after;
        const isOne = amountDueMinor === 0 || creditBalanceMinor === 0;
        return unless(isOne && amountDueMinor >= 0 && creditBalanceMinor >= 0, nameOf(after));
      }),
  },
  {
    label: 'P2',
    title: 'what is due is the gross less what was credited and paid, and what was refunded',
    problems: (history) =>
      [...movesOf(history)].flatMap(({ after }) => {
        const exact = balanceOf(after);
        return unless(
          openOf(after) === exact && isSafe(exact),
          `${nameOf(after)}: ${openOf(after)}, not ${exact}`,
        );
      }),
  },
  {
    label: 'P3',
    title: 'a payment that is voided leaves the numbers as they were',
    problems: ({ steps }) =>
      steps.flatMap((step, index) => {
        const recorded = steps[index - 1];
        return recorded && isUndoing(recorded, step) ? undoneProblems(recorded.before, step) : [];
      }),
  },
  {
    label: 'P4',
    title: 'invoice.paid is sent once for each time that an invoice becomes settled',
    problems: ({ steps }) => steps.flatMap(edgeProblems),
  },
  {
    label: 'P5',
    title: 'updatedAt grows with each activity of a document, and with nothing else',
    problems: ({ steps }) => steps.flatMap(stampProblems),
  },
];

function numberProblems(documents: readonly Invoice[]): string[] {
  const issued = documents.filter(({ status }) => status === 'issued');
  const numbers = issued.map(({ number }) => number ?? '');
  const series = Map.groupBy(numbers, (number) => number.replace(/\d+$/, ''));
  return [
    ...issued.flatMap((document) => {
      const { number, issueDate, currency, issuedAt } = document;
      return unless(!!number && !!issueDate && !!issuedAt && /^[A-Z]{3}$/.test(currency), nameOf(document));
    }),
    ...unless(new Set(numbers).size === numbers.length, `twins among ${numbers.join()}`),
    ...[...series.values()].flatMap((own) => {
      const counts = own.map((number) => Number(/\d+$/.exec(number)?.[0])).sort((a, b) => a - b);
      return unless(
        counts.every((count, index) => count === index + 1),
        `a gap among ${own.join()}`,
      );
    }),
  ];
}

/** An issued document keeps its number for ever. */
function renumbered({ before, after }: Step): string[] {
  return [...before.values()].flatMap((document) =>
    unless(
      document.status === 'draft' || after.get(document.id)?.number === document.number,
      `${nameOf(document)} became ${after.get(document.id)?.number ?? 'nothing'}`,
    ),
  );
}

function isOf(note: Invoice, invoice: Invoice): boolean {
  const isEarlier = note.issueDate === null || note.issueDate >= (invoice.issueDate ?? '');
  const isIssuedInvoice = invoice.kind === 'invoice' && invoice.status === 'issued';
  return (
    isIssuedInvoice &&
    isEarlier &&
    invoice.customer.id === note.customer.id &&
    invoice.currency === note.currency
  );
}

const keyOf = ({ category, rateBasisPoints }: Item) => `${category} ${rateBasisPoints}`;

function excessProblems(invoice: Invoice, notes: readonly Invoice[]): string[] {
  const credited = Map.groupBy(
    notes.flatMap(({ vatBreakdown }) => vatBreakdown),
    keyOf,
  );
  return [...credited].flatMap(([key, items]) => {
    const invoiced = invoice.vatBreakdown.filter((item) => keyOf(item) === key);
    const net = (list: readonly Item[]) => sumOf(list.map(({ taxableMinor }) => taxableMinor));
    const gross = (list: readonly Item[]) => net(list) + sumOf(list.map(({ vatMinor }) => vatMinor));
    const isWithin = isBetween(net(items), net(invoiced)) && isBetween(gross(items), gross(invoiced));
    return unless(isWithin, `${nameOf(invoice)} in ${key}: ${net(items)} of ${net(invoiced)}`);
  });
}

function creditedVatProblems(invoice: Invoice, home: string, notes: readonly Invoice[]): string[] {
  const items = Map.groupBy(
    notes.flatMap(({ vatBreakdown }) => vatBreakdown),
    keyOf,
  );
  const accounted = notes.flatMap(({ accountingCurrency }) => accountingCurrency?.vatBreakdown ?? []);
  return [...items].flatMap(([key, own]) => {
    const net = sumOf(own.map(({ taxableMinor }) => taxableMinor));
    const vat = sumOf(own.map(({ vatMinor }) => vatMinor));
    const { category = '', rateBasisPoints = 0 } = own[0] ?? {};
    const exact = category === 'S' ? vatOn(net, rateBasisPoints) : 0n;
    const inHome = (amount: bigint) =>
      converted(amount, invoice.accountingCurrency?.exchangeRate ?? '', invoice.currency, home);
    const ofKey = accounted.filter((item) => keyOf(item) === key);
    const isAccounted =
      invoice.accountingCurrency === null ||
      (sumOf(ofKey.map(({ taxableMinor }) => taxableMinor)) === inHome(net) &&
        sumOf(ofKey.map(({ vatMinor }) => vatMinor)) === inHome(vat));
    return unless(vat === exact && isAccounted, `${nameOf(invoice)} in ${key}: ${vat}, not ${exact}`);
  });
}

const isBetween = (amount: bigint, limit: bigint) =>
  limit >= 0n ? amount >= 0n && amount <= limit : amount <= 0n && amount >= limit;

/** Where a discount alone makes up a category, giving it back takes something away. */
function isPositive({ totals, vatBreakdown }: Invoice, invoice: Invoice | undefined): boolean {
  if (totals.grossMinor <= 0) return false;
  if (invoice?.vatBreakdown.some(({ taxableMinor }) => taxableMinor < 0)) return true;
  const amounts = [
    totals.netMinor,
    totals.vatMinor,
    ...vatBreakdown.flatMap((item) => [item.taxableMinor, item.vatMinor]),
  ];
  return amounts.every((amount) => amount >= 0);
}

function referenceProblems(history: History, invoice: Invoice): string[] {
  const expected = creditNotesIn(history)
    .filter(({ creditsInvoiceId, status }) => creditsInvoiceId === invoice.id && status === 'issued')
    .map(({ id, number, status, issueDate, totals }) => ({
      id,
      number,
      status,
      issueDate,
      grossMinor: totals.grossMinor,
    }));
  const texts = (references: readonly object[]) =>
    references
      .map((reference) => JSON.stringify(Object.entries(reference).sort()))
      .sort()
      .join();
  return unless(texts(invoice.creditNotes) === texts(expected), nameOf(invoice));
}

const openOf = ({ amountDueMinor = 0, creditBalanceMinor = 0 }: Invoice) =>
  BigInt(amountDueMinor) - BigInt(creditBalanceMinor);
const keptOf = ({ payments = [], refunds = [] }: Invoice) =>
  sumOf(payments.map(({ amountMinor }) => amountMinor)) -
  sumOf(refunds.map(({ amountMinor }) => amountMinor));
const creditedOf = ({ creditNotes }: Invoice) => sumOf(creditNotes.map(({ grossMinor }) => grossMinor));
const balanceOf = (invoice: Invoice) =>
  BigInt(invoice.totals.grossMinor) - creditedOf(invoice) - keptOf(invoice);

/** Nothing to pay, money received, not in credit (openapi.yaml, "Invoices"). */
const isSettled = (invoice: Invoice | undefined) =>
  invoice?.status === 'issued' && balanceOf(invoice) === 0n && keptOf(invoice) > 0n;

function isUndoing(recorded: Step, voided: Step): boolean {
  const [a, b] = [recorded.change, voided.change];
  if (a.change !== 'payment.record' || b.change !== 'payment.void' || recorded.isRefused) return false;
  return a.with.id === b.with.id && a.with.invoiceId === b.with.invoiceId;
}

function undoneProblems(before: Documents, { change, after, isRefused }: Step): string[] {
  const { invoiceId = '' } = change.with as { invoiceId?: string };
  const [was, is] = [before.get(invoiceId), after.get(invoiceId)];
  if (!was || !is || isRefused) return [`${invoiceId} could not be undone`];
  return unless(
    JSON.stringify({ ...was, updatedAt: '' }) === JSON.stringify({ ...is, updatedAt: '' }),
    nameOf(is),
  );
}

function edgeProblems({ before, after, events }: Step): string[] {
  const paid = events.filter(({ kind }) => kind === 'invoice.paid').map(({ data }) => data['invoiceId']);
  const risen = invoicesIn([...after.values()])
    .filter((invoice) => isSettled(invoice) && !isSettled(before.get(invoice.id)))
    .map(({ id }) => id);
  return unless(paid.join() === risen.join(), `paid ${paid.join()}, settled ${risen.join()}`);
}

/** The documents that a step may change: the one it names, and the invoice that an issued credit note corrects. */
function touchedBy({ change, after, isRefused }: Step): string[] {
  if (isRefused) return [];
  const { id, invoiceId } = change.with as { id?: string; invoiceId?: string };
  if (invoiceId !== undefined) return [invoiceId];
  if (id === undefined || !['invoice.edit', 'invoice.issue'].includes(change.change)) return [];
  return [id, ...(change.change === 'invoice.issue' ? [after.get(id)?.creditsInvoiceId ?? ''] : [])];
}

/** An edit that says what the draft says already is no activity. The histories' edits give a note alone. */
function isEditInVain({ change }: Step, was: Invoice): boolean {
  return change.change === 'invoice.edit' && change.with.note === was.note;
}

function stampProblems(step: Step): string[] {
  const touched = touchedBy(step);
  return [...step.before.values()].flatMap((was) => {
    const is = step.after.get(was.id);
    if (!is) return [`${nameOf(was)} is gone`];
    if (isEditInVain(step, was) && JSON.stringify(is) === JSON.stringify(was)) return [];
    if (!touched.includes(was.id))
      return unless(JSON.stringify(is) === JSON.stringify(was), `${nameOf(is)} changed`);
    return unless(is.updatedAt > was.updatedAt, `${nameOf(is)} kept its updatedAt`);
  });
}
