import t from 'tap';

import { checkDocument } from '../../../src/server/backoffice/legal-checklist.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { recordProblem } from '../../../src/contract/validators.ts';
import type { PrintedDocument } from '../../../src/server/invoice-pdf/printed-document.ts';
import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import { exampleDocuments } from './_documents.ts';
import { textOf } from './_reading.ts';

const renderer = createRenderer();
const examples = await exampleDocuments();
const printed = await Promise.all(
  examples.map(async ({ name, document }) => ({
    name,
    document,
    text: squeezed(await textOf(await renderer.render(document))),
  })),
);

/**
 * Without space, since a line may end between any two words, and within a very long one; and without what has no form, such
 * as the sign against joining, which pdf.js leaves out. A code point that is no character at all is shown as a replacement.
 */
function squeezed(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[\s\u00a0\u00ad\u200b\u200c\p{Cc}]/gu, '')
    .replace(/[\ufffe\uffff\p{Cn}]/gu, '\ufffd')
    .replaceAll('\u2212', '-');
}

/** A thing that the law asks for, and how it reads on this document. */
type Item = readonly [item: string, texts: readonly (string | null | undefined)[]];

function amount(amountMinor: number, currency: string, display: 'symbol' | 'none' = 'none'): string {
  const format = new Intl.NumberFormat('en-IE', { style: 'currency', currency });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 0;
  const text = String(Math.abs(amountMinor)).padStart(digits + 1, '0');
  const decimal = digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  const sign = amountMinor < 0 ? '-' : '';
  const symbols = new Intl.NumberFormat('en-GB', { style: 'currency', currency });
  const whole = symbols.format(decimal as Intl.StringNumericLiteral);
  return sign + (display === 'symbol' ? whole : whole.replace(/^[^\d]+/, ''));
}

function date(day: string | null): string | undefined {
  if (day === null) return undefined;
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(day));
}

const percent = (basisPoints: number) => `${basisPoints / 100}%`;
const country = (code: string) => new Intl.DisplayNames('en-GB', { type: 'region' }).of(code);
const isDomestic = ({ record, supplier }: PrintedDocument) =>
  record.buyer.countryCode === supplier.countryCode;
const isIrishConstruction = (document: PrintedDocument) =>
  document.supplier.countryCode === 'IE' && isDomestic(document) && hasCategory(document.record, 'AE');
const hasCategory = ({ lines }: Invoice, category: string) =>
  lines.some((line) => line.vatCategory === category);

/** Under a margin scheme the VAT is within the price, and not shown. */
const isMarginOnly = ({ lines }: Invoice) =>
  lines.every(({ vatExemptionReason }) => /^margin scheme/i.test(vatExemptionReason ?? ''));

const titles = { invoice: 'Invoice', credit_note: 'Credit note', pro_forma: 'Pro forma invoice' };
/** The words for a line of each category that charges no VAT. */
const categories: Record<string, string> = {
  Z: 'Zero-rated 0%',
  E: 'Exempt',
  AE: 'Reverse charge',
  K: 'Intra-Community 0%',
  G: 'Export 0%',
};

function isInAdvance({ kind, issueDate, supplyPeriod }: PrintedDocument['record']): boolean {
  return kind === 'invoice' && issueDate !== null && issueDate < (supplyPeriod?.endDate ?? '');
}

/** Everything that the check-lists of both countries ask of this document (research 2.2 and 2.3). */
function itemsOf(document: PrintedDocument): Item[] {
  const { record } = document;
  return [
    ['what it is', [titles[record.kind]]],
    ['its number (reg. 20(2)(b), 14(1)(a))', [record.number]],
    ['its date of issue (20(2)(a), 14(1)(c))', [labelled('Date of issue', date(record.issueDate))]],
    [
      'the date of the supply (20(2)(h), 14(1)(b))',
      [record.supplyPeriod ? undefined : labelled('Date of supply', date(record.supplyDate))],
    ],
    ['the period of the supply', [date(record.supplyPeriod?.endDate ?? null)]],
    [
      'the tax point of what is still to come (14(1)(b))',
      [isInAdvance(record) ? labelled('Tax point', date(record.issueDate)) : undefined],
    ],
    ['the due date', [record.totals.grossMinor > 0 ? labelled('Due date', date(record.dueDate)) : undefined]],
    ['references', [record.buyerReference, record.purchaseOrderReference]],
    ...partiesOf(document),
    ...linesOf(document),
    ...vatOf(document),
    ...sumsOf(document),
    [
      'the credited invoice (15C(3)(e))',
      [record.creditedInvoice?.number, date(record.creditedInvoice?.issueDate ?? null)],
    ],
    ['the reason, or a note', [record.note?.slice(0, 150)]],
    ['the mark of a draft', [record.status === 'draft' ? 'DRAFT – not a VAT invoice' : undefined]],
    [
      'that a pro forma is none',
      [record.kind === 'pro_forma' ? 'PRO FORMA – this is not a VAT invoice' : undefined],
    ],
  ];
}

const asksForPayment = ({ kind, totals }: Invoice) => kind !== 'credit_note' && totals.grossMinor > 0;

const labelled = (label: string, value: string | undefined) =>
  value === undefined ? undefined : `${label} ${value}`;

function partiesOf({ record, supplier }: PrintedDocument): Item[] {
  const { buyer } = record;
  const foreign = buyer.countryCode === supplier.countryCode ? undefined : country(buyer.countryCode);
  const account = asksForPayment(record) ? supplier.iban?.toUpperCase() : undefined;
  return [
    [
      'the supplier (20(2)(c), 14(1)(d); registered name)',
      [supplier.legalName, supplier.tradingName, ...(supplier.addressLines ?? []), supplier.postcode],
    ],
    ["the supplier's VAT number", [labelled('VAT no.', supplier.vatId)]],
    ["the company's number", [labelled('Company no.', supplier.companyNumber)]],
    [
      'how to reach and to pay the supplier',
      [supplier.phone, supplier.email, account, account && supplier.bic],
    ],
    [
      'the customer (20(2)(d), 14(1)(e))',
      [buyer.legalName ?? buyer.name, buyer.name, ...buyer.addressLines, foreign],
    ],
    ["the customer's VAT number (20(2)(e))", [labelled('VAT no.', buyer.vatId ?? undefined)]],
    ['the site', [buyer.site?.label, ...(buyer.site?.addressLines ?? []), buyer.site?.postcode]],
  ];
}

/** Each line as it reads from left to right: description, quantity, unit, price, VAT, amount (20(2)(g) to (j), 14(1)(g), (h), (m)). */
function linesOf(document: PrintedDocument): Item[] {
  const { record, amounts } = document;
  return record.lines.map((line) => {
    const details = amounts?.lines[line.id];
    // A price that the record has rounded is shown as it was given.
    const price = details ? [] : [amount(line.unitPriceMinor, record.currency)];
    const shown = amount(details?.grossMinor ?? line.amountMinor, record.currency);
    return [
      `line ${line.position}`,
      [line.description.slice(0, 150), [...price, vatOfLine(document, line), shown].join(' ')],
    ];
  });
}

function vatOfLine(document: PrintedDocument, line: Invoice['lines'][number]): string {
  const { vatCategory, vatExemptionReason, vatRateBasisPoints } = line;
  if (document.record.lines.every((other) => other.vatCategory === 'O')) return '';
  if (vatExemptionReason?.toLowerCase().startsWith('margin scheme') === true) return 'Margin scheme';
  const words = categories[vatCategory] ?? percent(vatRateBasisPoints);
  const rate = document.reverseChargeRates[line.id];
  return rate === undefined || isIrishConstruction(document) ? words : `${words} ${percent(rate)}`;
}

/** Net and VAT of each rate, in the currencies that have to be stated, and the words for what isn't taxed. */
function vatOf(document: PrintedDocument): Item[] {
  const { record, reverseChargeRates } = document;
  const { accountingCurrency: national, currency } = record;
  if (isMarginOnly(record) || record.lines.every(({ vatCategory }) => vatCategory === 'O')) {
    return [['why there is no VAT', record.lines.map(({ vatExemptionReason }) => vatExemptionReason)]];
  }
  const rows = (breakdown: Invoice['vatBreakdown'], code: string) =>
    breakdown
      .filter(({ category }) => category !== 'AE' || !isIrishConstruction(document))
      .map(({ taxableMinor, vatMinor }) => `${amount(taxableMinor, code)} ${amount(vatMinor, code)}`);
  const isBritish = document.supplier.countryCode === 'GB' && isDomestic(document);
  const notional = isBritish ? record.lines.filter(({ vatCategory }) => vatCategory === 'AE') : [];
  return [
    ['the VAT at each rate', rows(record.vatBreakdown, currency)],
    [
      'net and VAT at each rate in the national currency (s.37(4), 14(1)(l))',
      national ? rows(national.vatBreakdown, national.currency) : [],
    ],
    [
      'the totals in the national currency',
      [
        national &&
          `Total ${amount(national.totals.netMinor, national.currency)} ${amount(national.totals.vatMinor, national.currency)}`,
      ],
    ],
    [
      'the rate of exchange, its source and its date',
      [
        national &&
          `1 ${currency} = ${national.exchangeRate} ${national.currency} (${national.exchangeRateSource}, ${date(national.exchangeRateDate) ?? ''})`,
      ],
    ],
    [
      'why there is no VAT (20(2)(e), 14(1)(n) to (p))',
      record.lines.map(({ vatExemptionReason }) => vatExemptionReason),
    ],
    [
      'the rate of the British reverse charge',
      notional.map(({ id }) => percent(reverseChargeRates[id] ?? 0)),
    ],
  ];
}

function sumsOf(document: PrintedDocument): Item[] {
  const { record } = document;
  const { currency, totals } = record;
  const isWithoutVat = isMarginOnly(record) || record.lines.every(({ vatCategory }) => vatCategory === 'O');
  const isSilent =
    isIrishConstruction(document) && record.lines.every(({ vatCategory }) => vatCategory === 'AE');
  const sum = (label: string, amountMinor: number) => `${label} ${amount(amountMinor, currency, 'symbol')}`;
  const hasVat = totals.vatMinor !== 0;
  const credit = hasVat ? 'Credit including VAT' : 'Total credit';
  const total = hasVat ? 'Total including VAT' : 'Total';
  const asked = record.status === 'draft' ? total : 'Amount due';
  return [
    [
      'the total without VAT (14(1)(i))',
      [isWithoutVat ? undefined : sum('Total excluding VAT', totals.netMinor)],
    ],
    ['the total VAT', [isWithoutVat || isSilent ? undefined : sum('Total VAT', totals.vatMinor)]],
    [
      'what it comes to',
      [sum(record.kind === 'credit_note' ? credit : asked, record.amountDueMinor ?? totals.grossMinor)],
    ],
  ];
}

t.test('every document shows each item of the legal check-lists that applies to it', async (t) => {
  for (const { name, document, text } of printed) {
    const missing = itemsOf(document).flatMap(([item, texts]) =>
      texts
        .filter((expected) => typeof expected === 'string' && !text.includes(squeezed(expected)))
        .map((expected) => `${item}: ${String(expected)}`),
    );
    t.strictSame(missing, [], name);
  }
});

/** The texts that must not be read on a document, and why. */
function forbiddenOn({ record, supplier, ...document }: PrintedDocument): [item: string, pattern: RegExp][] {
  const isSilent =
    isIrishConstruction({ record, supplier, ...document }) &&
    record.lines.every(({ vatCategory }) => vatCategory === 'AE');
  const isWithoutVat = isMarginOnly(record) || record.lines.every(({ vatCategory }) => vatCategory === 'O');
  return [
    record.status === 'draft'
      ? ['a draft asks for no money', /Pleasepay|Amountdue/]
      : ['it is no draft', /DRAFT/],
    ...(record.kind === 'pro_forma' ? [] : [['it is no pro forma', /PRO ?FORMA/i] as [string, RegExp]]),
    ...(isSilent
      ? [
          ['no rate and no amount beside the Irish words (Tax Briefing 69)', /\d%|TotalVAT|VAT\(|Rate/] as [
            string,
            RegExp,
          ],
        ]
      : []),
    ...(isWithoutVat
      ? [['no columns of VAT', /TotalVAT|VATsummary|\d%|excludingVAT/] as [string, RegExp]]
      : []),
    ...(supplier.vatId === undefined && record.buyer.vatId === null
      ? [['no VAT number of one who has none', /VATno/] as [string, RegExp]]
      : []),
    ...(record.kind === 'credit_note'
      ? [
          [
            'a credit note asks for no money and no VAT',
            /Pleasepay|Amountdue|Duedate|topaytheVAT|forthecustomertopay/i,
          ] as [string, RegExp],
        ]
      : []),
    ['nothing is unknown', /undefined|null|NaN|\[object/],
  ];
}

t.test('no document shows what it must not', async (t) => {
  for (const { name, document, text } of printed) {
    const found = forbiddenOn(document)
      .filter(([, pattern]) => pattern.test(text))
      .map(([item]) => item);
    t.strictSame(found, [], name);
  }
});

t.test('the amount of a British reverse charge is stated, and is not in the totals', async (t) => {
  const charged = printed.filter(
    ({ document }) =>
      document.supplier.countryCode === 'GB' && isDomestic(document) && hasCategory(document.record, 'AE'),
  );
  for (const { name, document, text } of charged) {
    const { record, reverseChargeRates } = document;
    const rates = new Set(
      record.lines.map(({ id }) => reverseChargeRates[id] ?? 0).filter((rate) => rate > 0),
    );
    for (const rate of rates) {
      const net = record.lines
        .filter(({ id }) => reverseChargeRates[id] === rate)
        .reduce((sum, { amountMinor }) => sum + amountMinor, 0);
      const vatMinor = Math.round((net * rate) / 10_000);
      t.match(text, amount(vatMinor, record.currency, 'symbol'), name);
      const { exchangeRate, currency } = record.accountingCurrency ?? {};
      if (currency === undefined) continue;
      const ownMinor = Math.round(vatMinor * Number(exchangeRate));
      t.match(text, amount(ownMinor, currency, 'symbol'), `${name}: in sterling too (14(1)(l))`);
    }
  }
});

t.test('a credit note under the British reverse charge states the adjustment of the tax', async (t) => {
  const textIn = (sale: string) =>
    printed.find(({ name }) => name === `issued credit_note, British, domestic reverse charge ${sale}`)?.text;
  t.match(
    textIn('at one rate'),
    squeezed('Reverse charge: Customer to account for the output tax adjustment of £2,500.00 to HMRC'),
  );
  t.match(
    textIn('in words of its own, in euro'),
    squeezed(
      'Customer to account for the output tax adjustment of €625.00 = £533.19 (5% of €12,500.00) to HMRC.',
    ),
  );
  t.match(
    textIn('at two rates beside taxed and exempt'),
    squeezed(
      'Customer to account to HMRC for the adjustment to reverse charge output tax on the VAT exclusive price of items marked reverse charge.',
    ),
    'where only some lines are marked',
  );
});

t.test('later payments, refunds and credit notes do not change an issued document', async (t) => {
  const issued = examples.find(
    ({ document: { record } }) => record.kind === 'invoice' && record.status === 'issued',
  );
  if (!issued) throw new Error('there is no issued invoice');
  const { document } = issued;
  const paid: PrintedDocument = {
    ...document,
    record: {
      ...document.record,
      updatedAt: '2026-12-24T10:00:00.000Z',
      amountDueMinor: 0,
      creditBalanceMinor: 5,
    },
  };
  t.ok((await renderer.render(document)).equals(await renderer.render(paid)));
});

/** Where a value has texts: their paths of names. */
function pathsIn(value: unknown): string[][] {
  if (typeof value === 'string') return [[]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => pathsIn(member).map((path) => [name, ...path]));
}

/** Puts a letter that no typeface has at the end of a text. */
function spoil(value: unknown, [name = '', ...rest]: readonly string[]): void {
  const members = value as Record<string, unknown>;
  if (rest.length > 0) spoil(members[name], rest);
  else members[name] = `${String(members[name])}த`;
}

const isSaidToLack = ({ record, supplier, reverseChargeRates }: PrintedDocument) =>
  checkDocument({ document: record, supplier, reverseChargeRates }).some(({ problem }) =>
    problem?.includes('த'),
  );

t.test('every text in which a letter is printed as a replacement mark is on the check-list', async (t) => {
  const chosen = [
    examples.find(({ name }) => name === 'issued invoice, Irish, taxed in dollars'),
    examples.find(({ name }) => name === 'issued credit_note, Irish, exempt'),
    examples.find(({ document: { record } }) => record.status === 'issued' && record.buyer.site !== null),
  ].filter((example) => example !== undefined);
  t.equal(chosen.length, 3);
  const marked = new Set<string>();
  for (const { document } of chosen) {
    for (const path of pathsIn({ record: document.record, supplier: document.supplier })) {
      const spoilt = structuredClone(document);
      spoil(spoilt, path);
      const where = path.join('.').replace(/\.\d+/g, '');
      // A record that the contract refuses is never stored; a number and a supplier's country can't be anything.
      if (where === 'supplier.countryCode' || where.endsWith('.number')) continue;
      if (recordProblem('Invoice', spoilt.record) !== undefined) continue;
      const isMarked = (await textOf(await renderer.render(spoilt))).includes('\ufffd');
      if (isMarked) marked.add(where);
      if (isMarked && !isSaidToLack(spoilt)) t.fail(where);
    }
  }
  t.ok(marked.size >= 15, [...marked].join());
});
