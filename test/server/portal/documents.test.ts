import { createCompany } from '../../../src/server/access/companies.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { keyFor, STORY_NOW } from '../../_server.ts';
import { addAdministrator, COMPANY, onEachEngine, onSqlite, type Visitor } from './_portal.ts';

const RECORDS = { hasRecords: true };
const PAID = '01a0a486-e8e0-7076-ace5-e31611d48e0a';
const PART_PAID = '01a15a0c-54c0-737e-abf7-cfe66f9292f6';
const DRAFT = '01a1ef7b-a420-7b42-8594-7b990f1a8c5f';
const RESTRICTED = { email: 'sean@brennan.example', password: 'seven gravel lanterns hum' };

/** The numbers that the table of documents shows, in its order. */
function numbersIn(visitor: Visitor): string[] {
  return [...visitor.shown.matchAll(/<a href="\/portal\/documents\/[^"]*"\s*>([^<]*)<\/a/g)].map(
    ([, number = '']) => number.trim(),
  );
}

/** Follows the list from page to page, and gives the numbers of all of them. */
async function crawl(visitor: Visitor, path: string): Promise<string[]> {
  const numbers: string[] = [];
  for (let next: string | undefined = path, pages = 0; next !== undefined && pages < 10; pages += 1) {
    await visitor.visit(next.replaceAll('&amp;', '&'));
    numbers.push(...numbersIn(visitor));
    next = /href="([^"]*)"\s+rel="next"/.exec(visitor.shown)?.[1];
  }
  return numbers;
}

/** Copies an issued document so many times, with ids and numbers of their own. */
async function copyDocuments(engine: Engine, company: string, count: number): Promise<void> {
  const [original] = await engine.run(`SELECT body, detail FROM invoices WHERE id = '${PAID}'`);
  const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  for (let made = 0; made < count; made += 1) {
    const id = `01b00000-0000-7000-8000-${String(made).padStart(12, '0')}`;
    const number = `MANY-${String(made).padStart(4, '0')}`;
    const body = textOf(original?.body)
      .replace(PAID, id)
      .replace('INV-2026-0001', number)
      .replace('"issueDate":"2026-09-15"', '"issueDate":"2025-01-02"');
    const text = (value: string) => `'${value.replaceAll("'", "''")}'`;
    await engine.run(
      `INSERT INTO invoices (company, body, detail) VALUES (${text(company)}, ${text(body)}, ${text(textOf(original?.detail))})`,
    );
  }
}

onEachEngine('a document is found by number, by customer and by days', RECORDS, async (t, { signedIn }) => {
  const visitor = await signedIn();
  const search = async (query: string) => {
    await visitor.visit(`/portal/documents?${query}`);
    return numbersIn(visitor);
  };
  t.strictSame((await search('')).slice(0, 3), ['CN-2026-0002', 'PF-2026-0001', 'INV-2026-0006']);
  t.equal(numbersIn(visitor).length, 9, 'a draft is not issued');
  t.strictSame(await search('search=cn-2026'), ['CN-2026-0002', 'CN-2026-0001'], 'capitals don’t matter');
  t.strictSame(await search('search=INV-2026-0004'), ['INV-2026-0004']);
  t.match(visitor.text, /€5,743\.65 €5,743\.65 due|£5,743\.65 £5,743\.65 due/);
  t.strictSame(await search('search=2026'), [], 'only the beginning is searched');
  for (const wildcard of ['%25', '_', '*', "' OR 1=1 --"])
    t.strictSame(await search(`search=${wildcard}`), [], wildcard);
  t.strictSame(await search('from=2026-10-19&to=2026-10-21'), ['INV-2026-0003', 'CN-2026-0001']);
  t.strictSame(await search('to=2026-09-15'), ['INV-2026-0001']);
  t.strictSame(await search('from=2026-12-01'), []);
  t.match(visitor.text, /No documents found/);
  t.strictSame(await search('show=drafts'), ['Draft']);
  await search('search=harb');
  t.match(visitor.text, /Documents of Harbour Lights Hotel/);
  const [, link = ''] = /href="([^"]*\?customer=[^"]*)"/.exec(visitor.shown) ?? [];
  await visitor.visit(link);
  t.match(visitor.text, /Documents of Harbour Lights Hotel/);
  t.strictSame(numbersIn(visitor), [
    'CN-2026-0002',
    'INV-2026-0006',
    'INV-2026-0003',
    'CN-2026-0001',
    'INV-2026-0002',
  ]);
  await search(`search=${encodeURIComponent('THE OLD MILL CAFÉ')}`);
  t.match(visitor.text, /Documents of The Old Mill Café/, 'with letters of other alphabets too');
});

onEachEngine('many documents are shown page by page, each once', RECORDS, async (t, { engine, signedIn }) => {
  await copyDocuments(engine, COMPANY, 60);
  const visitor = await signedIn();
  const all = Array.from({ length: 60 }, (_value, index) => `MANY-${String(59 - index).padStart(4, '0')}`);
  t.strictSame(await crawl(visitor, '/portal/documents?search=many-'), all, 'by number');
  t.strictSame(await crawl(visitor, '/portal/documents?to=2025-12-31'), all, 'of one day');
  t.equal((await crawl(visitor, '/portal/documents')).length, 69);
  const ofCustomer = await crawl(visitor, '/portal/documents?customer=cus_0002');
  t.strictSame(ofCustomer, [...all, 'PF-2026-0001', 'INV-2026-0001'], 'of a customer');
});

onEachEngine('a document’s PDF is the one that the API serves', RECORDS, async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit(`/portal/documents/${PART_PAID}`);
  t.match(visitor.text, /Invoice INV-2026-0003/);
  t.match(visitor.text, /Left to pay €596\.52/);
  t.match(visitor.text, /Payments and credits Day Entry Method Amount .* Payment/);
  const key = await keyFor(portal.engine, COMPANY);
  for (const id of [PART_PAID, DRAFT]) {
    const fromApi = await portal.http(`api/v1/invoices/${id}/pdf`, {
      headers: { authorization: `Bearer ${key}` },
      responseType: 'buffer',
    });
    const cookie = [...visitor.cookies].map(([cookieName, value]) => `${cookieName}=${value}`).join('; ');
    const fromPortal = await portal.http(`portal/documents/${id}/pdf`, {
      headers: { cookie },
      responseType: 'buffer',
    });
    t.equal(fromApi.statusCode, 200);
    t.equal(fromPortal.statusCode, 200);
    t.equal(fromPortal.headers['content-type'], 'application/pdf');
    t.equal(fromPortal.headers['content-disposition'], fromApi.headers['content-disposition']);
    t.equal(fromPortal.headers['cache-control'], 'no-store');
    t.ok(Buffer.from(fromPortal.body).equals(fromApi.body), 'byte for byte');
  }
});

onEachEngine('another company’s document answers as if there were none', RECORDS, async (t, portal) => {
  await createCompany(portal.engine, 'neighbour', {}, STORY_NOW);
  const theirs = { email: 'noel@neighbour.example', password: 'eleven quiet harbours wait' };
  await addAdministrator(portal.engine, { ...theirs, company: 'neighbour' });
  const visitor = await portal.signedIn(theirs);
  const answers = [];
  for (const id of [PAID, '00000000-0000-7000-8000-000000000000', 'nothing', "'", '%01'])
    for (const path of [`/portal/documents/${id}`, `/portal/documents/${id}/pdf`]) {
      const { statusCode, body } = await visitor.visit(path);
      answers.push({ statusCode, body: body.replace(/<code>[^<]*<\/code>/g, '') });
    }
  t.equal(answers[0]?.statusCode, 404);
  t.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1);
  for (const query of ['', 'search=INV', 'search=Niamh', 'customer=cus_0002', 'to=2030-01-01']) {
    await visitor.visit(`/portal/documents?${query}`);
    t.match(visitor.text, /No documents found/);
    t.notMatch(visitor.text, /Niamh Kelly|INV-2026/);
  }
});

onEachEngine('days that are none are told, and odd places lead nowhere', RECORDS, async (t, { signedIn }) => {
  const visitor = await signedIn();
  for (const day of ['2026-02-30', 'yesterday', '2026-1-1', '<script>']) {
    const { statusCode } = await visitor.visit(`/portal/documents?from=${encodeURIComponent(day)}`);
    t.equal(statusCode, 422, day);
    t.match(visitor.text, 'is not a day such as 2026-11-20');
  }
  for (const query of ['at=x&after=y', 'after=%01', 'search=%F0%9F&after=z', `search=${'x'.repeat(500)}`])
    t.equal((await visitor.visit(`/portal/documents?${query}`)).statusCode, 200, query);
});

onSqlite('people who lack the access read why they see no document', RECORDS, async (t, portal) => {
  await addAdministrator(portal.engine, { ...RESTRICTED, scopes: ['jobs:read', 'customers:read'] });
  const restricted = await portal.signedIn(RESTRICTED);
  const visitor = await portal.signedIn();
  const expectRefused = async (who: Visitor, reason: RegExp) => {
    for (const path of ['', '?search=INV', '?customer=cus_0002', `/${PAID}`, `/${PAID}/pdf`, '/nothing']) {
      const { statusCode } = await who.visit(`/portal/documents${path}`);
      t.equal(statusCode, path.startsWith('/') ? 403 : 200, path);
      t.match(who.text, reason);
      t.notMatch(who.text, /INV-2026|Niamh/);
    }
  };
  await expectRefused(restricted, /You don’t have the access invoices:read yourself/);
  const set = (change: string) => portal.engine.run(`UPDATE companies SET ${change} WHERE id = '${COMPANY}'`);
  await set('invoicing_enabled = 0');
  await expectRefused(visitor, /Invoicing is not switched on/);
  await set(`invoicing_enabled = 1, modules = '["jobs"]'`);
  await expectRefused(visitor, /Your plan does not include it/);
});
