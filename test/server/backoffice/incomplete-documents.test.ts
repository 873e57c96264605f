import type { CompanySettings } from '../../../src/server/access/companies.ts';
import { setCompany } from '../../../src/server/access/companies.ts';
import type { DraftLine, NewInvoice, WithOf } from '../../../src/contract/feed.ts';
import type { CompanyProfile } from '../../../src/server/store/records/companies.ts';
import { creditNoteOf, invoiceDraft, issue, issued, line, lineIn, openIssuer } from './_documents.ts';
import { onEachEngine } from './_backoffice.ts';
import {
  britishCompany,
  britishProfile,
  customerIn,
  irishCompany,
  irishProfile,
  northernIrishCompany,
  unregisteredProfile,
} from './_vat-situations.ts';

/** A document that is complete but for one thing. */
interface Gap {
  what: string;
  /** How the refusal names it; nothing else may be named. */
  problem: RegExp;
  company: Partial<CompanySettings>;
  customer: Partial<WithOf<'customer.save'>>;
  lines: DraftLine[];
  given?: Partial<NewInvoice>;
  /** Whether a pro forma needs it too. */
  isOfAll?: boolean;
}

const PRINCIPAL_CONTRACTOR = 'VAT on this supply to be accounted for by the Principal Contractor.';
const toFrance = customerIn('FR', 'EUR');
const withoutVatId = { vatId: null };

/** The country by which a rule is tried, where it is the same in both. */
interface Side {
  country: string;
  company: Partial<CompanySettings>;
  profile: CompanyProfile;
  customer: ReturnType<typeof customerIn>;
  standard: DraftLine;
}

const sides: Side[] = [
  {
    country: 'IE',
    company: irishCompany,
    profile: irishProfile,
    customer: customerIn('IE', 'EUR'),
    standard: line({ unitPriceMinor: 100_000 }),
  },
  {
    country: 'GB',
    company: britishCompany,
    profile: britishProfile,
    customer: customerIn('GB', 'GBP'),
    standard: line({ unitPriceMinor: 100_000, vatRateBasisPoints: 2000 }),
  },
];

const without = (profile: CompanyProfile, name: keyof CompanyProfile) =>
  Object.fromEntries(Object.entries(profile).filter(([other]) => other !== name));

/** Gaps in the contents that both countries ask for. */
function commonGaps({ company, profile, customer, standard }: Side): Gap[] {
  const sound = { company, customer, lines: [standard] };
  const supplied = (given: CompanyProfile) => ({ ...sound, company: { ...company, profile: given } });
  return [
    {
      ...supplied(without(profile, 'legalName')),
      what: 'the supplier’s name',
      problem: /no legalName/,
      isOfAll: true,
    },
    {
      ...supplied({ ...profile, legalName: ' ' }),
      what: 'a name that is blank',
      problem: /no legalName/,
      isOfAll: true,
    },
    {
      ...supplied({ ...profile, addressLines: [] }),
      what: 'the supplier’s address',
      problem: /profile has no addressLines/,
      isOfAll: true,
    },
    { ...supplied(without(profile, 'vatId')), what: 'the supplier’s VAT number', problem: /no vatId/ },
    {
      ...supplied({ ...profile, vatId: 'FR11123456782' }),
      what: 'a VAT number of the country',
      problem: /FR11123456782/,
    },
    {
      ...supplied(without(unregisteredIn(profile), 'companyNumber')),
      lines: [lineIn('O')],
      what: 'a number of the supplier',
      problem: /neither vatId nor companyNumber/,
    },
    { ...sound, lines: [], what: 'lines', problem: /no lines/, isOfAll: true },
    {
      ...sound,
      customer: { ...customer, currency: 'ABC' },
      given: { exchange: { exchangeRate: '1', exchangeRateDate: '2026-11-19', exchangeRateSource: 'ECB' } },
      what: 'a currency that there is',
      problem: /ABC/,
      isOfAll: true,
    },
    {
      ...sound,
      given: { dueDate: '2026-11-19' },
      what: 'a due day after the issue',
      problem: /due before its issue, on 2026-11-19/,
      isOfAll: true,
    },
    {
      ...sound,
      lines: [standard, { ...standard, quantity: '-2' }],
      what: 'an amount that isn’t below zero',
      problem: /below zero; that takes a credit note/,
      isOfAll: true,
    },
    {
      ...sound,
      lines: [line({ vatRateBasisPoints: 0 })],
      what: 'a rate in category S',
      problem: /line 1 .*category S/,
      isOfAll: true,
    },
    {
      ...sound,
      lines: [standard, lineIn('Z', { vatRateBasisPoints: 2300 })],
      what: 'no rate in category Z',
      problem: /line 2 is in category Z at 2300/,
      isOfAll: true,
    },
    {
      ...sound,
      lines: [{ ...standard, vatExemptionReason: 'None' }],
      what: 'no reason where VAT is charged',
      problem: /line 1 .*category S and has a vatExemptionReason/,
      isOfAll: true,
    },
    {
      ...sound,
      lines: [lineIn('E', { vatExemptionReason: null, unitPriceMinor: 100_000 })],
      what: 'the reason of an exemption',
      problem: /line 1 .*category E and has no vatExemptionReason/,
      isOfAll: true,
    },
    {
      ...sound,
      lines: [lineIn('E', { vatExemptionReason: '  ', unitPriceMinor: 100_000 })],
      what: 'a reason that isn’t blank',
      problem: /line 1 .*category E and has no vatExemptionReason/,
      isOfAll: true,
    },
    {
      ...sound,
      lines: [lineIn('E', { unitPriceMinor: 100_000 }), lineIn('E', { vatExemptionReason: 'Another' })],
      what: 'one reason for a category',
      problem: /line 1 .*another vatExemptionReason/,
      isOfAll: true,
    },
    {
      ...sound,
      lines: [standard, lineIn('O')],
      what: 'category O alone',
      problem: /category O stands beside others/,
      isOfAll: true,
    },
    {
      ...sound,
      customer: { ...customer, addressLines: [] },
      what: 'the customer’s address',
      problem: /the customer has no addressLines/,
    },
    {
      ...sound,
      customer: { ...customer, currency: 'USD' },
      what: 'the VAT in the national currency',
      problem: /in USD and has no exchange/,
    },
  ];
}

const unregisteredIn = ({ countryCode }: CompanyProfile): CompanyProfile => ({
  ...unregisteredProfile,
  ...(countryCode === undefined ? {} : { countryCode }),
});

const large = { unitPriceMinor: 100_000 };

/** Gaps in the contents that one country asks for, or that both ask for in different words. */
const ownGaps: Record<string, Gap[]> = {
  IE: [
    {
      what: 'the VAT number of a customer under reverse charge',
      problem: /the customer has no vatId/,
      company: irishCompany,
      customer: { ...customerIn('IE', 'EUR'), ...withoutVatId },
      lines: [lineIn('AE', large)],
      isOfAll: true,
    },
    {
      what: 'the words on construction',
      problem: /doesn't say "VAT on this supply/,
      company: irishCompany,
      customer: customerIn('IE', 'EUR'),
      lines: [lineIn('AE', { ...large, vatExemptionReason: 'Reverse charge' })],
    },
    {
      what: 'no rate beside the words on construction',
      problem: /states a rate or an amount/,
      company: irishCompany,
      customer: customerIn('IE', 'EUR'),
      lines: [lineIn('AE', { ...large, vatExemptionReason: `${PRINCIPAL_CONTRACTOR} 13.5%` })],
    },
    {
      what: 'no amount beside the words on construction',
      problem: /states a rate or an amount/,
      company: irishCompany,
      customer: customerIn('IE', 'EUR'),
      lines: [lineIn('AE', { ...large, vatExemptionReason: `${PRINCIPAL_CONTRACTOR} EUR 135.00` })],
    },
    {
      what: 'the words “reverse charge”',
      problem: /doesn't say "Reverse charge"/,
      company: irishCompany,
      customer: toFrance,
      lines: [lineIn('AE', { ...large, vatExemptionReason: 'Article 196' })],
    },
    {
      what: 'the customer’s VAT number for goods within the Union',
      problem: /the customer has no vatId; in category K the customer's VAT number/,
      company: irishCompany,
      customer: { ...toFrance, ...withoutVatId },
      lines: [lineIn('K', large)],
      isOfAll: true,
    },
    {
      what: 'a VAT number of another member state',
      problem: /customer's VAT number must be of another member state/,
      company: irishCompany,
      customer: { ...toFrance, vatId: 'IE1234567T' },
      lines: [lineIn('K', large)],
      isOfAll: true,
    },
    {
      what: 'goods that go to another member state',
      problem: /must go to another member state, and not to US/,
      company: irishCompany,
      customer: { ...customerIn('US', 'EUR'), vatId: 'FR11123456782' },
      lines: [lineIn('K', large)],
      isOfAll: true,
    },
    {
      what: 'goods that leave the Union',
      problem: /must leave .*and not go to FR/,
      company: irishCompany,
      customer: toFrance,
      lines: [lineIn('G', large)],
      isOfAll: true,
    },
    {
      what: 'goods that go further than Northern Ireland',
      problem: /go to Northern Ireland are in category K, and not G/,
      company: irishCompany,
      customer: { ...customerIn('GB', 'EUR'), vatId: 'XI123456782' },
      lines: [lineIn('G', large)],
      isOfAll: true,
    },
  ],
  GB: [
    {
      what: 'the VAT number of a customer under reverse charge',
      problem: /the customer has no vatId/,
      company: britishCompany,
      customer: { ...customerIn('GB', 'GBP'), ...withoutVatId },
      lines: [lineIn('AE', { ...large, reverseChargeRateBasisPoints: 2000 })],
      isOfAll: true,
    },
    {
      what: 'the rate of the domestic reverse charge',
      problem: /has no reverseChargeRateBasisPoints/,
      company: britishCompany,
      customer: customerIn('GB', 'GBP'),
      lines: [lineIn('AE', large)],
    },
    {
      what: 'the words “reverse charge”',
      problem: /doesn't say "Reverse charge"/,
      company: britishCompany,
      customer: { ...customerIn('IE', 'GBP') },
      lines: [lineIn('AE', { ...large, vatExemptionReason: 'The customer pays.' })],
    },
    {
      what: 'a VAT number of the Union for goods within it',
      problem: /needs a VAT number of the European Union, and not of GB/,
      company: britishCompany,
      customer: customerIn('IE', 'GBP'),
      lines: [lineIn('K', large)],
      isOfAll: true,
    },
    {
      what: 'goods that leave Northern Ireland',
      problem: /must go to another member state, and not to GB/,
      company: northernIrishCompany,
      customer: { ...customerIn('GB', 'GBP'), vatId: 'IE1234567T' },
      lines: [lineIn('K', large)],
      isOfAll: true,
    },
    {
      what: 'goods that leave the country',
      problem: /must leave.* and not go to GB/,
      company: britishCompany,
      customer: customerIn('GB', 'GBP'),
      lines: [lineIn('G', large)],
      isOfAll: true,
    },
  ],
};

for (const side of sides) {
  onEachEngine(`a document of ${side.country} is incomplete without`, async (t, testBackoffice) => {
    for (const gap of [...commonGaps(side), ...(ownGaps[side.country] ?? [])]) {
      const { what, problem, company: settings, customer, lines, given, isOfAll = false } = gap;
      await t.test(what, async (t) => {
        const company = await openIssuer(testBackoffice, { company: settings, customer });
        for (const kind of ['invoice', 'pro_forma'] as const) {
          const { id } = await company.apply(invoiceDraft({ kind, lines, ...given }));
          if (kind === 'pro_forma' && !isOfAll) {
            t.match(await company.apply(issue(id)), { number: 'PF-2026-0001' }, 'which a pro forma may be');
            continue;
          }
          const { code, path, message } = await company.refusal(issue(id));
          t.strictSame([code, path], ['incomplete_document', '/with/id']);
          t.match(message, problem);
          const named = message.replace(problem, '');
          t.notOk(named.includes(';'), `nothing else is named: ${message}`);
        }
      });
    }
  });
}

for (const { country, company: settings, profile, customer, standard } of sides) {
  onEachEngine(`a credit note of ${country} is incomplete without`, async (t, testBackoffice) => {
    const start = async () => {
      const company = await openIssuer(testBackoffice, { company: settings, customer });
      return { company, invoice: await issued(company, invoiceDraft({ lines: [standard] })) };
    };
    const cases: [what: string, problem: RegExp, given: Partial<NewInvoice>][] = [
      ['its reason', /a credit note needs its reason in note/, { note: null }],
      ['a reason that isn’t blank', /a credit note needs its reason in note/, { note: ' \n' }],
      ['an amount', /a credit note must give something back/, { lines: [{ ...standard, quantity: '0' }] }],
      ['lines', /it has no lines; a credit note must give something back/, { lines: [] }],
    ];
    for (const [what, problem, given] of cases) {
      await t.test(what, async (t) => {
        const { company, invoice } = await start();
        const { id } = await company.apply(creditNoteOf(invoice, { lines: [standard], ...given }));
        const { code, path, message } = await company.refusal(issue(id));
        t.strictSame([code, path], ['incomplete_document', '/with/id']);
        t.match(message, problem);
      });
    }

    await t.test('the supplier’s name, whatever its invoice named', async (t) => {
      const { company, invoice } = await start();
      const { id } = await company.apply(creditNoteOf(invoice, { lines: [standard] }));
      await setCompany(testBackoffice.engine, company.id, { profile: { ...profile, legalName: '' } });
      t.match(await company.refusal(issue(id)), { code: 'incomplete_document', message: /no legalName/ });
    });

    await t.test('a day of issue that isn’t before its invoice’s', async (t) => {
      const { company, invoice } = await start();
      const { id } = await company.apply(creditNoteOf(invoice, { lines: [standard] }));
      const { code, message } = await company.refusal({ ...issue(id), at: '2026-11-19T12:00:00Z' });
      t.equal(code, 'incomplete_document');
      t.match(message, /before its invoice, which is of 2026-11-20/);
      t.match(await company.apply(issue(id)), { issueDate: '2026-11-20' });
    });
  });
}

onEachEngine('a company of another country, or of none', async (t, testBackoffice) => {
  for (const countryCode of ['FR', 'US', 'XI', undefined]) {
    await t.test(`issues nothing: ${countryCode ?? 'none'}`, async (t) => {
      const rest = without(irishProfile, 'countryCode');
      const profile = countryCode === undefined ? rest : { ...rest, countryCode };
      const company = await openIssuer(testBackoffice, { company: { profile } });
      for (const kind of ['invoice', 'pro_forma'] as const) {
        const { id } = await company.apply(invoiceDraft({ kind }));
        const refusal = await company.refusal(issue(id));
        t.match(refusal, { code: 'unsupported_country', path: '/company' });
        t.match(refusal.message, countryCode === undefined ? 'no country' : `"${countryCode}"`);
      }
    });
  }
});
