import type { CompanySettings } from '../../../src/server/access/companies.ts';
import { setCompany } from '../../../src/server/access/companies.ts';
import type { DraftLine, NewInvoice, WithOf } from '../../../src/contract/feed.ts';
import type { CompanyProfile } from '../../../src/server/store/records/companies.ts';
import { without } from '../../model/_model.ts';
import {
  creditNoteOf,
  exchange,
  invoiceDraft,
  issue,
  issued,
  line,
  lineIn,
  openIssuer,
} from './_documents.ts';
import { inShort, onSqlite } from './_backoffice.ts';
import {
  britishCompany,
  britishProfile,
  customerIn,
  irishCompany,
  irishProfile,
  northernIrishCompany,
} from './_parties.ts';

/** The parts of a document that is complete but for one thing. */
interface Parts {
  profile?: CompanyProfile;
  company?: Partial<CompanySettings>;
  customer?: Partial<WithOf<'customer.save'>>;
  lines?: DraftLine[];
  given?: Partial<NewInvoice>;
}

/** The missing thing, how the refusal names it and nothing else, and the parts that lack it. */
type Gap = readonly [what: string, problem: RegExp, parts: Parts];

/** The country by which a rule is tried, where it is the same in both. */
type Side = Required<Pick<Parts, 'company' | 'profile' | 'customer'>> & { standard: DraftLine };

const large = { unitPriceMinor: 100_000 };
const inPence = line({ ...large, vatRateBasisPoints: 2000 });
const [irish, british] = [customerIn('IE', 'EUR'), customerIn('GB', 'GBP')];
const sides: Record<string, Side> = {
  IE: { company: irishCompany, profile: irishProfile, customer: irish, standard: line(large) },
  GB: { company: britishCompany, profile: britishProfile, customer: british, standard: inPence },
};

const twiceBack = (sold: DraftLine) => ({ ...sold, quantity: '-2' });
const exempt = (vatExemptionReason: string | null) => lineIn('E', { ...large, vatExemptionReason });
const why = { vatExemptionReason: 'None' };
const zeroAt23 = lineIn('Z', { vatRateBasisPoints: 2300 });
const charged = (vatExemptionReason: string) => lineIn('AE', { ...large, vatExemptionReason });

/** Gaps in the contents that both countries ask for, of a pro forma too. */
const commonGaps = ({ profile, customer, standard }: Side): Gap[] => [
  ['the supplier’s name', /no legalName/, { profile: without(profile, 'legalName') }],
  ['a name that is blank', /no legalName/, { profile: { ...profile, legalName: ' ' } }],
  ['the supplier’s address', /profile has no addressLines/, { profile: { ...profile, addressLines: [] } }],
  ['lines', /no lines/, { lines: [] }],
  ['a currency that there is', /ABC/, { customer: { ...customer, currency: 'ABC' }, given: { exchange } }],
  ['a due day after the issue', /due before its issue, on 2026-11-19/, { given: { dueDate: '2026-11-19' } }],
  [
    'an amount above zero',
    /below zero; that takes a credit note/,
    { lines: [standard, twiceBack(standard)] },
  ],
  ['a rate in category S', /line 1 .*category S/, { lines: [line({ vatRateBasisPoints: 0 })] }],
  ['no rate in category Z', /line 2 is in category Z at 2300/, { lines: [standard, zeroAt23] }],
  ['no reason beside VAT', /line 1 .*category S and has a vatExempt/, { lines: [{ ...standard, ...why }] }],
  ['a reason', /line 1 .*category E and has no vatExemptionReason/, { lines: [exempt(null)] }],
  ['a visible reason', /line 1 .*category E and has no vatExemptionReason/, { lines: [exempt('  ')] }],
  ['one reason of a category', /line 1 .*another vatExempt/, { lines: [exempt('One'), exempt('Another')] }],
  ['category O alone', /category O stands beside others/, { lines: [standard, lineIn('O')] }],
];

/** Gaps in the contents that both ask for of tax documents alone. */
const commonTaxGaps = ({ profile, customer }: Side): Gap[] => [
  ['the supplier’s VAT number', /no vatId/, { profile: without(profile, 'vatId') }],
  ['a VAT number of the country', /FR11123456782/, { profile: { ...profile, vatId: 'FR11123456782' } }],
  [
    'a number of the supplier',
    /neither vatId nor companyNumber/,
    { profile: without(profile, 'vatId', 'companyNumber'), lines: [lineIn('O')] },
  ],
  ['the customer’s address', /customer has no addressLines/, { customer: { ...customer, addressLines: [] } }],
  ['the VAT in its currency', /in USD and has no exchange/, { customer: { ...customer, currency: 'USD' } }],
];

const CONTRACTOR = 'VAT on this supply to be accounted for by the Principal Contractor.';
const toFrance = customerIn('FR', 'EUR');
const toIreland = customerIn('IE', 'GBP');
const toNorth = { ...customerIn('GB', 'EUR'), vatId: 'XI123456782' };
const northern = { company: northernIrishCompany, lines: [lineIn('K', large)] };
const british20 = lineIn('AE', { ...large, reverseChargeRateBasisPoints: 2000 });
const [union, abroad] = [[lineIn('K', large)], [lineIn('G', large)]];

/** Gaps in the contents that one country asks for, of a pro forma too. */
const ownGaps: Record<string, Gap[]> = {
  IE: [
    [
      'the VAT number of a customer under reverse charge',
      /the customer has no vatId/,
      { customer: { ...irish, vatId: null }, lines: [lineIn('AE', large)] },
    ],
    [
      'the customer’s VAT number for goods within the Union',
      /the customer has no vatId; in category K the customer's VAT number/,
      { customer: { ...toFrance, vatId: null }, lines: union },
    ],
    [
      'a VAT number of another member state',
      /customer's VAT number must be of another member state/,
      { customer: { ...toFrance, vatId: 'IE1234567T' }, lines: union },
    ],
    [
      'goods that go to another member state',
      /must go to another member state, and not to US/,
      { customer: { ...customerIn('US', 'EUR'), vatId: 'FR11123456782' }, lines: union },
    ],
    ['goods that leave the Union', /must leave .*and not go to FR/, { customer: toFrance, lines: abroad }],
    ['goods that go further', /Ireland are in category K, and not G/, { customer: toNorth, lines: abroad }],
  ],
  GB: [
    [
      'the VAT number of a customer under reverse charge',
      /the customer has no vatId/,
      { customer: { ...british, vatId: null }, lines: [british20] },
    ],
    [
      'a VAT number of the Union for goods within it',
      /needs a VAT number of the European Union, and not of GB/,
      { customer: toIreland, lines: union },
    ],
    [
      'goods that leave Northern Ireland',
      /must go to another member state, and not to GB/,
      { ...northern, customer: { ...british, vatId: 'IE1234567T' } },
    ],
    ['goods that leave the country', /must leave.* and not go to GB/, { customer: british, lines: abroad }],
  ],
};

/** The words and the rate of a reverse charge, of tax documents alone. */
const ownTaxGaps: Record<string, Gap[]> = {
  IE: [
    ['the words on construction', /doesn't say "VAT on this supply/, { lines: [charged('Reverse charge')] }],
    ['no rate beside them', /states a rate or an amount/, { lines: [charged(`${CONTRACTOR} 13.5%`)] }],
    ['no amount beside them', /states a rate or an amount/, { lines: [charged(`${CONTRACTOR} EUR 135`)] }],
    [
      'the words “reverse charge”',
      /doesn't say "Reverse charge"/,
      { customer: toFrance, lines: [charged('Article 196')] },
    ],
  ],
  GB: [
    ['the rate', /has no reverseChargeRateBasisPoints/, { lines: [lineIn('AE', large)] }],
    [
      'the words “reverse charge”',
      /doesn't say "Reverse charge"/,
      { customer: toIreland, lines: [charged('The customer pays.')] },
    ],
  ],
};

for (const [country, side] of Object.entries(sides)) {
  onSqlite(`a document of ${country} is incomplete without`, async (t, office) => {
    const ofAll = [...commonGaps(side), ...(ownGaps[country] ?? [])];
    const ofTaxDocuments = [...commonTaxGaps(side), ...(ownTaxGaps[country] ?? [])];
    for (const [what, problem, parts] of [...ofAll, ...ofTaxDocuments]) {
      const { company: settings = side.company, profile, customer = side.customer, given } = parts;
      const lines = parts.lines ?? [side.standard];
      const named = profile ? { ...settings, profile } : settings;
      const company = await openIssuer(office, { company: named, customer });
      for (const kind of ['invoice', 'pro_forma'] as const) {
        const { id } = await company.apply(invoiceDraft({ kind, lines, ...given }));
        if (kind === 'pro_forma' && ofTaxDocuments.some(([other]) => other === what)) {
          const { number } = await company.apply(issue(id));
          t.equal(number, 'PF-2026-0001', `${what}, which a pro forma may be`);
          continue;
        }
        const { message, ...refusal } = await company.refusal(issue(id));
        t.equal(inShort(refusal), 'incomplete_document /with/id', what);
        t.match(message, problem, what);
        t.notOk(message.replace(problem, '').includes(';'), `nothing else is named: ${message}`);
      }
    }
  });

  onSqlite(`a credit note of ${country} is incomplete without`, async (t, office) => {
    const { profile, customer, standard } = side;
    const cases: [what: string, problem: RegExp, given: Partial<NewInvoice>][] = [
      ['its reason', /a credit note needs its reason in note/, { note: null }],
      ['a reason that isn’t blank', /a credit note needs its reason in note/, { note: ' \n' }],
      ['an amount', /a credit note must give something back/, { lines: [{ ...standard, quantity: '0' }] }],
      ['lines', /it has no lines; a credit note must give something back/, { lines: [] }],
      ['the supplier’s name, whatever its invoice named', /no legalName/, {}],
      ['a day of issue that isn’t before its invoice’s', /before its invoice, which is of 2026-11-20/, {}],
    ];
    for (const [what, problem, given] of cases) {
      const company = await openIssuer(office, { company: side.company, customer });
      const invoice = await issued(company, invoiceDraft({ lines: [standard] }));
      const { id } = await company.apply(creditNoteOf(invoice, { lines: [standard], ...given }));
      const early = what.startsWith('a day') ? { at: '2026-11-19T12:00:00Z' } : {};
      if (what.startsWith('the supplier'))
        await setCompany(office.engine, company.id, { profile: { ...profile, legalName: '' } });
      const { message, ...refusal } = await company.refusal({ ...issue(id), ...early });
      t.equal(inShort(refusal), 'incomplete_document /with/id', what);
      t.match(message, problem, what);
    }
  });
}

onSqlite('a company of another country, or of none, issues nothing', async (t, office) => {
  const rest = without(irishProfile, 'countryCode');
  for (const countryCode of ['FR', 'US', 'XI', undefined]) {
    const profile = countryCode === undefined ? rest : { ...rest, countryCode };
    const company = await openIssuer(office, { company: { profile } });
    for (const kind of ['invoice', 'pro_forma'] as const) {
      const { id } = await company.apply(invoiceDraft({ kind }));
      const { message, ...refusal } = await company.refusal(issue(id));
      t.equal(inShort(refusal), 'unsupported_country /company');
      t.match(message, countryCode === undefined ? 'no country' : `"${countryCode}"`);
    }
  }
});
