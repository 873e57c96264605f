import type { DocumentTerms, DraftLine, ChangeContent } from '../../../src/contract/feed.ts';
import { exemptionCodes } from '../../../src/contract/code-lists.ts';
import { exemptionText } from '../../../src/server/backoffice/legends.ts';
import { findPrintable } from '../../../src/server/store/records/documents.ts';
import { richCustomer, richLine, richProfile, richTerms } from '../invoice-pdf/_rich-documents.ts';
import { inShort, onSqlite } from './_backoffice.ts';
import { customerSave } from './_changes.ts';
import { creditNoteOf, invoiceDraft, issue, issued, line, lineIn, openIssuer } from './_documents.ts';
import { edit, exchange, quoteDraft } from './_issued.ts';
import { amountsOf, importedLine, invoiceImport, openImporter } from './_imports.ts';
import { customerIn } from './_parties.ts';

const rich = { company: { profile: richProfile }, customer: richCustomer };
const sold = line({ ...richLine, id: 'lin_1' });

/** A wrong value, where it is refused, and how the refusal names it. */
type Wrong<T> = readonly [path: string, message: RegExp, given: T];

const payee = (id: string, scheme: string) => ({ payee: { name: 'x', identifier: { id, scheme } } });
const agent = { name: 'x', vatId: 'QQ1', addressLines: [], countryCode: 'FR' };

const wrongTerms: Wrong<DocumentTerms>[] = [
  ['invoicedObject/scheme', /"QQQ".*UNTDID 1153/, { invoicedObject: { id: '7', scheme: 'QQQ' } }],
  ['notes/1/subjectCode', /"QQQ".*UNTDID 4451/, { notes: [note(), { ...note(), subjectCode: 'QQQ' }] }],
  ['taxPointCode', /and taxPointDate are both/, { taxPointCode: '3', taxPointDate: '2026-11-13' }],
  ['delivery/date', /2201-01-01/, { delivery: { date: '2201-01-01' } }],
  ['notes', /more than 20/, { notes: Array.from({ length: 21 }, note) }],
  ['payee/identifier/scheme', /"9999".*ISO 6523/, payee('1', '9999')],
  ['payee/identifier/id', /"5391234500005".*check digit of a GLN/, payee('5391234500005', '0088')],
  ['taxRepresentative/vatId', /"QQ"/, { taxRepresentative: agent }],
  ['delivery/countryCode', /"QQ".*ISO 3166/, { delivery: { countryCode: 'QQ' } }],
  ['delivery/countryCode', /has no countryCode/, { delivery: { town: 'Galway' } }],
  ['payment/meansCode', /"99".*UNTDID 4461/, { payment: { meansCode: '99' } }],
  [
    'supportingDocuments/0/url',
    /an http or https address/,
    { supportingDocuments: [{ reference: 'x', url: 'ftp://x' }] },
  ],
];

function note() {
  return { text: 'x' };
}

const gtin = (id: string) => ({ standardItemId: { id, scheme: '0160' } });

const wrongLines: Wrong<Partial<DraftLine>>[] = [
  [
    'supplyPeriod/endDate',
    /ends on 2026-11-01, before it starts on 2026-11-02/,
    { supplyPeriod: { startDate: '2026-11-02', endDate: '2026-11-01' } },
  ],
  ['standardItemId/id', /check digit of a GTIN/, gtin('4006381333932')],
  ['standardItemId/id', /check digit of a GTIN/, gtin('40063813339')],
  ['classifications/0/scheme', /"QQQ".*UNTDID 7143/, { classifications: [{ code: '1', scheme: 'QQQ' }] }],
  ['originCountryCode', /"QQ"/, { originCountryCode: 'QQ' }],
  ['priceDiscount', /a decimal number above zero/, { priceDiscount: '0.00' }],
  ['lineNumber', /"1".*also that of line 1/, { lineNumber: '1' }],
  ['vatExemptionReasonCode', /"VATEX-EU-AE".*VATEX/, { vatExemptionReasonCode: 'VATEX-EU-AE' }],
  [
    'vatExemptionReasonCode',
    /the category S; category E has one/,
    { vatExemptionReasonCode: 'VATEX-EU-132' },
  ],
];

const wrongParties: Wrong<Partial<ChangeContent<'customer.save'>>>[] = [
  ['companyNumberScheme', /"9999".*ISO 6523/, { companyNumberScheme: '9999' }],
  ['identifier/id', /GLN/, { identifier: { id: 'x', scheme: '0088' } }],
  ['electronicAddress/scheme', /"QQ".*EAS/, { electronicAddress: { id: 'x', scheme: 'QQ' } }],
];

onSqlite('terms of a document', async (t, office) => {
  const termsOf = async (company: { id: string }, id: string) =>
    (await findPrintable(office.engine.db, company.id, id))?.terms;

  await t.test('stay through edits, until an edit replaces them', async (t) => {
    const company = await openIssuer(office, rich);
    const { id } = await company.apply(invoiceDraft({ terms: richTerms, lines: [sold] }));
    await company.apply(edit(id, { note: 'Thank you' }));
    const kept = await termsOf(company, id);
    const { buyer, lines, ...own } = kept ?? {};
    t.strictSame(own, richTerms);
    t.match(lines, { lin_1: { sellerItemId: 'VALVE-15' } });
    t.match(buyer, { town: 'Galway', electronicAddress: { scheme: '9935' } });
    await company.apply(edit(id, { terms: { contractReference: 'C-2' } }));
    t.strictSame(await termsOf(company, id), { contractReference: 'C-2', buyer, lines });
    await company.apply(edit(id, { terms: {}, lines: [line()] }));
    t.strictSame(await termsOf(company, id), { buyer });
  });

  await t.test('are those of its invoice on a credit note, as far as they are about the sale', async (t) => {
    const company = await openIssuer(office, rich);
    const invoice = await issued(company, invoiceDraft({ terms: richTerms, lines: [sold] }));
    const { id } = await company.apply(creditNoteOf(invoice, { lines: [line()] }));
    const inherited = await termsOf(company, id);
    t.match(inherited, { contractReference: 'CON-2026-3', delivery: { town: 'Galway' } });
    t.notOk(inherited?.payment ?? inherited?.notes ?? inherited?.lines);
    await company.apply(edit(id, { terms: {} }));
    await company.apply(issue(id));
    t.notOk((await termsOf(company, id))?.contractReference, 'a credit note may have none');
  });

  await t.test('give the words of an exemption by its code', async (t) => {
    for (const code of exemptionCodes)
      t.match(exemptionText(code), /^(Exempt under article \d+[^A-Z]* of Directive|Margin scheme: )/, code);
    t.equal(exemptionText('VATEX-EU-143-1FA'), 'Exempt under article 143(1)(fa) of Directive 2006/112/EC');
    t.equal(exemptionText('VATEX-EU-148-A'), 'Exempt under article 148(a) of Directive 2006/112/EC');
    const company = await openIssuer(office);
    const exempt = { vatCategory: 'E', vatRateBasisPoints: 0 } as const;
    const care = { ...exempt, vatExemptionReasonCode: 'VATEX-EU-132-1C' };
    const draft = await company.apply(invoiceDraft({ lines: [line(care)] }));
    const vatExemptionReason = 'Exempt under article 132(1)(c) of Directive 2006/112/EC';
    t.match((await company.apply(issue(draft.id))).lines, [{ vatExemptionReason }]);
    const charges = [{ ...care, amountMinor: 500, reasonCode: 'FC' }];
    const { id } = await issued(company, invoiceDraft({ lines: [line()], charges }));
    const printed = (await findPrintable(office.engine.db, company.id, id))?.amounts?.charges;
    t.match(printed, [{ vatExemptionReason }]);
  });

  await t.test('have the kind of an invoice alone, and one code for an exemption', async (t) => {
    const company = await openIssuer(office);
    const invoice = await issued(company, invoiceDraft({ terms: { typeCode: '386' }, lines: [line()] }));
    await issued(company, creditNoteOf(invoice, { lines: [line({ quantity: '0.5' })] }));
    t.equal(invoice.supplyDate, null, 'nothing is supplied yet');
    for (const change of [
      creditNoteOf(invoice, { terms: { typeCode: '386' }, lines: [] }),
      invoiceDraft({ kind: 'pro_forma', terms: { typeCode: '386' } }),
    ]) {
      const refusal = await company.refusal(change);
      t.match(refusal, { code: 'invalid_change', path: '/with/terms/typeCode', message: /386; an invoice/ });
    }
    const exempt = [{ vatExemptionReasonCode: 'VATEX-EU-132' }, {}].map((given) => lineIn('E', given));
    const { id } = await company.apply(invoiceDraft({ lines: exempt }));
    const message = /line 1 has another vatExemptionReasonCode than line 2 in category E/;
    t.match(await company.refusal(issue(id)), { code: 'incomplete_document', message });
  });

  await t.test('of lines go from a quote to its versions and its invoice', async (t) => {
    const company = await openIssuer(office, rich);
    const { id } = await company.apply(quoteDraft({ lines: [sold] }));
    await company.apply({ change: 'quote.send', with: { id } });
    const { id: second } = await company.apply({ change: 'quote.revise', with: { id } });
    await company.apply({ change: 'quote.send', with: { id: second } });
    await company.apply({ change: 'quote.accept', with: { id: second } });
    const conversion = { change: 'quote.convert_to_invoice', with: { id: second } } as const;
    const { convertedInvoiceId } = await company.apply(conversion);
    const { lines } = (await termsOf(company, convertedInvoiceId ?? '')) ?? {};
    t.match(Object.values(lines ?? {}), [richLine]);
  });

  await t.test('come in with an imported document, of the customer as it is named or known', async (t) => {
    const company = await openImporter(office, rich);
    const lines = amountsOf([importedLine({ sellerItemId: 'V-1', id: 'lin_1' })]);
    const known = await company.apply(invoiceImport({ terms: richTerms, ...lines }));
    const shown = { buyer: { companyNumber: '123456' }, lines: { lin_1: { sellerItemId: 'V-1' } } };
    t.match(await termsOf(company, known.id), { ...richTerms, ...shown });
    const buyer = { name: 'Old Hotel', addressLines: ['Eyre Square', 'Galway H91 E2V8'], countryCode: 'IE' };
    const named = await company.apply(
      invoiceImport({ number: '2', buyer: { ...buyer, companyNumber: '99' } }),
    );
    const found = { town: 'Galway', postcode: 'H91 E2V8', companyNumber: '99' };
    t.strictSame((await termsOf(company, named.id))?.buyer, found);
    t.match(named.buyer, buyer);
    const wrong = { ...buyer, identifier: { id: '1', scheme: '9999' } };
    const refusal = await company.refusal(invoiceImport({ number: '3', buyer: wrong }));
    t.equal(inShort(refusal), 'invalid_change /with/buyer/identifier/scheme');
  });

  await t.test('are refused at the value that is wrong', async (t) => {
    const company = await openIssuer(office);
    const refused = async (change: object, path: string, message: RegExp) =>
      t.match(await company.refusal(change), { code: 'invalid_change', path, message }, path);
    for (const [path, message, terms] of wrongTerms)
      await refused(invoiceDraft({ terms }), `/with/terms/${path}`, message);
    for (const [path, message, given] of wrongLines)
      await refused(invoiceDraft({ lines: [line(), line(given)] }), `/with/lines/1/${path}`, message);
    const save = { id: 'cus_1', ...customerIn('IE', 'EUR'), paymentTermsDays: 30 };
    for (const [path, message, given] of wrongParties) {
      await refused(customerSave({ ...save, ...given }), `/with/${path}`, message);
      const { identifier, ...others } = given;
      const profile = identifier ? { identifiers: [identifier] } : others;
      const at = path.replace('identifier/', 'identifiers/0/');
      await refused({ change: 'company.save', with: profile }, `/with/${at}`, message);
    }
  });
});

type Gap = [problem: RegExp, draft: object, customer?: Partial<ChangeContent<'customer.save'>>];

const referred = { buyerReference: 'x' };
const addressed = (id: string, scheme: string) => ({ electronicAddress: { id, scheme } });
const due = (payment: DocumentTerms['payment']) => ({ ...referred, terms: { payment } });
const discount = { amountMinor: 500, baseMinor: 8_000, reason: 'Agreed' };

const gaps: Gap[] = [
  [/no buyer reference or purchase order reference/, {}],
  [/customer has no electronic address/, referred, { vatId: null }],
  [/customer has an electronic address with the scheme EM/, referred, addressed('a@b.example', 'EM')],
  [/customer has an electronic address with the scheme 0037/, referred, addressed('12345678', '0037')],
  ...['0007', '0096', '0151', '0184', '0192', '0198', '0208'].map((scheme): Gap => {
    // Of 0096 no digit is one to check.
    const id = scheme === '0096' ? '020223995' : '0202239952';
    const problem = new RegExp(`${id} doesn't have the form or the check digits of scheme ${scheme}`);
    return [problem, referred, { identifier: { id, scheme } }];
  }),
  [
    /line 1 comes to 833, more than 0.02 from its quantity times its price/,
    { ...referred, exchange, lines: [line({ quantity: '2.5', unitPriceMinor: 333 })] },
    { currency: 'JPY' },
  ],
  [/payment has no mandateReference/, due({ meansCode: '59' })],
  [/its direct debit has several accounts/, due({ ...richTerms.payment, meansCode: '59' })],
  [
    /its discount of 5.00 has a base, 80.00, and no percent/,
    { ...referred, lines: [line({ allowances: [discount] })] },
  ],
  [/has the typeCode 387/, { ...referred, terms: { typeCode: '387' } }],
  [
    /line 10 has a supplyPeriod that isn't within the document's/,
    { ...referred, supplyPeriod: { startDate: '2026-11-03', endDate: '2026-11-14' }, lines: [sold] },
  ],
];

onSqlite('a customer with documents by Peppol gets none that Peppol refuses', async (t, office) => {
  for (const [problem, draft, customer] of gaps) {
    const company = await openIssuer(office, { customer: { peppol: true, ...customer } });
    const { id } = await company.apply(invoiceDraft(draft));
    const refusal = await company.refusal(issue(id));
    t.match(refusal, { code: 'incomplete_document', path: '/with/id', message: problem });
    await company.apply(customerSave({ id: 'cus_1', ...customerIn('IE', 'EUR'), paymentTermsDays: 30 }));
    t.match(await company.apply(issue(id)), { status: 'issued' }, `others do: ${problem.source}`);
  }
});
