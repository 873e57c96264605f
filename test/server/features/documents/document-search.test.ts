// Long: it fills both engines with documents to search.
// It takes longer than others: it asks for 1,536 combinations of filters on each engine.
import type { Invoice } from '../../../../src/contract/records.ts';
import { renderRecord } from '../../../../src/contract/render.ts';
import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { exampleCompany } from '../../../../src/demo/example-company.ts';
import type { Engine, Reads } from '../../../../src/server/store/engines/engine.ts';
import { migrate } from '../../../../src/server/store/migrations/migrate.ts';
import { allDocuments, searchDocuments } from '../../../../src/server/features/documents/document-search.ts';
import { readReceivables } from '../../../../src/server/features/documents/receivables.ts';
import type {
  DocumentSearch,
  DocumentState,
  OpenAge,
} from '../../../../src/server/features/documents/searched-parts.ts';
import { searchColumns } from '../../../../src/server/store/search-columns.ts';
import { exampleRecords, putRecords } from '../../../_records.ts';
import { STORY_NOW } from '../../../_server.ts';
import { onEachStore } from '../../store/_stores.ts';

const COMPANY = 'brennan';
const TODAY = '2026-11-20';
const COPIES = 25;

const customers = [
  'Se\u00e1n Kelly',
  'Sea\u0301n O\u2019Brien',
  'Kelly & Sons',
  'ΜΑΡΙΑ Ltd',
  'שלום בע״מ',
  'Pizza 🍕',
  'Łódź Ærø Straße',
];
const examples = exampleRecords().flatMap(({ resource, record }) =>
  resource === 'invoices' ? [record] : [],
);

/** The example documents many times, with days, customers, references and settlements of their own. */
const documents: Invoice[] = Array.from({ length: COPIES * examples.length }, (_value, index) => {
  const example = examples[index % examples.length] as Invoice;
  const copy = Math.floor(index / examples.length);
  const name = customers[copy % customers.length] ?? '';
  const day = (text: string | null) =>
    text && new Date(Date.parse(text) - (copy % 7) * 86_400_000 * 99).toISOString().slice(0, 10);
  const { grossMinor } = example.totals;
  const payment = { id: `pay_${index}`, paidOn: TODAY, method: 'card', currency: example.currency };
  const settled = [
    {},
    { amountDueMinor: grossMinor, payments: [], creditBalanceMinor: 0 },
    { amountDueMinor: 0, payments: [{ ...payment, amountMinor: grossMinor + 5 }], creditBalanceMinor: 5 },
    { amountDueMinor: 0, payments: [], creditBalanceMinor: 0 },
  ][copy % 4];
  return {
    ...example,
    currency: { 4: 'JPY', 5: 'KWD' }[copy] ?? example.currency,
    id: `01b00000-0000-7000-8000-${String(index).padStart(12, '0')}`,
    number: example.number && `${example.number}${copy}`,
    customer: { ...example.customer, id: `cus_${copy % customers.length}`, name },
    issueDate: day(example.issueDate),
    dueDate: day(example.dueDate),
    purchaseOrderReference: copy % 2 === 0 ? null : `PO/${copy}-Kelly`,
    ...(example.amountDueMinor === undefined ? {} : settled),
  };
});

const paid = ({ payments = [], refunds = [] }: Invoice) =>
  [...payments, ...refunds.map(({ amountMinor }) => ({ amountMinor: -amountMinor }))].reduce(
    (sum, { amountMinor }) => sum + amountMinor,
    0,
  );
const isOpen = ({ amountDueMinor = 0 }: Invoice) => amountDueMinor > 0;
const isSettled = ({ amountDueMinor, creditBalanceMinor }: Invoice) =>
  amountDueMinor === 0 && creditBalanceMinor === 0;
const states: Record<Exclude<DocumentState, OpenAge>, (document: Invoice) => boolean> = {
  draft: ({ status }) => status === 'draft',
  open: isOpen,
  overdue: (document) => isOpen(document) && (document.dueDate ?? '') < TODAY,
  part_paid: (document) => isOpen(document) && paid(document) > 0,
  paid: (document) => isSettled(document) && paid(document) > 0,
  credited: (document) => isSettled(document) && paid(document) === 0,
  in_credit: ({ creditBalanceMinor = 0 }) => creditBalanceMinor > 0,
};

/** The texts that are looked for, each with what it has to find. */
const texts: Record<string, (document: Invoice) => boolean> = {
  '': () => true,
  'sean KELLY': ({ customer: { name }, purchaseOrderReference: reference }) =>
    name.startsWith('Se') && (name.includes('Kelly') || (reference?.includes('Kelly') ?? false)),
  'S\u00c9AN': ({ customer: { name } }) => name.startsWith('Se'),
  'kelly&sons inv': ({ customer: { name }, number }) =>
    name === customers[2] && (number?.startsWith('INV') ?? false),
  'po/1-k': ({ purchaseOrderReference }) => purchaseOrderReference === 'PO/1-Kelly',
  μαρια: ({ customer: { name } }) => name === customers[3],
  שלו: ({ customer: { name } }) => name === customers[4],
  '🍕': ({ customer: { name } }) => name === customers[5],
  'lodz aero strasse': ({ customer: { name } }) => name === customers[6],
  elly: () => false,
  'brien/po': () => false,
  '% _': () => false,
};

async function fill(engine: Engine): Promise<void> {
  for (const company of [COMPANY, 'neighbour']) {
    await createCompany(engine, company, { profile: exampleCompany.profile }, STORY_NOW);
    const theirs =
      company === COMPANY
        ? documents
        : documents.map((one) => ({ ...one, number: one.number && `X${one.number}` }));
    await putRecords(
      engine,
      company,
      theirs.map((record) => renderRecord({ resource: 'invoices', record })),
    );
  }
}

const byPlace = (a: Invoice, b: Invoice) => (placeOf(a) < placeOf(b) ? 1 : -1);
const placeOf = ({ issueDate, createdAt, id }: Invoice) => `${issueDate ?? createdAt.slice(0, 10)}${id}`;

/** All combinations of some values of each filter. */
function* searches(): Generator<{ search: DocumentSearch; expected: Invoice[] }> {
  const days = [
    {},
    { from: '2026-10-01' },
    { from: '2025-09-20', to: '2026-11-02' },
    { from: '2027-01-01', to: '2020-01-01' },
  ];
  const others: [(Invoice['kind'] | undefined)?, string?][] = [
    [],
    ['invoice'],
    ['credit_note', 'cus_0'],
    [undefined, 'cus_2'],
  ];
  const combined = Object.keys(texts).flatMap((text) =>
    [undefined, ...(Object.keys(states) as DocumentState[])].flatMap((state) =>
      days.flatMap((chosen) =>
        others.map(([kind, customer]) => ({ text, state, kind, customer, ...chosen })),
      ),
    ),
  );
  for (const filters of combined) {
    const { text, state, kind, customer, from, to } = filters as DocumentSearch;
    const isDay = (day: string | null) =>
      (from ?? to) === undefined || (day !== null && day >= (from ?? '') && day <= (to ?? '9'));
    const expected = documents.filter(
      (one) =>
        texts[text]?.(one) &&
        (state === undefined || states[state as keyof typeof states](one)) &&
        isDay(one.issueDate) &&
        (kind === undefined || one.kind === kind) &&
        (customer === undefined || one.customer.id === customer),
    );
    const search = { ...filters, findsCustomers: true, today: TODAY };
    yield { search, expected: expected.sort(byPlace) };
  }
}

const summed = (all: readonly Invoice[], amountOf: (document: Invoice) => number) =>
  all.reduce((sum, document) => sum + amountOf(document), 0);

const dues = (all: readonly Invoice[]) => summed(all, ({ amountDueMinor = 0 }) => amountDueMinor);
const idsOf = (all: readonly Invoice[]) => all.map(({ id }) => id).join();

onEachStore('the documents of a company', async (t, { engine }) => {
  await fill(engine);

  await t.test('are found by what each filter lets through, with their totals', async (t) => {
    let foundSome = 0;
    for (const { search, expected } of searches()) {
      const page = { after: undefined, limit: 7 };
      const { found, totals } = await searchDocuments(engine, COMPANY, search, page);
      const label = JSON.stringify(search);
      if (expected.length > 0) foundSome += 1;
      if (idsOf(found.map(({ document }) => document)) !== idsOf(expected.slice(0, 7))) t.fail(label);
      const groups = Map.groupBy(expected, ({ currency, status, kind }) => `${currency} ${status} ${kind}`);
      const sums = [...groups].toSorted().map(([, all]) => {
        const { currency, kind, status } = all[0] as Invoice;
        const grossMinor = summed(all, ({ totals }) => totals.grossMinor);
        return { currency, kind, status, count: all.length, grossMinor, dueMinor: dues(all) };
      });
      if (JSON.stringify(totals) !== JSON.stringify(sums)) t.strictSame(totals, sums, label);
    }
    t.ok(foundSome > 200, `${foundSome} searches find something`);
  });

  await t.test('are receivables that open invoices add up to', async (t) => {
    const days = ['2026-08-22', '2026-09-21', '2026-10-21', TODAY];
    const receivables = await readReceivables(engine, COMPANY, days);
    const open = Map.groupBy(
      documents.filter(isOpen),
      ({ currency, customer: { id } }) => `${currency} ${id}`,
    );
    t.equal(receivables.length, open.size);
    const ages = 'not_due overdue_1_30 overdue_31_60 overdue_61_90 overdue_over_90'.split(' ') as OpenAge[];
    for (const { currency, customer, count, dueMinor } of receivables) {
      const all = open.get(`${currency} ${customer}`) ?? [];
      const ageOf = ({ dueDate }: Invoice) => days.filter((day) => dueDate !== null && dueDate < day).length;
      const expected = [0, 1, 2, 3, 4].map((age) => dues(all.filter((one) => ageOf(one) === age)));
      t.strictSame({ count, dueMinor }, { count: all.length, dueMinor: expected });
      const found = ages.map(async (state) => {
        const search = { text: '', findsCustomers: false, state, customer, currency, today: TODAY };
        const { totals } = await searchDocuments(engine, COMPANY, search, { after: undefined, limit: 3 });
        return totals.reduce((sum, total) => sum + total.dueMinor, 0);
      });
      t.strictSame(await Promise.all(found), expected, 'each leads to its documents');
    }
  });

  await t.test('are found by the amount of a line of a bank statement', async (t) => {
    const amountsOf = (one: Invoice) => {
      const { totals, amountDueMinor = 0, creditBalanceMinor = 0 } = one;
      return [totals.grossMinor, paid(one), amountDueMinor, creditBalanceMinor];
    };
    const check = async (text: string, digits: Record<number, number>, words = '') => {
      const search = { text: `${words} ${text}`.trim(), findsCustomers: true, today: TODAY };
      const { found } = await searchDocuments(engine, COMPANY, search, { after: undefined, limit: 999 });
      const isAsked = ({ currency }: Invoice) => currency === 'EUR' || !/eur|€/.test(text);
      const minorOf = ({ currency }: Invoice) => digits[{ JPY: 0, KWD: 3 }[currency] ?? 2];
      const expected = documents.filter(
        (one) =>
          isAsked(one) && amountsOf(one).includes(minorOf(one) ?? -1) && one.customer.name.includes(words),
      );
      t.equal(idsOf(found.map(({ document }) => document)), idsOf(expected.sort(byPlace)), search.text);
      return expected.length;
    };
    for (const [index, { totals, payments }] of examples.entries()) {
      const minor = payments?.[0]?.amountMinor ?? totals.grossMinor;
      const text = (minor / 100).toFixed(2);
      // In yen there are no cents, and a dinar has a thousand fils.
      const digits = { 2: minor, 3: minor * 10 };
      const spelled = (minor / 100).toLocaleString('en', { minimumFractionDigits: 2 });
      const swapped = spelled.replaceAll(/[.,]/g, (mark) => (mark === ',' ? '.' : ','));
      const marked = [
        `€${spelled}`,
        `eur -${text}`,
        `${text} €`,
        `[${text}].`,
        `"${spelled.replace(',', ' ')}",`,
      ];
      for (const way of [text, text.replace('.', ','), spelled, swapped, ...marked])
        await check(way, digits, index % 2 === 0 ? '' : 'ΜΑΡΙΑ');
    }
    const { grossMinor } = documents[0]?.totals ?? { grossMinor: 0 };
    t.ok((await check(String(grossMinor), { 0: grossMinor, 2: grossMinor * 100, 3: grossMinor * 1000 })) > 0);
    for (const none of ['1,19.52', '1.1.1', '0.00', '9'.repeat(30), '€']) await check(none, {});
  });

  await t.test('get by an upgrade what earlier versions haven’t written', async (t) => {
    await engine.run("UPDATE invoices SET search_words = '', paid_minor = 0");
    await engine.run(
      "UPDATE record_contracts SET digest = 'earlier', contract_version = '1.0.0' WHERE resource = 'invoices'",
    );
    t.equal((await migrate(engine)).rendered, documents.length * 2);
    for (const record of documents.slice(0, 20)) {
      const [row] = await engine.run(
        `SELECT search_words, paid_minor FROM invoices WHERE company = '${COMPANY}' AND id = '${record.id}'`,
      );
      const expected = searchColumns(renderRecord({ resource: 'invoices', record }));
      t.strictSame({ ...row, paid_minor: Number(row?.paid_minor) }, expected);
    }
  });

  await t.test('come once in pages and downloads, in one order', async (t) => {
    const search: DocumentSearch = { text: 'kelly', findsCustomers: true, today: TODAY };
    const kellys = documents.filter(({ customer, purchaseOrderReference }) =>
      /Kelly/.test(`${customer.name} ${purchaseOrderReference}`),
    );
    const places: string[] = [];
    const count = (totals: { count: number }[]) => totals.reduce((sum, one) => sum + one.count, 0);
    for (let after: string | undefined; ; after = places.at(-1)) {
      const { found, totals } = await searchDocuments(engine, COMPANY, search, { after, limit: 9 });
      t.equal(count(totals), kellys.length, 'each page has the totals of all');
      places.push(...found.map(({ place }) => place));
      if (found.length < 9) break;
    }
    t.strictSame(places, kellys.map(placeOf).sort().reverse());
    const download = async (reads: Reads) => {
      const downloaded: string[] = [];
      for await (const found of allDocuments(reads, COMPANY, search))
        downloaded.push(...found.map(({ place }) => place));
      return downloaded;
    };
    t.strictSame(await download(engine), places);
    const own = { ...search, findsCustomers: false };
    const { totals } = await searchDocuments(engine, COMPANY, own, { after: undefined, limit: 0 });
    const isReferred = ({ purchaseOrderReference: reference }: Invoice) => reference?.endsWith('Kelly');
    t.equal(count(totals), documents.filter(isReferred).length, 'without the names of customers');
    await using moment = await engine.snapshot();
    await engine.run('DELETE FROM invoices');
    t.strictSame(await download(engine), []);
    t.strictSame(await download(moment), places, 'a snapshot has what was there');
  });

  await t.test('fit into the index with the longest texts', async (t) => {
    const texts = { number: '𝕏'.repeat(150), buyerReference: 'ﷺ'.repeat(300) };
    const record = { ...(documents[0] as Invoice), ...texts, purchaseOrderReference: '漢'.repeat(300) };
    await t.resolves(putRecords(engine, COMPANY, [renderRecord({ resource: 'invoices', record })]));
  });
});
