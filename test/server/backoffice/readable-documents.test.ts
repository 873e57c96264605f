/** An issued document has to stay readable: letters that can be set, names that are seen, codes that exist. */
import { createCompany, setCompany } from '../../../src/server/access/companies.ts';
import { checkStored } from '../../../src/server/backoffice/document-check.ts';
import type { NewInvoice, WithOf } from '../../../src/contract/feed.ts';
import type { CompanyProfile } from '../../../src/server/store/records/companies.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { STORY_NOW } from '../../_server.ts';
import { customerSave } from './_changes.ts';
import { creditNoteOf, invoiceDraft, issue, issued, line, openIssuer } from './_documents.ts';
import { onEachEngine, type TestBackoffice } from './_backoffice.ts';
import { customerIn, irishCompany, irishProfile } from './_parties.ts';

interface Case {
  problem: string;
  profile?: CompanyProfile;
  customer?: Partial<WithOf<'customer.save'>>;
  draft?: Partial<NewInvoice>;
}

const site = {
  id: 'site_1',
  label: 'Depot',
  addressLines: ['Dock Road'],
  countryCode: 'IE',
  postcode: null,
  geo: null,
};
const exchange = { exchangeRate: '0.9', exchangeRateDate: '2026-11-19', exchangeRateSource: 'ЕЦБ த' };

const lettersLacking: Case[] = [
  { customer: { name: 'தம Ltd' }, problem: "த (U+0BA4), ம (U+0BAE) in the customer's name" },
  { customer: { legalName: 'ދިވެހި' }, problem: "ދި (U+078B U+07A8), ވެ (U+0788 U+07AC), ހި (U+0780 U+07A8) in the customer's legalName" }, // prettier-ignore
  {
    customer: { addressLines: ['1 Quay', 'កខ'] },
    problem: "ក (U+1780), ខ (U+1781) in the customer's addressLines",
  },
  { customer: { contactName: 'မကခဂဃ' }, problem: "မ (U+1019), က (U+1000), ခ (U+1001), ဂ (U+1002), ဃ (U+1003) in the customer's contactName" }, // prettier-ignore
  {
    customer: { sites: [{ ...site, label: '🏭', addressLines: ['தம'] }] },
    draft: { siteId: 'site_1' },
    problem: "🏭 (U+1F3ED) in the site's label, த (U+0BA4), ம (U+0BAE) in the site's addressLines",
  },
  { draft: { lines: [line(), line({ description: 'নমস্তে' })] }, problem: "ন (U+09A8), ম (U+09AE), স্ (U+09B8 U+09CD), তে (U+09A4 U+09C7) in line 2's description" }, // prettier-ignore
  {
    draft: { lines: [line({ description: 'Lost: \ufffd' })] },
    problem: "\ufffd (U+FFFD) in line 1's description",
  },
  { draft: { lines: [line({ description: 'Bell\u0007' })] }, problem: "U+0007 in line 1's description" },
  { draft: { note: 'ગુજરાતી' }, problem: "ગુ (U+0A97 U+0AC1), જ (U+0A9C), રા (U+0AB0 U+0ABE), તી (U+0AA4 U+0AC0) in the document's note" }, // prettier-ignore
  { draft: { buyerReference: '\u{f0000}' }, problem: "U+F0000 in the document's buyerReference" },
  {
    draft: { purchaseOrderReference: 'அஆஇஈஉஊஎ' },
    problem:
      "அ (U+0B85), ஆ (U+0B86), இ (U+0B87), ஈ (U+0B88), உ (U+0B89), 2 more in the document's purchaseOrderReference",
  },
  { profile: { ...irishProfile, tradingName: 'த' }, problem: "த (U+0BA4) in the company's tradingName" },
  {
    customer: { currency: 'USD' },
    draft: { exchange },
    problem: "த (U+0BA4) in the document's exchangeRateSource",
  },
];

async function openCase(testBackoffice: TestBackoffice, { profile = irishProfile, customer = {} }: Case) {
  return openIssuer(testBackoffice, { company: { ...irishCompany, profile }, customer });
}

onEachEngine('an invoice in letters that the typefaces lack is not issued', async (t, testBackoffice) => {
  for (const given of lettersLacking) {
    const company = await openCase(testBackoffice, given);
    for (const kind of ['invoice', 'pro_forma'] as const) {
      const { id } = await company.apply(invoiceDraft({ kind, ...given.draft }));
      t.strictSame(await company.refusal(issue(id)), {
        code: 'incomplete_document',
        path: '/with/id',
        message: `The ${kind.replace('_', ' ')} can't be issued: its typefaces lack ${given.problem}.`,
      });
    }
  }
  const company = await openCase(testBackoffice, {
    problem: '',
    customer: {
      name: 'Ó Sé & Söhne',
      legalName: 'Θέρμανση Студена вода Żółć Հայ שלום محمد नमस्ते ไทย 漢字 ひらがな 한국 “€ ½ m²”',
    },
  });
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

onEachEngine(
  'a customer called " " and a line described by blanks are not issued',
  async (t, testBackoffice) => {
    for (const text of nothing) {
      const cases: Case[] = [
        { customer: { name: text }, problem: "the customer's name has no visible character" },
        { customer: { legalName: text }, problem: "the customer's legalName has no visible character" },
        { customer: { addressLines: [text, text] }, problem: 'the customer has no addressLines' },
        {
          draft: { lines: [line(), line({ description: text, unitPriceMinor: 50_000 })] },
          problem: 'line 2 has a description without a visible character',
        },
        { profile: { ...irishProfile, legalName: text }, problem: "the company's profile has no legalName" },
        {
          profile: { ...irishProfile, addressLines: [text] },
          problem: "the company's profile has no addressLines",
        },
        {
          draft: { lines: [line({ vatCategory: 'E', vatRateBasisPoints: 0, vatExemptionReason: text })] },
          problem: 'line 1 is in category E and has no vatExemptionReason',
        },
      ];
      for (const { problem, ...given } of cases) {
        const company = await openCase(testBackoffice, { ...given, problem });
        const { id } = await company.apply(
          invoiceDraft({ lines: [line({ unitPriceMinor: 50_000 })], ...given.draft }),
        );
        const { code, message } = await company.refusal(issue(id));
        t.equal(code, 'incomplete_document');
        t.ok(message.includes(problem), `${JSON.stringify(text)}: ${message}`);
      }
      const company = await openCase(testBackoffice, { problem: '' });
      const invoice = await issued(company, invoiceDraft());
      const note = await company.apply(creditNoteOf(invoice, { note: text }));
      t.match(await company.refusal(issue(note.id)), { message: /needs its reason in note/ });
    }
  },
);

/** Changes a text where it is stored, as an earlier version may have left it. */
async function rewrite(
  engine: Engine,
  [table, column]: [string, string],
  from: string,
  to: string,
): Promise<void> {
  const text = engine.dialect.name === 'sqlite' ? column : `CAST(${column} AS TEXT)`;
  const replaced = `replace(${text}, '${from}', '${to}')`;
  const value =
    engine.dialect.name === 'sqlite' || column === 'profile' ? replaced : `CAST(${replaced} AS JSON)`;
  await engine.run(`UPDATE ${table} SET ${column} = ${value}`);
}

onEachEngine('document check finds what an earlier version issued', async (t, testBackoffice) => {
  const company = await openCase(testBackoffice, { problem: '', customer: { name: 'Harbour' } });
  const { id } = await issued(company, invoiceDraft());
  const problems = async () => {
    const { items } = await checkStored(testBackoffice.backoffice, company.id, id, STORY_NOW);
    return items.flatMap(({ problem }) => problem ?? []);
  };
  t.strictSame(await problems(), []);
  const { engine } = testBackoffice;
  await rewrite(engine, ['invoices', 'detail'], 'Harbour', 'த');
  await rewrite(engine, ['invoices', 'detail'], 'Labour', ' ');
  await rewrite(engine, ['invoices', 'detail'], 'C62', 'PCS');
  await rewrite(engine, ['invoices', 'detail'], 'IE1234567T', 'IE00');
  t.strictSame(await problems(), [
    "line 1 has the unitCode PCS, which isn't one of the Recommendation",
    'line 1 has a description without a visible character',
    "its typefaces lack த (U+0BA4) in the customer's name",
    "the customer's VAT number IE00 doesn't have the form or the check digits of a VAT number of IE, written without spaces",
  ]);
});

onEachEngine('IE00 is no VAT number of a customer, nor of a company', async (t, testBackoffice) => {
  const company = await openCase(testBackoffice, { problem: '' });
  const save = (vatId: string | null) => customerSave({ id: 'cus_1', ...customerIn('IE', 'EUR'), vatId });
  const prefixRules: Record<string, string> = {
    GR00: 'must begin with EL instead of GR',
    UK980780684: 'must begin with GB instead of UK',
    XX12: "doesn't begin with the code of a country",
  };
  for (const vatId of [
    'IE00',
    'IE6388047W',
    'GB123456789',
    'XI123456789',
    'FR12345678901',
    'EL12345678901',
    'GR00',
    'UK980780684',
    'XX12',
  ]) {
    const rule =
      prefixRules[vatId] ??
      `doesn't have the form or the check digits of a VAT number of ${vatId.slice(0, 2)}, written without spaces`;
    t.strictSame(await company.refusal(save(vatId)), {
      code: 'invalid_change',
      path: '/with/vatId',
      message: `vatId is "${vatId}", which ${rule}.`,
    });
    const settings = { profile: { ...irishProfile, vatId } };
    const message = `The VAT number "${vatId}" ${rule}.`;
    await t.rejects(setCompany(testBackoffice.engine, company.id, settings), { name: 'UsageError', message });
    await t.rejects(createCompany(testBackoffice.engine, 'other', settings, STORY_NOW), {
      name: 'UsageError',
      message,
    });
  }
  for (const vatId of [
    'IE6388047V',
    'IE3519084GH',
    'IE8D79739I',
    'GB427193644',
    'XI123456727',
    'CHE0',
    null,
  ]) {
    t.match(await company.apply(save(vatId)), { vatId });
  }

  await company.apply(save('IE6388047V'));
  const { id } = await company.apply(invoiceDraft());
  await rewrite(testBackoffice.engine, ['customers', 'body'], 'IE6388047V', 'IE00');
  await rewrite(testBackoffice.engine, ['companies', 'profile'], irishProfile.vatId ?? '', 'IE01');
  t.match(await company.refusal(issue(id)), {
    message:
      "The invoice can't be issued: the company's VAT number IE01 doesn't have the form or the check digits of a VAT number of IE, written without spaces, the customer's VAT number IE00 doesn't have the form or the check digits of a VAT number of IE, written without spaces.",
  });
  const settings = { name: 'Another name' };
  t.match(
    await setCompany(testBackoffice.engine, company.id, settings),
    settings,
    'it stands in the way of nothing else',
  );
});

onEachEngine('a unit code outside Recommendation 20 is not issued', async (t, testBackoffice) => {
  const company = await openCase(testBackoffice, { problem: '' });
  for (const unitCode of ['PCS', 'HRS', 'XX9']) {
    const { id } = await company.apply(invoiceDraft({ lines: [line(), line({ unitCode })] }));
    t.match(await company.refusal(issue(id)), {
      code: 'incomplete_document',
      message: `The invoice can't be issued: line 2 has the unitCode ${unitCode}, which isn't one of the Recommendation.`,
    });
  }
  const lines = ['C62', 'HUR', 'MTK', 'E54', 'XBX', 'ZZ'].map((unitCode) => line({ unitCode }));
  t.match(await issued(company, invoiceDraft({ lines })), { status: 'issued' });
});
