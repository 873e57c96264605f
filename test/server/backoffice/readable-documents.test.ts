/** An issued document has to stay readable: letters that can be set, names that are seen, codes that exist. */
import { createCompany, setCompany } from '../../../src/server/backoffice/companies.ts';
import { checkStored } from '../../../src/server/backoffice/document-check.ts';
import type { NewInvoice, ChangeContent } from '../../../src/contract/feed.ts';
import type { CompanyProfile } from '../../../src/server/store/tables/companies.ts';
import { STORY_NOW } from '../../_server.ts';
import { customerSave, siteOf } from './_changes.ts';
import { creditNoteOf, invoiceDraft, issue, issued, line, lineIn, openIssuer } from './_documents.ts';
import { exchange } from './_issued.ts';
import { onSqlite, type TestBackoffice } from './_backoffice.ts';
import { customerIn, irishCompany, irishProfile } from './_parties.ts';

interface Case {
  profile?: CompanyProfile;
  customer?: Partial<ChangeContent<'customer.save'>>;
  draft?: Partial<NewInvoice>;
}

const inTamil = { ...siteOf(), label: '🏭', addressLines: ['தம'] };
const described = (description: string) => ({ lines: [line(), line({ description })] });

const ratedBy = (exchangeRateSource: string) => ({ exchange: { ...exchange, exchangeRateSource } });

/** The letters that are lacking, and where. */
const lettersLacking: [problem: string, given: Case][] = [
  ["த (U+0BA4), ம (U+0BAE) in the customer's name", { customer: { name: 'தம Ltd' } }],
  ["ދި (U+078B U+07A8), ވެ (U+0788 U+07AC) in the customer's legalName", { customer: { legalName: 'ދިވެ' } }],
  ["ក (U+1780), ខ (U+1781) in the customer's addressLines", { customer: { addressLines: ['1 Quay', 'កខ'] } }],
  // As many as are named.
  [
    "မ (U+1019), က (U+1000), ခ (U+1001), ဂ (U+1002), ဃ (U+1003) in the customer's contactName",
    { customer: { contactName: 'မကခဂဃ' } },
  ],
  [
    "🏭 (U+1F3ED) in the site's label, த (U+0BA4), ம (U+0BAE) in the site's addressLines",
    { customer: { sites: [inTamil] }, draft: { siteId: 'site_1' } },
  ],
  [
    "ন (U+09A8), ম (U+09AE), স্ (U+09B8 U+09CD), তে (U+09A4 U+09C7) in line 2's description",
    { draft: described('নমস্তে') },
  ],
  ["\ufffd (U+FFFD) in line 2's description", { draft: described('Lost: \ufffd') }],
  ["U+0007 in line 2's description", { draft: described('Bell\u0007') }],
  ["ગુ (U+0A97 U+0AC1), જ (U+0A9C) in the document's note", { draft: { note: 'ગુજ' } }],
  ["U+F0000 in the document's buyerReference", { draft: { buyerReference: '\u{f0000}' } }],
  [
    "அ (U+0B85), ஆ (U+0B86), இ (U+0B87), ஈ (U+0B88), உ (U+0B89), 2 more in the document's purchaseOrderReference",
    { draft: { purchaseOrderReference: 'அஆஇஈஉஊஎ' } },
  ],
  ["த (U+0BA4) in the company's tradingName", { profile: { ...irishProfile, tradingName: 'த' } }],
  [
    "த (U+0BA4) in the document's exchangeRateSource",
    { customer: { currency: 'USD' }, draft: ratedBy('ЕЦБ த') },
  ],
];

async function openCase(office: TestBackoffice, { profile = irishProfile, customer = {} }: Case = {}) {
  return openIssuer(office, { company: { ...irishCompany, profile }, customer });
}

onSqlite('an invoice in letters that the typefaces lack is not issued', async (t, office) => {
  for (const [problem, given] of lettersLacking) {
    const company = await openCase(office, given);
    for (const kind of ['invoice', 'pro_forma'] as const) {
      const { id } = await company.apply(invoiceDraft({ kind, ...given.draft }));
      const message = `The ${kind.replace('_', ' ')} can't be issued: its typefaces lack ${problem}.`;
      t.strictSame(await company.refusal(issue(id)), {
        code: 'incomplete_document',
        path: '/with/id',
        message,
      });
    }
  }
  const legalName = 'Θέρμανση Студена вода Żółć Հայ שלום محمد नमस्ते ไทย 漢字 ひらがな 한국 “€ ½ m²”';
  const company = await openCase(office, { customer: { name: 'Ó Sé & Söhne', legalName } });
  t.match(await issued(company, invoiceDraft({ note: 'e\u0301\u200b ﬁ' })), { status: 'issued' });
});

const nothing = [
  ' ',
  '\u00a0\t',
  '\u0007\u001f',
  '\u200b\u2060\ufeff',
  '\u202e\u00ad',
  '\u3164\u2800',
  '\u0301',
];

/** Where a text that shows nothing stands for one that is needed, and how the refusal names that. */
const blankCases = (text: string): [problem: string, given: Case][] => [
  ["the customer's name has no visible character", { customer: { name: text } }],
  ["the customer's legalName has no visible character", { customer: { legalName: text } }],
  ['the customer has no addressLines', { customer: { addressLines: [text, text] } }],
  ['line 2 has a description without a visible character', { draft: described(text) }],
  ["the company's profile has no legalName", { profile: { ...irishProfile, legalName: text } }],
  ["the company's profile has no addressLines", { profile: { ...irishProfile, addressLines: [text] } }],
  [
    'line 1 is in category E and has no vatExemptionReason',
    { draft: { lines: [lineIn('E', { vatExemptionReason: text })] } },
  ],
];

onSqlite('a customer called " " and a line described by blanks are not issued', async (t, office) => {
  for (const text of nothing) {
    for (const [problem, given] of blankCases(text)) {
      const company = await openCase(office, given);
      const lines = [line({ unitPriceMinor: 50_000 })];
      const { id } = await company.apply(invoiceDraft({ lines, ...given.draft }));
      const { code, message } = await company.refusal(issue(id));
      t.equal(code, 'incomplete_document');
      t.ok(message.includes(problem), `${JSON.stringify(text)}: ${message}`);
    }
    const company = await openCase(office);
    const invoice = await issued(company, invoiceDraft());
    const note = await company.apply(creditNoteOf(invoice, { note: text }));
    t.match(await company.refusal(issue(note.id)), { message: /needs its reason in note/ });
  }
});

/** Changes a text where it is stored, as an earlier version may have left it. */
const rewrite = ({ engine }: TestBackoffice, [table, column]: [string, string], from: string, to: string) =>
  engine.run(`UPDATE ${table} SET ${column} = replace(${column}, '${from}', '${to}')`);

onSqlite('document check finds what an earlier version issued', async (t, office) => {
  const company = await openCase(office, { customer: { name: 'Harbour' } });
  const { id } = await issued(company, invoiceDraft());
  const problems = async () => {
    const { items } = await checkStored(office.backoffice, company.id, id, STORY_NOW);
    return items.flatMap(({ problem }) => problem ?? []);
  };
  t.strictSame(await problems(), []);
  const texts = { Harbour: 'த', Labour: ' ', C62: 'PCS', IE1234567T: 'IE00' };
  for (const [from, to] of Object.entries(texts)) await rewrite(office, ['invoices', 'detail'], from, to);
  t.strictSame(await problems(), [
    "line 1 has the unitCode PCS, which isn't one of the Recommendation",
    'line 1 has a description without a visible character',
    "its typefaces lack த (U+0BA4) in the customer's name",
    `the customer's VAT number IE00 ${otherForm('IE')}`,
  ]);
});

const otherForm = (country: string) =>
  `doesn't have the form or the check digits of a VAT number of ${country}, written without spaces`;
const prefixRules: Record<string, string> = {
  GR00: 'must begin with EL instead of GR',
  UK980780684: 'must begin with GB instead of UK',
  XX12: "doesn't begin with the code of a country",
};
const noVatIds = ['IE00', 'IE6388047W', 'GB123456789', 'XI123456789', 'FR12345678901', 'EL12345678901'];
const vatIds = ['IE6388047V', 'IE3519084GH', 'IE8D79739I', 'GB427193644', 'XI123456727', 'CHE0', null];

onSqlite('IE00 is no VAT number of a customer, nor of a company', async (t, office) => {
  const company = await openCase(office);
  const { engine } = office;
  const save = (vatId: string | null) => customerSave({ id: 'cus_1', ...customerIn('IE', 'EUR'), vatId });
  for (const vatId of [...noVatIds, ...Object.keys(prefixRules)]) {
    const rule = prefixRules[vatId] ?? otherForm(vatId.slice(0, 2));
    const refusal = { code: 'invalid_change', path: '/with/vatId' };
    const told = `vatId is "${vatId}", which ${rule}.`;
    t.strictSame(await company.refusal(save(vatId)), { ...refusal, message: told });
    const settings = { profile: { ...irishProfile, vatId } };
    const error = { name: 'UsageError', message: `The VAT number "${vatId}" ${rule}.` };
    await t.rejects(setCompany(engine, company.id, settings), error);
    await t.rejects(createCompany(engine, 'other', settings, STORY_NOW), error);
  }
  for (const vatId of vatIds) t.match(await company.apply(save(vatId)), { vatId });

  await company.apply(save('IE6388047V'));
  const { id } = await company.apply(invoiceDraft());
  await rewrite(office, ['customers', 'body'], 'IE6388047V', 'IE00');
  await rewrite(office, ['companies', 'profile'], irishProfile.vatId ?? '', 'IE01');
  const [own, theirs] = ["the company's VAT number IE01", "the customer's VAT number IE00"];
  const message = `The invoice can't be issued: ${own} ${otherForm('IE')}, ${theirs} ${otherForm('IE')}.`;
  t.match(await company.refusal(issue(id)), { message });
  const settings = { name: 'Another name' };
  t.match(await setCompany(engine, company.id, settings), settings, 'it stands in the way of nothing else');
});

onSqlite('a unit code outside Recommendation 20 is not issued', async (t, office) => {
  const company = await openCase(office);
  for (const unitCode of ['PCS', 'HRS', 'XX9']) {
    const { id } = await company.apply(invoiceDraft({ lines: [line(), line({ unitCode })] }));
    const problem = `line 2 has the unitCode ${unitCode}, which isn't one of the Recommendation`;
    const message = `The invoice can't be issued: ${problem}.`;
    t.match(await company.refusal(issue(id)), { code: 'incomplete_document', message });
  }
  const lines = ['C62', 'HUR', 'MTK', 'E54', 'XBX', 'ZZ'].map((unitCode) => line({ unitCode }));
  t.match(await issued(company, invoiceDraft({ lines })), { status: 'issued' });
});
