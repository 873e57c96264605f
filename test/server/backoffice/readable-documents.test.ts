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
const exchange = { exchangeRate: '0.9', exchangeRateDate: '2026-11-19', exchangeRateSource: 'ЕЦБ 漢' };

const lettersLacking: Case[] = [
  { customer: { name: '漢字 Ltd' }, problem: "漢 (U+6F22), 字 (U+5B57) in the customer's name" },
  { customer: { legalName: 'שלום' }, problem: "ש (U+05E9), ל (U+05DC), ו (U+05D5), ם (U+05DD) in the customer's legalName" }, // prettier-ignore
  {
    customer: { addressLines: ['1 Quay', '東京'] },
    problem: "東 (U+6771), 京 (U+4EAC) in the customer's addressLines",
  },
  { customer: { contactName: 'สมชาย' }, problem: "ส (U+0E2A), ม (U+0E21), ช (U+0E0A), า (U+0E32), ย (U+0E22) in the customer's contactName" }, // prettier-ignore
  {
    customer: { sites: [{ ...site, label: '🏭', addressLines: ['工場'] }] },
    draft: { siteId: 'site_1' },
    problem: "🏭 (U+1F3ED) in the site's label, 工 (U+5DE5), 場 (U+5834) in the site's addressLines",
  },
  { draft: { lines: [line(), line({ description: 'नमस्ते' })] }, problem: "न (U+0928), म (U+092E), स् (U+0938 U+094D), ते (U+0924 U+0947) in line 2's description" }, // prettier-ignore
  {
    draft: { lines: [line({ description: 'Lost: \ufffd' })] },
    problem: "\ufffd (U+FFFD) in line 1's description",
  },
  { draft: { lines: [line({ description: 'Bell\u0007' })] }, problem: "U+0007 in line 1's description" },
  { draft: { note: '감사합니다' }, problem: "감 (U+AC10), 사 (U+C0AC), 합 (U+D569), 니 (U+B2C8), 다 (U+B2E4) in the document's note" }, // prettier-ignore
  { draft: { buyerReference: '\u{f0000}' }, problem: "U+F0000 in the document's buyerReference" },
  {
    draft: { purchaseOrderReference: '甲乙丙丁戊己庚' },
    problem:
      "甲 (U+7532), 乙 (U+4E59), 丙 (U+4E19), 丁 (U+4E01), 戊 (U+620A), 2 more in the document's purchaseOrderReference",
  },
  { profile: { ...irishProfile, tradingName: '熱' }, problem: "熱 (U+71B1) in the company's tradingName" },
  {
    customer: { currency: 'USD' },
    draft: { exchange },
    problem: "漢 (U+6F22) in the document's exchangeRateSource",
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
    customer: { name: 'Ó Sé & Söhne', legalName: 'Θέρμανση Студена вода Żółć Հայ Ltd “€ ½ m²”' },
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
  await rewrite(engine, ['invoices', 'detail'], 'Harbour', '漢');
  await rewrite(engine, ['invoices', 'detail'], 'Labour', ' ');
  await rewrite(engine, ['invoices', 'detail'], 'C62', 'PCS');
  await rewrite(engine, ['invoices', 'detail'], 'IE1234567T', 'IE00');
  t.strictSame(await problems(), [
    "line 1 has the unitCode PCS, which isn't one of the Recommendation",
    'line 1 has a description without a visible character',
    "its typefaces lack 漢 (U+6F22) in the customer's name",
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
