import { createHash } from 'node:crypto';

import { type CompanySettings, setCompany } from '../../../src/server/access/companies.ts';
import { applyChange } from '../../../src/server/backoffice/apply.ts';
import type { CompanyProfile } from '../../../src/server/store/records/companies.ts';
import { findSupplier, type KeptSupplier } from '../../../src/server/store/records/suppliers.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { without } from '../../model/_model.ts';
import { customerSave, siteOf } from './_changes.ts';
import { creditNoteOf, invoiceDraft, issue, issued, openIssuer, payment } from './_documents.ts';
import { voided } from './_issued.ts';
import { type Given, onSqlite, type TestCompany } from './_backoffice.ts';
import { customerIn, irishProfile } from './_parties.ts';

const LOGO = 'data:image/png;base64,iVBORw0KGgo=';
const OTHER_LOGO = 'data:image/jpeg;base64,/9j/4AAQSkZJRg==';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const site = siteOf();
const profile = {
  ...irishProfile,
  tradingName: 'Brennan Heating',
  postcode: 'V94 X2Y3',
  companyNumber: '654321',
  phone: '+353 61 555 0101',
  iban: 'IE29AIBK93115212345678',
  bic: 'AIBKIE2D',
  paymentLink: 'https://pay.example.com/{number}',
  latePaymentTerms: 'Interest runs at 8 % above the base rate.',
  pageSize: 'Letter',
  logo: LOGO,
} as const;

/** A document's row as it is stored, byte for byte. */
async function rowOf({ db }: Engine, company: TestCompany, id: string) {
  const rows = db.selectFrom('invoices').select(['body', 'detail', 'unpublished']);
  return rows.where('company', '=', company.id).where('id', '=', id).executeTakeFirstOrThrow();
}

async function supplierOf(engine: Engine, company: TestCompany, id: string): Promise<KeptSupplier | null> {
  const { unpublished } = await rowOf(engine, company, id);
  return (JSON.parse(unpublished) as { supplier: KeptSupplier | null }).supplier;
}

async function logosOf({ db }: Engine, { id }: TestCompany): Promise<Record<string, string>> {
  const rows = await db.selectFrom('logos').selectAll().where('company', '=', id).execute();
  return Object.fromEntries(rows.map((row) => [row.sha256, row.data_url]));
}

const customer = { ...customerIn('IE', 'EUR'), legalName: 'Harbour View Hotel Limited', sites: [site] };
const moved = { ...site, label: 'Yard' };
const renamed = { ...customerIn('FR', 'USD'), name: 'Another hotel', sites: [moved] };

const otherProfile: CompanyProfile = {
  ...{
    legalName: 'Other Limited',
    addressLines: ['Elsewhere'],
    vatId: 'IE1111111L',
    pageSize: 'A4' as const,
  },
  ...{ iban: 'DE89370400440532013000', paymentLink: 'https://other.example.com/', latePaymentTerms: 'None.' },
};
const abroad = { currency: 'GBP', timeZone: 'Asia/Tokyo', profile: { countryCode: 'FR' } };

/** What may change after a document is issued. */
const laterChanges: [
  what: string,
  change: Given<'customer.save' | 'customer.archive'> | Partial<CompanySettings>,
][] = [
  ['the customer’s name, address and VAT number', customerSave({ ...renamed, id: 'cus_1' })],
  ['the customer’s sites', customerSave({ ...customer, id: 'cus_1', sites: [] })],
  ['whether the customer is archived', { change: 'customer.archive', with: { id: 'cus_1' } }],
  ['the company’s name, numbers, paper and ways to pay', { name: 'Another name', profile: otherProfile }],
  ['the company’s logo', { profile: { logo: OTHER_LOGO } }],
  ['the company’s country, currency and time zone', abroad],
];

onSqlite('an issued document', async (t, office) => {
  const { engine } = office;
  const start = () => openIssuer(office, { company: { profile }, customer });
  for (const [what, change] of laterChanges) {
    await t.test(`keeps what it says, whatever becomes of ${what}`, async (t) => {
      const company = await start();
      const invoice = await issued(company, invoiceDraft({ siteId: 'site_1' }));
      const proForma = await issued(company, invoiceDraft({ kind: 'pro_forma', siteId: 'site_1' }));
      const note = await issued(company, creditNoteOf(invoice));
      const rows = () => Promise.all([invoice, proForma, note].map(({ id }) => rowOf(engine, company, id)));
      const before = await rows();
      if ('change' in change) await company.apply(change);
      else await setCompany(engine, company.id, change);
      t.strictSame(await rows(), before);
    });
  }

  await t.test('names customer and site as they were at its issue, and not before', async (t) => {
    const company = await start();
    const { id } = await company.apply(invoiceDraft({ siteId: 'site_1' }));
    const named = { name: 'The Harbour', vatId: 'IE7654321G' };
    await company.apply(customerSave({ ...customer, ...named, id: 'cus_1', sites: [moved] }));
    const shown = without(moved, 'geo');
    const buyer = { ...named, legalName: customer.legalName, countryCode: 'IE', site: shown };
    const found = { customer: { id: 'cus_1', type: 'customer', name: 'The Harbour' }, buyer };
    t.match(await company.apply(issue(id)), found);
  });

  await t.test('keeps who issued it, and the logo by its hash', async (t) => {
    const company = await start();
    const { logo, ...shown } = profile;
    const draft = await company.apply(invoiceDraft());
    t.equal(await supplierOf(engine, company, draft.id), null, 'a draft has no supplier yet');
    const { id } = await company.apply(issue(draft.id));
    const electronicAddress = { scheme: '9935', id: profile.vatId };
    const kept = { ...shown, electronicAddress, logoSha256: sha256(logo), hasPaymentCode: true };
    t.strictSame(await supplierOf(engine, company, id), kept);
    t.strictSame(await logosOf(engine, company), { [sha256(LOGO)]: LOGO });
  });

  await t.test('shares its logo with others, and keeps it when the company has another', async (t) => {
    const company = await start();
    const first = await issued(company, invoiceDraft());
    await issued(company, invoiceDraft());
    t.strictSame(await logosOf(engine, company), { [sha256(LOGO)]: LOGO }, 'kept once');
    await setCompany(engine, company.id, { profile: { logo: OTHER_LOGO } });
    const third = await issued(company, invoiceDraft());
    t.strictSame(await logosOf(engine, company), { [sha256(LOGO)]: LOGO, [sha256(OTHER_LOGO)]: OTHER_LOGO });
    t.equal((await supplierOf(engine, company, first.id))?.logoSha256, sha256(LOGO));
    t.equal((await supplierOf(engine, company, third.id))?.logoSha256, sha256(OTHER_LOGO));
  });

  await t.test('keeps the operator’s colour, and has a code only since there are codes', async (t) => {
    const company = await start();
    const draft = await company.apply(invoiceDraft());
    const coloured = { ...office.backoffice, accent: '#7a1fa2' };
    await applyChange(coloured, { company: company.id, id: 'coloured', ...issue(draft.id) });
    const kept = await supplierOf(engine, company, draft.id);
    t.match(kept, { accent: '#7a1fa2', hasPaymentCode: true });
    t.match(await findSupplier(engine.db, company.id, kept), { accent: '#7a1fa2', hasPaymentCode: true });
    const shown = await findSupplier(engine.db, company.id, { ...profile, logoSha256: null });
    t.strictSame([shown.accent, shown.hasPaymentCode], [undefined, undefined]);
  });

  await t.test('of a company without a logo has none', async (t) => {
    const company = await openIssuer(office);
    const { id } = await issued(company, invoiceDraft());
    t.equal((await supplierOf(engine, company, id))?.logoSha256, null);
    t.strictSame(await logosOf(engine, company), {});
  });

  await t.test('keeps no logo when its issue is refused', async (t) => {
    const company = await start();
    const { id } = await company.apply(invoiceDraft({ lines: [] }));
    t.match(await company.refusal(issue(id)), { code: 'incomplete_document' });
    t.strictSame(await logosOf(engine, company), {});
  });

  await t.test('keeps who issued it through payments, refunds and credit notes', async (t) => {
    const company = await start();
    const invoice = await issued(company, invoiceDraft());
    const before = await supplierOf(engine, company, invoice.id);
    await setCompany(engine, company.id, { profile: { legalName: 'Other Limited', logo: OTHER_LOGO } });
    await company.apply(payment(invoice, { id: 'pay_1', amountMinor: 12_300 }));
    const note = await issued(company, creditNoteOf(invoice));
    await company.apply(voided('payment', invoice, 'pay_1'));
    t.strictSame(await supplierOf(engine, company, invoice.id), before);
    const other = { legalName: 'Other Limited', logoSha256: sha256(OTHER_LOGO) };
    t.match(await supplierOf(engine, company, note.id), other);
    const paid = await company.record('invoices', invoice.id);
    const own = ['creditNotes', 'payments', 'amountDueMinor', 'refunds', 'creditBalanceMinor', 'updatedAt'];
    const shown = (document: object) => Object.entries(document).filter(([name]) => !own.includes(name));
    t.strictSame(shown(paid ?? {}), shown(invoice), 'what it said at its issue');
  });

  await t.test('can’t be edited, discarded or issued again', async (t) => {
    const company = await start();
    const invoice = await issued(company, invoiceDraft());
    const note = await issued(company, creditNoteOf(invoice));
    const documents = [invoice, note, await issued(company, invoiceDraft({ kind: 'pro_forma' }))];
    for (const { id, kind, number } of documents) {
      for (const change of ['invoice.edit', 'invoice.discard', 'invoice.issue'] as const) {
        const { code, path, message } = await company.refusal({ change, with: { id } });
        t.strictSame([code, path], ['wrong_state', '/with/id'], `${change} of a ${kind}`);
        t.match(message, `"${number}"`);
      }
    }
  });
});
