import t from 'tap';

import type { Invoice, Quote } from '../../src/contract/records.ts';
import { balance, convertBreakdown, lineAmountMinor, totals, vatBreakdown } from '../../src/contract/vat.ts';
import { byId, generate, known, todayText } from './_company.ts';

const { company } = await generate(2_000);
const { invoices: documents, quotes } = company;
const documentsById = byId(documents);
const customersById = byId(company.customers);
const jobsById = byId(company.jobs);
const quotesById = byId(quotes);

const issued = documents.filter(({ status }) => status === 'issued');
const invoices = issued.filter(({ kind }) => kind === 'invoice');
const creditNotes = issued.filter(({ kind }) => kind === 'credit_note');

/** Names of the documents that break a rule. */
function breaking<Item extends { id: string }>(
  records: readonly Item[],
  keeps: (record: Item) => boolean,
): string[] {
  return records.filter((record) => !keeps(record)).map(({ id }) => id);
}

t.test('the amounts of a document follow from its lines (I1 to I7, I13)', async (t) => {
  const all: (Invoice | Quote)[] = [...documents, ...quotes];
  t.strictSame(
    breaking(
      all,
      ({ lines }) => lines.length > 0 && lines.every(({ position }, index) => position === index + 1),
    ),
    [],
  );
  t.strictSame(
    breaking(all, ({ lines }) =>
      lines.every((line) => line.amountMinor === lineAmountMinor(line.quantity, line.unitPriceMinor)),
    ),
    [],
  );
  for (const document of all) {
    t.strictSame(document.vatBreakdown, vatBreakdown(document.lines));
    t.strictSame(document.totals, totals(document.vatBreakdown));
    if (document.totals.netMinor <= 0) t.fail(`${document.id} is worth nothing`);
  }
});

t.test('VAT is charged in category S alone, and the law hears why elsewhere (I8 to I12)', async (t) => {
  const lines = documents.flatMap((document) => document.lines.map((line) => ({ ...line, document })));
  t.strictSame(
    breaking(lines, (line) => (line.vatCategory === 'S') === line.vatRateBasisPoints > 0),
    [],
  );
  t.strictSame(
    breaking(lines, (line) => ['S', 'Z'].includes(line.vatCategory) === (line.vatExemptionReason === null)),
    [],
  );
  t.strictSame(
    breaking(lines, ({ vatCategory, document }) => vatCategory !== 'O' || document.vatBreakdown.length === 1),
    [],
  );
  t.strictSame(
    breaking(
      lines,
      ({ vatCategory, document }) => !['AE', 'K'].includes(vatCategory) || document.buyer.vatId !== null,
    ),
    [],
  );
  const toNorthernIreland = lines.filter(({ vatCategory }) => vatCategory === 'K');
  t.strictSame(
    breaking(toNorthernIreland, ({ document }) =>
      Boolean(document.buyer.vatId?.startsWith('XI') && document.buyer.site),
    ),
    [],
  );
  const categories = new Set(lines.map(({ vatCategory }) => vatCategory));
  t.strictSame([...categories].sort(), ['AE', 'E', 'G', 'K', 'O', 'S', 'Z']);
});

t.test('numbers have no gaps and come in the order of issue, year by year', async (t) => {
  const issues = [
    ...issued.map(({ number, issuedAt }) => ({ number: String(number), at: String(issuedAt) })),
    ...quotes
      .filter(({ version }) => version === 1)
      .map(({ number, createdAt }) => ({ number, at: createdAt })),
  ];
  const series = Map.groupBy(issues, ({ number, at }) => `${number.split('-')[0]}-${at.slice(0, 4)}`);
  t.strictSame(
    new Set([...series.keys()].map((name) => name.split('-')[0])),
    new Set(['INV', 'CN', 'PF', 'Q']),
  );
  for (const [name, members] of series) {
    const inOrder = members.sort((a, b) => (a.at < b.at ? -1 : 1)).map(({ number }) => number);
    t.strictSame(
      inOrder,
      inOrder.map((_, index) => `${name}-${String(index + 1).padStart(4, '0')}`),
    );
  }
});

t.test('drafts have no number and no issue; issued documents have all of it (I14 to I16)', async (t) => {
  const drafts = documents.filter(({ status }) => status === 'draft');
  t.ok(drafts.some(({ kind }) => kind === 'invoice') && drafts.some(({ kind }) => kind === 'pro_forma'));
  t.strictSame(
    breaking(
      drafts,
      ({ number, issueDate, issuedAt }) => number === null && issueDate === null && issuedAt === null,
    ),
    [],
  );
  t.strictSame(
    breaking(
      issued,
      ({ kind, issueDate, issuedAt, supplyDate }) =>
        issuedAt?.slice(0, 10) === issueDate && (supplyDate !== null || kind === 'pro_forma'),
    ),
    [],
  );
  t.strictSame(
    breaking(issued, ({ kind, dueDate, issueDate, paymentTermsDays }) => {
      const dueMs = Date.parse(String(issueDate)) + paymentTermsDays * 86_400_000;
      return kind === 'credit_note'
        ? dueDate === null
        : dueDate === new Date(dueMs).toISOString().slice(0, 10);
    }),
    [],
  );
  t.strictSame(
    breaking(documents, ({ supplyPeriod, supplyDate }) =>
      supplyPeriod
        ? supplyPeriod.startDate <= supplyPeriod.endDate && supplyPeriod.endDate === supplyDate
        : true,
    ),
    [],
  );
  t.ok(documents.some(({ supplyPeriod }) => supplyPeriod !== null));
});

t.test('documents in sterling have their amounts in euro too (I17)', async (t) => {
  t.strictSame(
    breaking(
      documents,
      ({ currency, accountingCurrency }) => (currency === 'EUR') === (accountingCurrency === null),
    ),
    [],
  );
  for (const { accountingCurrency, currency, vatBreakdown: breakdown } of documents) {
    if (!accountingCurrency) continue;
    const { exchangeRate } = accountingCurrency;
    t.strictSame(
      accountingCurrency.vatBreakdown,
      convertBreakdown(breakdown, { from: currency, to: 'EUR', exchangeRate }),
    );
    t.strictSame(accountingCurrency.totals, totals(accountingCurrency.vatBreakdown));
  }
  t.ok(invoices.some(({ currency, totals: { vatMinor } }) => currency === 'GBP' && vatMinor > 0));
});

t.test('only an issued invoice is settled, and its balance is right (P1, P2)', async (t) => {
  t.strictSame(
    breaking(documents, (document) => {
      const isIssuedInvoice = document.kind === 'invoice' && document.status === 'issued';
      const members = ['payments', 'amountDueMinor', 'refunds', 'creditBalanceMinor'];
      return members.every((member) => member in document === isIssuedInvoice);
    }),
    [],
  );
  t.strictSame(
    breaking(invoices, (invoice) => {
      const { amountDueMinor, creditBalanceMinor } = standing(invoice);
      return invoice.amountDueMinor === amountDueMinor && invoice.creditBalanceMinor === creditBalanceMinor;
    }),
    [],
  );
});

t.test('money moved between the issue and today', async (t) => {
  t.strictSame(
    breaking(invoices, ({ issueDate, updatedAt, payments = [], refunds = [] }) => {
      const days = [...payments.map(({ paidOn }) => paidOn), ...refunds.map(({ refundedOn }) => refundedOn)];
      return days.every(
        (day) => day >= String(issueDate) && day <= updatedAt.slice(0, 10) && day <= todayText,
      );
    }),
    [],
  );
});

t.test('invoices are in every state', async (t) => {
  const states: Record<string, (invoice: Invoice) => boolean> = {
    settled: (invoice) => standing(invoice).isSettled,
    'paid in part': ({ payments = [], amountDueMinor = 0 }) => payments.length > 0 && amountDueMinor > 0,
    'paid in two payments': ({ payments = [] }) => payments.length > 1,
    overdue: ({ dueDate, amountDueMinor = 0 }) =>
      dueDate !== null && dueDate < todayText && amountDueMinor > 0,
    'not yet due': ({ dueDate, amountDueMinor = 0 }) =>
      dueDate !== null && dueDate > todayText && amountDueMinor > 0,
    'credited in full': ({ creditNotes: notes, totals: { grossMinor } }) =>
      notes[0]?.grossMinor === grossMinor,
    'credited in part': ({ creditNotes: notes, totals: { grossMinor } }) =>
      notes.some((note) => note.grossMinor < grossMinor),
    'owing the customer': ({ creditBalanceMinor = 0 }) => creditBalanceMinor > 0,
    refunded: ({ refunds = [] }) => refunds.length > 0,
    'reverse-charged construction': ({ lines, buyer }) =>
      buyer.countryCode === 'IE' &&
      lines.some((line) => line.vatExemptionReason?.includes('Principal Contractor')),
    'at two rates': ({ vatBreakdown: items }) => items.length > 1,
    'with a discount': ({ lines }) => lines.some(({ quantity }) => quantity.startsWith('-')),
  };
  for (const [name, isSo] of Object.entries(states)) t.ok(invoices.some(isSo), name);
  const methods = new Set(invoices.flatMap(({ payments = [] }) => payments.map(({ method }) => method)));
  t.equal(methods.size, 7);
});

t.test('most invoices are settled in time, and the others are chased', async (t) => {
  const due = invoices.filter(({ dueDate }) => String(dueDate) < '2026-09-01');
  const settled = due.filter((invoice) => standing(invoice).isSettled);
  const share = settled.length / due.length;
  t.ok(share > 0.65 && share < 0.9, `${settled.length} of ${due.length} are settled`);
});

t.test('a credit note corrects an issued invoice, and both say so (C1 to C6)', async (t) => {
  t.strictSame(
    breaking(documents, ({ kind, creditsInvoiceId, creditedInvoice }) => {
      const isCreditNote = kind === 'credit_note';
      return isCreditNote === (creditsInvoiceId !== null) && isCreditNote === (creditedInvoice !== null);
    }),
    [],
  );
  for (const creditNote of creditNotes) {
    const { id, number, status, issueDate, totals: amounts } = creditNote;
    const invoice = known(documentsById, String(creditNote.creditsInvoiceId));
    const { grossMinor } = invoice.totals;
    t.strictSame(creditNote.creditedInvoice, {
      id: invoice.id,
      number: invoice.number,
      status: 'issued',
      issueDate: invoice.issueDate,
      grossMinor,
    });
    t.strictSame(invoice.creditNotes, [{ id, number, status, issueDate, grossMinor: amounts.grossMinor }]);
    t.strictSame(
      [invoice.kind, invoice.status, invoice.currency],
      ['invoice', 'issued', creditNote.currency],
    );
    t.ok(amounts.grossMinor > 0 && creditNote.note && String(creditNote.issuedAt) <= invoice.updatedAt);
    for (const item of creditNote.vatBreakdown) {
      const invoiced = invoice.vatBreakdown.find(
        ({ category, rateBasisPoints }) =>
          category === item.category && rateBasisPoints === item.rateBasisPoints,
      );
      t.ok(invoiced && item.taxableMinor <= invoiced.taxableMinor && item.vatMinor <= invoiced.vatMinor);
    }
  }
  t.strictSame(
    breaking(invoices, ({ creditNotes: notes }) =>
      notes.every(({ id }) => documentsById.get(id)?.kind === 'credit_note'),
    ),
    [],
  );
});

t.test('a quote', async (t) => {
  const groups = Map.groupBy(quotes, ({ quoteGroupId }) => quoteGroupId);

  t.test('has versions from 1 on, of which the latest alone is not revised', async (t) => {
    for (const versions of groups.values()) {
      t.strictSame(
        versions.map(({ version, supersedesQuoteId, status }) => ({
          version,
          supersedesQuoteId,
          isRevised: status === 'revised',
        })),
        versions.map((_, index) => ({
          version: index + 1,
          supersedesQuoteId: versions[index - 1]?.id ?? null,
          isRevised: index < versions.length - 1,
        })),
      );
      t.equal(new Set(versions.map(({ number }) => number)).size, 1);
    }
    t.strictSame(new Set([...groups.values()].map(({ length }) => length)), new Set([1, 2, 3]));
  });

  t.test('is in each of the six states, expired ones being stored as sent', async (t) => {
    const states = quotes.map(({ status, validUntil }) =>
      status === 'sent' && String(validUntil) < todayText ? 'expired' : status,
    );
    t.strictSame([...new Set(states)].sort(), [
      'accepted',
      'declined',
      'draft',
      'expired',
      'revised',
      'sent',
    ]);
    t.notOk(quotes.some(({ status }) => status === 'expired'));
  });

  t.test('was answered while it was valid', async (t) => {
    t.strictSame(
      breaking(quotes, ({ status, respondedAt, sentDate, validUntil }) => {
        const isAnswered = status === 'accepted' || status === 'declined';
        const inTime =
          String(sentDate) <= String(respondedAt) && String(respondedAt).slice(0, 10) <= String(validUntil);
        return isAnswered ? inTime : respondedAt === null;
      }),
      [],
    );
    t.strictSame(
      breaking(
        quotes,
        ({ status, sentDate, validUntil }) =>
          (status === 'draft') === (sentDate === null) && validUntil !== null,
      ),
      [],
    );
  });

  t.test('becomes a job, an invoice, both or neither once it is accepted', async (t) => {
    const converted = quotes.filter(
      (quote) => quote.convertedJobId !== null || quote.convertedInvoiceId !== null,
    );
    t.strictSame(
      breaking(converted, ({ status }) => status === 'accepted'),
      [],
    );
    const outcomes = quotes
      .filter(({ status }) => status === 'accepted')
      .map((quote) => `${quote.convertedJobId !== null} ${quote.convertedInvoiceId !== null}`);
    t.equal(new Set(outcomes).size, 4);
    for (const { convertedJobId, convertedInvoiceId, customer } of converted) {
      if (convertedJobId) t.equal(known(jobsById, convertedJobId).customerId, customer.id);
      if (convertedInvoiceId) t.equal(known(documentsById, convertedInvoiceId).customer.id, customer.id);
    }
  });

  t.test('links to itself', async (t) => {
    t.ok(quotes.every(({ id, links }) => quotesById.has(id) && links.self === `/api/v1/quotes/${id}`));
  });
});

t.test('documents name their customer as it is named, in its currency', async (t) => {
  for (const { customer, createdAt, currency } of documents.filter(({ kind }) => kind !== 'credit_note')) {
    const record = known(customersById, customer.id);
    t.strictSame([customer.name, currency], [record.name, record.currency]);
    t.ok(record.createdAt < createdAt);
  }
});

function standing({ totals: { grossMinor }, payments = [], refunds = [], creditNotes: notes }: Invoice) {
  return balance({
    grossMinor,
    creditedMinor: notes.reduce((sum, note) => sum + note.grossMinor, 0),
    paidMinor: payments.reduce((sum, payment) => sum + payment.amountMinor, 0),
    refundedMinor: refunds.reduce((sum, refund) => sum + refund.amountMinor, 0),
  });
}
