import { once } from 'node:events';
import { PassThrough } from 'node:stream';

import t from 'tap';

import { amountText } from '../../../../src/contract/currencies.ts';
import type { Invoice } from '../../../../src/contract/records.ts';
import { renderRecord } from '../../../../src/contract/render.ts';
import { createDownloadLimit, downloadIn, downloadLinks } from '../../../../src/server/views/download.ts';
import type { PageError } from '../../../../src/server/views/page-error.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { exampleRecords, putRecords } from '../../../_records.ts';
import { COMPANY, onSqlite, type Visitor } from '../../portal/_portal.ts';

const RECORDS = { hasRecords: true };
const PAID = '01a0a486-e8e0-7076-ace5-e31611d48e0a';

/** The numbers that the table of documents shows, in its order. */
function numbersIn(visitor: Visitor): string[] {
  return [...visitor.shown.matchAll(/<a href="\/portal\/documents\/[^"]*"\s*>([^<]*)<\/a/g)].map(
    ([, number = '']) => number.trim(),
  );
}

/** Follows the list from page to page, and gives the numbers of all of them. */
async function crawl(visitor: Visitor, path: string): Promise<string[]> {
  const numbers: string[] = [];
  await visitor.visit(path);
  do numbers.push(...numbersIn(visitor));
  while (await visitor.turnPage());
  return numbers;
}

/** Copies an issued document so many times, with ids and numbers of their own. */
async function copyDocuments(engine: Engine, company: string, count: number): Promise<void> {
  const original = exampleRecords().find(({ record }) => record.id === PAID)?.record as Invoice;
  const copies = Array.from({ length: count }, (_value, made) => ({
    ...original,
    id: `01b00000-0000-7000-8000-${String(made).padStart(12, '0')}`,
    number: `MANY-${String(made).padStart(4, '0')}`,
    issueDate: '2025-01-02',
  }));
  await putRecords(
    engine,
    company,
    copies.map((record) => renderRecord({ resource: 'invoices', record })),
  );
}

const address = (parameters: Record<string, string>) =>
  `/portal/documents?${new URLSearchParams(parameters).toString()}`;

// The results of a search are tested on both engines in test/server/features/documents/document-search.test.ts.
onSqlite('documents are found by words, kind, state, customer and days', RECORDS, async (t, portal) => {
  const visitor = await portal.signedIn();
  const search = async (parameters: Record<string, string>) => {
    await visitor.visit(address(parameters));
    return numbersIn(visitor);
  };
  const days = { from: '2026-10-19', to: '2026-10-21' };
  const found: [parameters: Record<string, string>, numbers: string[]][] = [
    [{ search: 'cn-2026' }, ['CN-2026-0002', 'CN-2026-0001']],
    [{ search: 'KELL niam' }, ['PF-2026-0001', 'INV-2026-0001']],
    [{ search: '\u202e0001 inv' }, ['INV-2026-0001']],
    [days, ['INV-2026-0003', 'CN-2026-0001']],
    [{ ...days, kind: 'invoice', search: 'harbour' }, ['INV-2026-0003']],
    [{ state: 'draft' }, ['Draft']],
    [{ state: 'part_paid', customer: 'cus_0003' }, ['INV-2026-0003']],
  ];
  for (const [parameters, numbers] of found)
    t.strictSame(await search(parameters), numbers, JSON.stringify(parameters));
  t.match(
    visitor.text,
    /1 document Totals Documents Count Total Left to pay Invoices in EUR 1 €1,196\.52 €596\.52/,
  );
  t.match(visitor.shown, /<option value="cus_0003" selected/);
  const signs = '% _ * \\ " 🍕 \ud800'.split(' ');
  for (const text of [...signs, "' OR 1=1 --", 'ß'.repeat(99), 'x y '.repeat(500)])
    t.strictSame(await search({ search: text }), [], text);
  t.match(visitor.text, /0 documents No documents found/);
});

onSqlite('what is overdue looks other than what is due', RECORDS, async (t, portal) => {
  portal.setNow(new Date('2026-11-21T00:00:01Z'));
  const visitor = await portal.signedIn();
  const states = {
    paid: /: Paid$/,
    credited: /: Credited$/,
    open: /^(?:plain: Due|bad: Overdue)/,
    overdue: /^bad: Overdue since/,
    draft: /: Draft$/,
  };
  for (const [state, shown] of Object.entries(states)) {
    await visitor.visit(`/portal/documents?state=${state}`);
    const badges = [...visitor.shown.matchAll(/<span class="badge (\w+)">([^<]*)<\/span>/g)];
    t.equal(badges.length, numbersIn(visitor).length, state);
    for (const [, look, text] of badges) t.match(`${look}: ${text}`, shown);
  }
});

onSqlite('many documents are shown page by page, each once', RECORDS, async (t, { engine, signedIn }) => {
  await copyDocuments(engine, COMPANY, 60);
  const visitor = await signedIn();
  const all = Array.from({ length: 60 }, (_value, index) => `MANY-${String(59 - index).padStart(4, '0')}`);
  t.strictSame(await crawl(visitor, '/portal/documents?search=many'), all, 'by number');
  t.match(visitor.text, /60 documents Totals Documents Count/, 'the last page has the totals of all');
  t.strictSame(await crawl(visitor, '/portal/documents?to=2025-12-31'), all, 'of one day');
  t.equal((await crawl(visitor, '/portal/documents')).length, 70);
  const ofCustomer = await crawl(visitor, '/portal/documents?customer=cus_0002');
  t.strictSame(ofCustomer, ['PF-2026-0001', 'INV-2026-0001', ...all], 'of a customer');
});

onSqlite('the documents of a search are downloaded', RECORDS, async (t, { engine, signedIn }) => {
  await copyDocuments(engine, COMPANY, 401);
  await engine.run(`UPDATE invoices SET body = replace(body, '"number":"MANY-0400"', '"number":"=1+1"')`);
  const visitor = await signedIn();
  const lines = async (query: string) => {
    const { headers, body } = await visitor.visit(`/portal/documents?format=csv&${query}`);
    t.match(headers, { 'content-type': 'text/csv; charset=utf-8', 'cache-control': 'no-store' });
    t.equal(headers['content-disposition'], 'attachment; filename="documents.csv"');
    return body.trimEnd().split('\r\n');
  };
  const [head = '', first = '', ...others] = await lines('search=many');
  t.match(
    head,
    /^"state","id","kind".*"totals.grossMinor","totals.gross".*"amountDueMinor","amountDue","overdue","daysOverdue"$/,
  );
  t.match(first, /^"paid","01b00000-0000-7000-8000-000000000400","invoice","issued","'=1\+1"/);
  t.equal(new Set(others).size, 400);
  t.strictSame(await lines('search=nothing-like-it'), [head], 'nothing has its columns');
  const { headers, body } = await visitor.visit('/portal/documents?format=xlsx&kind=credit_note');
  t.match(headers['content-type'], /spreadsheetml/);
  t.equal(body.slice(0, 2), 'PK');
  t.match((await visitor.visit('/portal/documents?format=pdf')).headers, { 'content-type': /html/ });
  t.equal(downloadIn(new URLSearchParams('format=csv'), 50_001), undefined);
  t.match(downloadLinks(50_001, () => '').toString(), /up to 50,000 documents/);
  const atOnce = await Promise.all(
    Array.from({ length: 12 }, () => visitor.copy().visit('/portal/documents?format=csv')),
  );
  const [refused] = atOnce.filter(({ statusCode }) => statusCode !== 200);
  t.match(refused, { statusCode: 429, headers: { 'retry-after': '5' } });
  t.match(refused?.body, /Your company has 2 downloads running\. Try again when one finishes\./);
  t.equal((await visitor.visit('/portal/documents?format=csv')).statusCode, 200, 'and then it can');
});

onSqlite('a download has states and ages for programs', RECORDS, async (t, portal) => {
  portal.setNow(new Date('2026-11-23T12:00:00Z'));
  const visitor = await portal.signedIn();
  const { body } = await visitor.visit('/portal/documents?format=csv&search=inv-2026-0003');
  t.match(body, /^"part_paid",.*"2026-11-20",.*,59652,596\.52,"?true"?,3\r\n/m);
  const states = async (query: string) => {
    const answer = await visitor.visit(`/portal/documents?format=csv&${query}`);
    const lines = answer.body.trimEnd().split('\r\n').slice(1);
    return [...new Set(lines.map((line) => line.slice(1, line.indexOf('"', 1))))];
  };
  for (const state of ['draft', 'paid', 'part_paid']) t.strictSame(await states(`state=${state}`), [state]);
  t.strictSame(await states('kind=credit_note'), ['issued']);
});

onSqlite('a document leads back to its page of the search', RECORDS, async (t, { engine, signedIn }) => {
  await copyDocuments(engine, COMPANY, 60);
  const visitor = await signedIn();
  await visitor.visit('/portal/documents?search=many&kind=invoice');
  await visitor.turnPage();
  const numbers = numbersIn(visitor);
  const hrefOf = (words: string) =>
    new RegExp(`href="([^"]*)"\\s*>\\s*${words}`).exec(visitor.shown)?.[1]?.replaceAll('&amp;', '&') ?? '';
  t.match(numbers, ['MANY-0034']);
  await visitor.visit(hrefOf('MANY-0034'));
  await visitor.visit(hrefOf('Back to the search'));
  t.strictSame(numbersIn(visitor), numbers);
  t.match(visitor.shown, /value="many"/);
  await visitor.visit(`/portal/documents/${PAID}`);
  t.equal(hrefOf('Back to the search'), '/portal/documents');
});

onSqlite('two customers of one name can be told apart', RECORDS, async (t, { engine, signedIn }) => {
  const nameOf = (id: string) =>
    exampleRecords().flatMap(({ record }) => ('name' in record && record.id === id ? [record.name] : []))[0];
  const name = nameOf('cus_0001');
  for (const table of ['customers', 'invoices'])
    await engine.run(`UPDATE ${table} SET body = replace(body, '${nameOf('cus_0003')}', '${name}')`);
  const visitor = await signedIn();
  for (const path of ['/portal/documents', '/portal/receivables']) {
    const text = await visitor.read(path);
    t.match(text, `${name} (cus_0003)`, path);
  }
  t.match(visitor.shown, /customer=cus_0003/);
});

onSqlite('receivables are aged by customer and currency', RECORDS, async (t, portal) => {
  portal.setNow(new Date('2027-01-05T00:30:00Z'));
  const visitor = await portal.signedIn();
  t.match(await visitor.read('/portal/receivables'), /EUR: €[\d,.]+ to be paid, €[\d,.]+ overdue/);
  const open = exampleRecords().flatMap(({ resource, record }) => {
    const invoice = record as Invoice;
    return resource === 'invoices' && (invoice.amountDueMinor ?? 0) > 0 ? [invoice] : [];
  });
  const columns = open.map(({ customer, currency, dueDate, amountDueMinor = 0 }) => {
    const age = Math.round((Date.parse('2027-01-05') - Date.parse(dueDate ?? '')) / 86_400_000);
    const column = Math.min(4, Math.max(0, Math.ceil(age / 30)));
    const amount = amountText(amountDueMinor, currency);
    const cells = Array.from({ length: 5 }, (_value, at) => (at === column ? amount : '—'));
    t.match(visitor.text, [customer.name, ...cells, amount].join(' '));
    return column;
  });
  t.ok(new Set(columns).size > 1);
  const { body } = await visitor.visit('/portal/receivables?format=csv');
  const lines = body.trimEnd().split('\r\n').slice(1);
  t.equal(lines.length, open.length);
  t.match(
    lines.find((text) => text.startsWith('"INV-2026-0003"')),
    /^"INV-2026-0003","cus_0003",".*","2026-10-21","2026-11-20","EUR",119652,1196\.52,60000,600\.00,0,0\.00,0,0\.00,0,0\.00,59652,596\.52,46,"01a15a0c/,
  );
  await portal.engine.run('DELETE FROM documents');
  await portal.engine.run('DELETE FROM invoices');
  t.match(await visitor.read('/portal/receivables'), /Nobody owes you anything/);
});

onSqlite('days that are none are told, and odd places lead nowhere', RECORDS, async (t, { signedIn }) => {
  const visitor = await signedIn();
  for (const day of ['2026-02-30', 'yesterday', '2026-1-1', '<script>']) {
    const { statusCode } = await visitor.visit(`/portal/documents?from=${encodeURIComponent(day)}`);
    t.equal(statusCode, 422, day);
    t.match(visitor.text, 'isn’t a date. Enter one such as 2026-11-20');
  }
  t.equal((await visitor.visit('/portal/documents?from=2026-11-20&to=2026-11-19')).statusCode, 422);
  t.match(visitor.text, 'The end must be after the start');
  const { statusCode } = await visitor.visit(
    '/portal/documents?from=1&to=2&kind=quote&state=toString&format=csv',
  );
  t.equal(statusCode, 422);
  t.equal(visitor.shown.match(/role="alert"/g)?.length, 4, 'all at once, each at its field');
  for (const query of ['at=x&after=y', 'after=%01', 'search=%F0%9F&after=z', `search=${'x'.repeat(500)}`])
    t.equal((await visitor.visit(`/portal/documents?${query}`)).statusCode, 200, query);
});

onSqlite('people who lack the access read why they see no document', RECORDS, async (t, portal) => {
  const { visitor: restricted } = await portal.join({ scopes: ['jobs:read', 'customers:read'] });
  const visitor = await portal.signedIn();
  const expectRefused = async (who: Visitor, reason: RegExp) => {
    const ofOne = ['', '/pdf', '/xml?format=ubl'].map((end) => `/${PAID}${end}`);
    for (const path of ['', '?search=INV', '?customer=cus_0002', '?format=csv', ...ofOne, '/nothing']) {
      const { statusCode } = await who.visit(`/portal/documents${path}`);
      t.equal(statusCode, path.startsWith('/') ? 403 : 200, path);
      t.match(who.text, reason);
      t.notMatch(who.text, /INV-2026|Niamh/);
    }
  };
  await expectRefused(restricted, /You don’t have the scope invoices:read/);
  const set = (change: string) => portal.engine.run(`UPDATE companies SET ${change} WHERE id = '${COMPANY}'`);
  await set('invoicing_enabled = 0');
  await expectRefused(visitor, /Invoicing is not switched on/);
  await set(`invoicing_enabled = 1, modules = '["jobs"]'`);
  await expectRefused(visitor, /Your plan does not include it/);
});

t.test('downloads at once are bounded, of a company and of all', async (t) => {
  const count = createDownloadLimit();
  const begin = (kind: 'table' | 'file', id: string, query = 'format=csv') => {
    const answer = new PassThrough();
    t.teardown(() => answer.destroy());
    try {
      count(kind, { company: { id }, query: new URLSearchParams(query) }, answer);
      return answer;
    } catch (error) {
      return [(error as PageError).status, (error as PageError).headers['Retry-After']];
    }
  };
  const [first] = [begin('table', 'one'), begin('table', 'one')];
  t.strictSame(begin('table', 'one'), [429, '5']);
  t.type(begin('file', 'one', ''), PassThrough, 'a file is something else');
  t.type(begin('table', 'one', ''), PassThrough, 'and a page is no download');
  if (first instanceof PassThrough) await once(first.destroy(), 'close');
  t.type(begin('table', 'one'), PassThrough, 'another has ended');
  t.strictSame(begin('table', 'one'), [429, '5'], 'and one only');
  for (const company of ['two', 'two']) begin('table', company);
  t.strictSame(begin('table', 'three'), [503, '5']);
});
