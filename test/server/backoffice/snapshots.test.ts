import { type CompanySettings, setCompany } from '../../../src/server/backoffice/companies.ts';
import { applyChange } from '../../../src/server/backoffice/apply.ts';
import type { CompanyProfile } from '../../../src/server/store/tables/companies.ts';
import { findSupplier, type KeptSupplier } from '../../../src/server/store/records/suppliers.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { customerSave, siteOf } from './_changes.ts';
import { creditNoteOf, invoiceDraft, issue, issued, openIssuer } from './_documents.ts';
import { type Given, onSqlite, type TestCompany } from './_backoffice.ts';
import { customerIn, irishProfile } from './_parties.ts';

const LOGO = 'data:image/png;base64,iVBORw0KGgo=';
const OTHER_LOGO = 'data:image/jpeg;base64,/9j/4AAQSkZJRg==';

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

/* The model compares who is named at the issue and kept from then on, with logos (test/model/_comparison.ts). */
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

  await t.test('keeps the operator’s colour', async (t) => {
    const company = await start();
    const draft = await company.apply(invoiceDraft());
    const coloured = { ...office.backoffice, accent: '#7a1fa2' };
    await applyChange(coloured, { company: company.id, id: 'coloured', ...issue(draft.id) });
    const kept = await supplierOf(engine, company, draft.id);
    t.match(kept, { accent: '#7a1fa2' });
    t.match(await findSupplier(engine.db, company.id, kept), { accent: '#7a1fa2' });
    const shown = await findSupplier(engine.db, company.id, { ...profile, logoSha256: null });
    t.equal(shown.accent, undefined);
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
