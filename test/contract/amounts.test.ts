import t from 'tap';

import { company, type Schemas } from './_company.ts';

const { quotes, invoices } = company;
const documents = [...quotes, ...invoices];
const issuedInvoices = invoices.filter(({ kind, status }) => kind === 'invoice' && status === 'issued');

type Breakdown = Schemas['VatBreakdownItem'][];

/** Half up, symmetric; the denominator is positive. The VAT arithmetic is done here again, on purpose. */
function divide(numerator: bigint, denominator: bigint): bigint {
  const magnitude = (numerator < 0n ? -numerator : numerator) * 2n + denominator;
  const rounded = magnitude / (2n * denominator);
  return numerator < 0n ? -rounded : rounded;
}

function timesDecimal(amount: number, decimal: string): number {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return Number(divide(BigInt(amount) * BigInt(whole + fraction), 10n ** BigInt(fraction.length)));
}

const sum = (amounts: number[]) => Number(amounts.reduce((total, amount) => total + BigInt(amount), 0n));
const sumOf = (items: { amountMinor: number }[]) => sum(items.map(({ amountMinor }) => amountMinor));

function totalsOf(breakdown: Breakdown): Schemas['Totals'] {
  const netMinor = sum(breakdown.map(({ taxableMinor }) => taxableMinor));
  const vatMinor = sum(breakdown.map((item) => item.vatMinor));
  return { netMinor, vatMinor, grossMinor: netMinor + vatMinor };
}

function breakdownOf(lines: Schemas['Line'][]): Breakdown {
  const groups = Map.groupBy(
    lines,
    ({ vatCategory, vatRateBasisPoints }) => `${vatCategory} ${vatRateBasisPoints}`,
  );
  return [...groups].map(([key, group]) => {
    const [category = '', rate = '0'] = key.split(' ');
    const taxableMinor = sumOf(group);
    const vatMinor = category === 'S' ? Number(divide(BigInt(taxableMinor) * BigInt(rate), 10_000n)) : 0;
    return { category, rateBasisPoints: Number(rate), taxableMinor, vatMinor };
  });
}

const byRate = (breakdown: Breakdown) => breakdown.toSorted((a, b) => b.rateBasisPoints - a.rateBasisPoints);

t.test('the documents are of every sort that the contract tells apart', async (t) => {
  const sorts = new Set(invoices.map(({ kind, status }) => `${kind} ${status}`));
  t.ok(
    ['invoice issued', 'invoice draft', 'credit_note issued', 'pro_forma issued'].every((sort) =>
      sorts.has(sort),
    ),
  );
  const is = (what: string, found: Schemas['Invoice'] | undefined) => t.ok(found, what);
  is(
    'part-paid',
    issuedInvoices.find(({ payments = [], amountDueMinor }) => payments.length > 0 && amountDueMinor !== 0),
  );
  is(
    'settled by payment',
    issuedInvoices.find(
      ({ payments = [], creditNotes, amountDueMinor }) =>
        payments.length > 0 && creditNotes.length === 0 && amountDueMinor === 0,
    ),
  );
  is(
    'settled by credit note',
    issuedInvoices.find(
      ({ creditNotes, amountDueMinor, creditBalanceMinor }) =>
        creditNotes.length > 0 && amountDueMinor === 0 && creditBalanceMinor === 0,
    ),
  );
  is(
    'in credit',
    issuedInvoices.find(({ creditBalanceMinor = 0 }) => creditBalanceMinor > 0),
  );
  is(
    'refunded',
    issuedInvoices.find(({ refunds = [] }) => refunds.length > 0),
  );
  is(
    'reverse charge',
    issuedInvoices.find(({ lines }) => lines.some(({ vatCategory }) => vatCategory === 'AE')),
  );
  is(
    'foreign currency',
    issuedInvoices.find(({ accountingCurrency }) => accountingCurrency !== null),
  );
  is(
    'over a period',
    issuedInvoices.find(({ supplyPeriod }) => supplyPeriod !== null),
  );
  is(
    'two rates',
    issuedInvoices.find(({ vatBreakdown }) => vatBreakdown.length > 1),
  );
  is(
    'a discount',
    issuedInvoices.find(({ lines }) => lines.some(({ amountMinor }) => amountMinor < 0)),
  );
});

t.test('a line costs its quantity times its unit price', async (t) => {
  const lines = documents.flatMap((document) => document.lines);
  t.ok(lines.length > 25);
  for (const { id, quantity, unitPriceMinor, amountMinor } of lines) {
    t.equal(amountMinor, timesDecimal(unitPriceMinor, quantity), id);
  }
  t.ok(
    lines.some(
      ({ quantity, unitPriceMinor, amountMinor }) => Number(quantity) * unitPriceMinor !== amountMinor,
    ),
    'one is rounded',
  );
});

t.test('lines are numbered from 1, and each has an id of its own', async (t) => {
  for (const { id, lines } of documents)
    t.same(
      lines.map(({ position }) => position),
      lines.map((_, index) => index + 1),
      id,
    );
  const ids = documents.flatMap(({ lines }) => lines.map(({ id }) => id));
  t.equal(new Set(ids).size, ids.length);
});

t.test(
  'the breakdown is the VAT of the lines for each category and rate, and adds up to the totals',
  async (t) => {
    for (const { id, lines, vatBreakdown, totals } of documents) {
      t.same(vatBreakdown, byRate(breakdownOf(lines)), id);
      t.same(totals, totalsOf(vatBreakdown), id);
      t.equal(totals.netMinor, sumOf(lines), id);
    }
  },
);

t.test('a category says whether there is VAT, and a line without VAT says why', async (t) => {
  for (const { vatCategory, vatRateBasisPoints, vatExemptionReason, id } of documents.flatMap(
    ({ lines }) => lines,
  )) {
    t.equal(vatRateBasisPoints > 0, vatCategory === 'S', id);
    t.equal(vatExemptionReason === null, vatCategory === 'S', id);
  }
  for (const { id, lines, buyer } of documents) {
    if (lines.some(({ vatCategory }) => vatCategory === 'AE')) t.ok(buyer.vatId, id);
  }
});

t.test('amounts in the currency of the VAT return are each converted and rounded, and add up', async (t) => {
  const foreign = invoices.filter(({ currency }) => currency !== 'EUR');
  t.ok(foreign.length > 0);
  for (const { id, currency, accountingCurrency } of invoices)
    t.equal(accountingCurrency === null, currency === 'EUR', id);
  for (const { id, vatBreakdown, accountingCurrency } of foreign) {
    const { exchangeRate = '' } = accountingCurrency ?? {};
    t.same(
      accountingCurrency?.vatBreakdown,
      vatBreakdown.map((item) => ({
        ...item,
        taxableMinor: timesDecimal(item.taxableMinor, exchangeRate),
        vatMinor: timesDecimal(item.vatMinor, exchangeRate),
      })),
      id,
    );
    t.same(accountingCurrency?.totals, totalsOf(accountingCurrency?.vatBreakdown ?? []), id);
  }
});

t.test('an issued invoice has its balance, and no other document has one', async (t) => {
  for (const invoice of invoices) {
    const { id, kind, status, totals, creditNotes, payments, refunds, amountDueMinor, creditBalanceMinor } =
      invoice;
    if (kind !== 'invoice' || status !== 'issued') {
      t.same(
        [payments, refunds, amountDueMinor, creditBalanceMinor],
        [undefined, undefined, undefined, undefined],
        id,
      );
      continue;
    }
    const credited = sum(creditNotes.map(({ grossMinor }) => grossMinor));
    const balance = totals.grossMinor - credited - sumOf(payments ?? []) + sumOf(refunds ?? []);
    t.equal(amountDueMinor, Math.max(0, balance), id);
    t.equal(creditBalanceMinor, Math.max(0, -balance), id);
    for (const { currency } of [...(payments ?? []), ...(refunds ?? [])])
      t.equal(currency, invoice.currency, id);
  }
});

t.test(
  'a credit note and its invoice name each other, and it takes back no more than was charged',
  async (t) => {
    const creditNotes = invoices.filter(({ kind }) => kind === 'credit_note');
    t.ok(creditNotes.length >= 2);
    for (const { id, creditsInvoiceId, creditedInvoice } of invoices) {
      t.equal(creditsInvoiceId === null, !creditNotes.some((note) => note.id === id), id);
      t.equal(creditedInvoice?.id ?? null, creditsInvoiceId, id);
    }
    for (const note of creditNotes) {
      const invoice = invoices.find(({ id }) => id === note.creditsInvoiceId);
      if (!invoice) throw new Error(note.id);
      t.same(note.creditedInvoice, referenceTo(invoice), note.id);
      t.same(
        invoice.creditNotes.filter(({ id }) => id === note.id),
        [referenceTo(note)],
        note.id,
      );
      t.equal(note.currency, invoice.currency);
      t.equal(note.customer.id, invoice.customer.id);
      t.ok(note.note, 'it says why');
      t.ok(note.issueDate !== null && invoice.issueDate !== null && note.issueDate >= invoice.issueDate);
      t.ok(note.issuedAt !== null && invoice.updatedAt > note.issuedAt, 'the invoice changes with it');
      for (const { category, rateBasisPoints, taxableMinor } of note.vatBreakdown) {
        const charged = invoice.vatBreakdown.find(
          (item) => item.category === category && item.rateBasisPoints === rateBasisPoints,
        );
        t.ok(charged && taxableMinor <= charged.taxableMinor, note.id);
      }
    }
  },
);

function referenceTo({ id, number, status, issueDate, totals }: Schemas['Invoice']): object {
  return { id, number, status, issueDate, grossMinor: totals.grossMinor };
}

t.test('an issued document has what a draft still lacks', async (t) => {
  for (const {
    id,
    kind,
    status,
    number,
    issueDate,
    issuedAt,
    supplyDate,
    supplyPeriod,
    dueDate,
    paymentTermsDays,
  } of invoices) {
    const isIssued = status === 'issued';
    t.equal(number !== null, isIssued, id);
    t.equal(issuedAt !== null, isIssued, id);
    t.equal(issueDate, issuedAt?.slice(0, 10) ?? null, id);
    if (supplyPeriod)
      t.ok(supplyPeriod.startDate <= supplyPeriod.endDate && supplyPeriod.endDate === supplyDate, id);
    if (isIssued && kind !== 'pro_forma') t.ok(supplyDate, id);
    if (dueDate !== null)
      t.equal(Date.parse(dueDate) - Date.parse(issueDate ?? ''), paymentTermsDays * 86_400_000, id);
    t.equal(dueDate !== null, isIssued && kind !== 'credit_note', id);
  }
});

t.test('the numbers of each series are without gaps, in the order of issue', async (t) => {
  const issued = invoices
    .filter(({ status }) => status === 'issued')
    .toSorted((a, b) => (a.issuedAt ?? '').localeCompare(b.issuedAt ?? ''));
  for (const [kind, prefix] of [
    ['invoice', 'INV'],
    ['credit_note', 'CN'],
    ['pro_forma', 'PF'],
  ] as const) {
    const numbers = issued.filter((document) => document.kind === kind).map(({ number }) => number);
    t.ok(numbers.length > 0);
    t.same(
      numbers,
      numbers.map((_, index) => `${prefix}-2026-${String(index + 1).padStart(4, '0')}`),
    );
  }
});

t.test('links lead to the document and its PDF', async (t) => {
  for (const { id, links } of invoices)
    t.same(links, { self: `/api/v1/invoices/${id}`, pdf: `/api/v1/invoices/${id}/pdf` });
  for (const { id, links } of quotes) t.same(links, { self: `/api/v1/quotes/${id}` });
});
