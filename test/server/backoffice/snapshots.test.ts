import { createHash } from 'node:crypto';

import { setCompany } from '../../../src/server/access/companies.ts';
import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { findSupplier, type KeptSupplier } from '../../../src/server/store/records/suppliers.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { customerSave } from './_changes.ts';
import { creditNoteOf, invoiceDraft, issue, issued, openIssuer, payment } from './_documents.ts';
import { onEachEngine, type TestCompany } from './_backoffice.ts';
import { customerIn, irishProfile } from './_parties.ts';

const LOGO = 'data:image/png;base64,iVBORw0KGgo=';
const OTHER_LOGO = 'data:image/jpeg;base64,/9j/4AAQSkZJRg==';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const site = {
  id: 'site_1',
  label: 'Boiler house',
  addressLines: ['Rear of 1 Quay Street'],
  countryCode: 'IE',
  postcode: 'H91 E2V8',
  geo: { lat: 53.27, lng: -9.05 },
};
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
async function rowOf(engine: Engine, company: TestCompany, id: string) {
  const rows = await engine.db
    .selectFrom('invoices')
    .select(['body', 'detail', 'unpublished'])
    .where('company', '=', company.id)
    .where('id', '=', id)
    .execute();
  const [row] = rows;
  if (!row) throw new Error(`There is no document ${id}.`);
  return row;
}

async function supplierOf(engine: Engine, company: TestCompany, id: string): Promise<KeptSupplier | null> {
  const { unpublished } = await rowOf(engine, company, id);
  return (JSON.parse(unpublished) as { supplier: KeptSupplier | null }).supplier;
}

async function logosOf(engine: Engine, { id }: TestCompany): Promise<Record<string, string>> {
  const rows = await engine.db
    .selectFrom('logos')
    .select(['sha256', 'data_url'])
    .where('company', '=', id)
    .execute();
  return Object.fromEntries(rows.map((row) => [row.sha256, row.data_url]));
}

onEachEngine('an issued document', async (t, testBackoffice) => {
  const { engine } = testBackoffice;
  const customer = { ...customerIn('IE', 'EUR'), legalName: 'Harbour View Hotel Limited', sites: [site] };
  const start = () => openIssuer(testBackoffice, { company: { profile }, customer });
  const laterChanges: [what: string, change: (company: TestCompany) => Promise<unknown>][] = [
    [
      'the customer’s name, address and VAT number',
      (company) =>
        company.apply(
          customerSave({
            ...customerIn('FR', 'USD'),
            id: 'cus_1',
            name: 'Another hotel',
            sites: [{ ...site, label: 'Yard' }],
          }),
        ),
    ],
    [
      'the customer’s sites',
      (company) => company.apply(customerSave({ ...customer, id: 'cus_1', sites: [] })),
    ],
    [
      'whether the customer is archived',
      (company) => company.apply({ change: 'customer.archive', with: { id: 'cus_1' } }),
    ],
    [
      'the company’s name, address, numbers, bank, paper and ways to pay',
      (company) =>
        setCompany(engine, company.id, {
          name: 'Another name',
          profile: {
            pageSize: 'A4',
            paymentLink: 'https://other.example.com/',
            latePaymentTerms: 'None.',
            legalName: 'Other Limited',
            addressLines: ['Elsewhere'],
            vatId: 'IE1111111L',
            iban: 'DE89370400440532013000',
          },
        }),
    ],
    ['the company’s logo', (company) => setCompany(engine, company.id, { profile: { logo: OTHER_LOGO } })],
    [
      'the company’s country, currency and time zone',
      (company) =>
        setCompany(engine, company.id, {
          currency: 'GBP',
          timeZone: 'Asia/Tokyo',
          profile: { countryCode: 'FR' },
        }),
    ],
  ];

  for (const kind of ['invoice', 'credit_note', 'pro_forma'] as const) {
    for (const [what, change] of laterChanges) {
      await t.test(`keeps what it says, whatever becomes of ${what}: ${kind}`, async (t) => {
        const company = await start();
        const invoice = await issued(company, invoiceDraft({ siteId: 'site_1' }));
        const draft =
          kind === 'credit_note' ? creditNoteOf(invoice) : invoiceDraft({ kind, siteId: 'site_1' });
        const { id } = await issued(company, draft);
        const before = await rowOf(engine, company, id);
        await change(company);
        t.strictSame(await rowOf(engine, company, id), before);
      });
    }
  }

  await t.test(
    'names the customer and the site as they were at its issue, and not when it was drafted',
    async (t) => {
      const company = await start();
      const { id } = await company.apply(invoiceDraft({ siteId: 'site_1' }));
      const moved = { ...site, label: 'New boiler house', postcode: null };
      await company.apply(
        customerSave({ ...customer, id: 'cus_1', name: 'The Harbour', vatId: 'IE7654321G', sites: [moved] }),
      );
      t.match(await company.apply(issue(id)), {
        customer: { id: 'cus_1', type: 'customer', name: 'The Harbour' },
        buyer: {
          name: 'The Harbour',
          legalName: 'Harbour View Hotel Limited',
          vatId: 'IE7654321G',
          countryCode: 'IE',
          site: {
            id: 'site_1',
            label: 'New boiler house',
            addressLines: site.addressLines,
            countryCode: 'IE',
            postcode: null,
          },
        },
      });
    },
  );

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
    const coloured = { ...testBackoffice.backoffice, accent: '#7a1fa2' };
    await applyChange(coloured, { company: company.id, id: 'coloured', ...issue(draft.id) });
    const kept = await supplierOf(engine, company, draft.id);
    t.match(kept, { accent: '#7a1fa2', hasPaymentCode: true });
    t.match(await findSupplier(engine.db, company.id, kept), { accent: '#7a1fa2', hasPaymentCode: true });
    const shown = await findSupplier(engine.db, company.id, { ...profile, logoSha256: null });
    t.strictSame([shown.accent, shown.hasPaymentCode], [undefined, undefined]);
  });

  await t.test('of a company without a logo has none', async (t) => {
    const company = await openIssuer(testBackoffice);
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
    await company.apply({ change: 'payment.void', with: { invoiceId: invoice.id, id: 'pay_1' } });
    t.strictSame(await supplierOf(engine, company, invoice.id), before);
    t.match(await supplierOf(engine, company, note.id), {
      legalName: 'Other Limited',
      logoSha256: sha256(OTHER_LOGO),
    });
    const paid = await company.record('invoices', invoice.id);
    const own = ['creditNotes', 'payments', 'amountDueMinor', 'refunds', 'creditBalanceMinor', 'updatedAt'];
    const shown = (document: object) => Object.entries(document).filter(([name]) => !own.includes(name));
    t.strictSame(shown(paid ?? {}), shown(invoice), 'what it said at its issue');
  });

  await t.test('can’t be edited, discarded or issued again', async (t) => {
    const company = await start();
    const invoice = await issued(company, invoiceDraft());
    const documents = [
      invoice,
      await issued(company, creditNoteOf(invoice)),
      await issued(company, invoiceDraft({ kind: 'pro_forma' })),
    ];
    for (const { id, kind, number } of documents) {
      for (const change of ['invoice.edit', 'invoice.discard', 'invoice.issue'] as const) {
        const { code, path, message } = await company.refusal({ change, with: { id } });
        t.strictSame([code, path], ['wrong_state', '/with/id'], `${change} of a ${kind}`);
        t.match(message, `"${number}"`);
      }
    }
  });
});
