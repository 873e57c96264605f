import {
  findPrintable,
  keepPdf,
  locateDocument,
  readPdf,
} from '../../../../src/server/store/records/documents.ts';
import { findSupplier } from '../../../../src/server/store/records/suppliers.ts';
import { invoiceDraft, issued, openIssuer } from '../../backoffice/_documents.ts';
import { onEachEngine } from '../../backoffice/_backoffice.ts';
import { irishProfile } from '../../backoffice/_parties.ts';

const LOGO = 'data:image/png;base64,iVBORw0KGgo=';
const ABSENT = '01a00000-0000-7000-8000-000000000000';

const pdf = (...bytes: number[]) => ({
  bytes: Buffer.from(bytes),
  byte_count: bytes.length,
  sha256: Buffer.from(bytes).toString('hex').padEnd(64, '0'),
});

onEachEngine('the store of documents', async (t, backoffice) => {
  const { engine } = backoffice;
  const { db } = engine;
  const company = await openIssuer(backoffice, { company: { profile: { ...irishProfile, logo: LOGO } } });
  const other = await backoffice.openCompany();
  const invoice = await issued(company, invoiceDraft());
  const draft = await company.apply(invoiceDraft());

  await t.test('locates what the company has, and nothing of another company', async (t) => {
    for (const { id, status } of [invoice, draft]) {
      const located = { company: company.id, id, status, head: undefined };
      t.strictSame(await locateDocument(db, company.id, id), located);
    }
    t.equal(await locateDocument(db, other.id, invoice.id), undefined);
    t.equal(await locateDocument(db, company.id, ABSENT), undefined);
  });

  await t.test('finds what a document is printed from', async (t) => {
    const found = await findPrintable(db, company.id, invoice.id);
    t.strictSame(found?.record, invoice);
    t.strictSame(found?.reverseChargeRates, {});
    const kept = found?.supplier ?? null;
    const electronicAddress = { scheme: '9935', id: irishProfile.vatId };
    const supplier = { ...irishProfile, electronicAddress };
    t.strictSame({ ...kept, logoSha256: null }, { ...supplier, logoSha256: null });
    const shown = { supplier, logo: LOGO, accent: undefined };
    t.strictSame(await findSupplier(db, company.id, kept), shown);
    await t.rejects(findSupplier(db, other.id, kept), /isn't stored/);
    t.equal((await findPrintable(db, company.id, draft.id))?.supplier, null);
    t.equal(await findPrintable(db, other.id, invoice.id), undefined);
    const present = { supplier: irishProfile, logo: LOGO };
    t.strictSame(await findSupplier(db, company.id, null), present);
    const absent = { supplier: {}, logo: undefined };
    t.strictSame(await findSupplier(db, 'nobody', null), absent);
  });

  await t.test('keeps the first PDF of those that come at once, byte for byte', async (t) => {
    t.equal(await readPdf(db, company.id, invoice.id), undefined);
    const key = { company: company.id, invoice: invoice.id, number: 'INV-2026-0001' };
    const [first, second] = [pdf(0, 255, 37), pdf(1)];
    const isOwn = await Promise.all([first, second].map((one) => keepPdf(engine, { ...key, ...one })));
    t.strictSame([...isOwn].sort(), [false, true], 'one of them is told that it is the one');
    t.equal(await keepPdf(engine, { ...key, ...second, number: 'another' }), false);
    const located = await locateDocument(db, company.id, invoice.id);
    const kept = [first, second].find((_pdf, index) => isOwn[index]);
    t.strictSame(located, {
      company: company.id,
      id: invoice.id,
      status: 'issued',
      head: { number: 'INV-2026-0001', sha256: kept?.sha256, byteCount: kept?.byte_count },
    });
    t.strictSame(await readPdf(db, company.id, invoice.id), kept?.bytes);
    t.equal(await readPdf(db, other.id, invoice.id), undefined);
  });

  await t.test('keeps nothing of a document that there is not', async (t) => {
    const key = { company: company.id, invoice: ABSENT, number: 'INV-2026-0002' };
    await t.rejects(keepPdf(engine, { ...key, ...pdf(1) }), /foreign key/i);
  });
});
