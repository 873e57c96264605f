import type { CompanySettings } from '../../../src/server/backoffice/companies.ts';
import { setCompany } from '../../../src/server/backoffice/companies.ts';
import type { DraftLine, NewInvoice, ChangeContent } from '../../../src/contract/feed.ts';
import type { CompanyProfile } from '../../../src/server/store/tables/companies.ts';
import { without } from '../../model/_model.ts';
import { creditNoteOf, invoiceDraft, issue, issued, line, lineIn, openIssuer } from './_documents.ts';
import { exchange } from './_issued.ts';
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
  customer?: Partial<ChangeContent<'customer.save'>>;
  lines?: DraftLine[];
  given?: Partial<NewInvoice>;
}

/** How a refusal names the missing thing, and nothing else, and the parts that lack it. */
type Gap = readonly [problem: RegExp, parts: Parts];

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
  [/no legalName/, { profile: without(profile, 'legalName') }],
  [/profile has no addressLines/, { profile: { ...profile, addressLines: [] } }],
  [/no lines/, { lines: [] }],
  [/ABC/, { customer: { ...customer, currency: 'ABC' }, given: { exchange } }],
  [/due before its issue, on 2026-11-19/, { given: { dueDate: '2026-11-19' } }],
  [/below zero; that takes a credit note/, { lines: [standard, twiceBack(standard)] }],
  [/line 1 .*category S/, { lines: [line({ vatRateBasisPoints: 0 })] }],
  [/line 2 is in category Z at 2300/, { lines: [standard, zeroAt23] }],
  [/line 1 .*category S and has a vatExempt/, { lines: [{ ...standard, ...why }] }],
  [/line 1 .*category E and has no vatExemptionReason/, { lines: [exempt(null)] }],
  [/line 1 .*another vatExempt/, { lines: [exempt('One'), exempt('Another')] }],
  [/category O can't be combined with others/, { lines: [standard, lineIn('O')] }],
];

/** Gaps in the contents that both ask for of tax documents alone. */
const commonTaxGaps = ({ profile, customer }: Side): Gap[] => [
  [/no vatId/, { profile: without(profile, 'vatId') }],
  [/FR11123456782/, { profile: { ...profile, vatId: 'FR11123456782' } }],
  [/customer has no addressLines/, { customer: { ...customer, addressLines: [] } }],
  [/in USD and has no exchange/, { customer: { ...customer, currency: 'USD' } }],
];

const CONTRACTOR = 'VAT on this supply to be accounted for by the Principal Contractor.';
const toFrance = customerIn('FR', 'EUR');
const toAmerica = customerIn('US', 'EUR');
const toIreland = customerIn('IE', 'GBP');
const sold = (customer: Side['customer'], vatId: string | null | undefined) => ({
  customer: { ...customer, vatId: vatId ?? null },
});
const toNorth = { ...customerIn('GB', 'EUR'), vatId: 'XI123456782' };
const northern = { company: northernIrishCompany, lines: [lineIn('K', large)] };
const british20 = lineIn('AE', { ...large, reverseChargeRateBasisPoints: 2000 });
const [union, abroad] = [[lineIn('K', large)], [lineIn('G', large)]];

/** Gaps in the contents that one country asks for, of a pro forma too. */
const ownGaps: Record<string, Gap[]> = {
  IE: [
    [/the customer has no vatId/, { ...sold(irish, null), lines: [lineIn('AE', large)] }],
    [/no vatId; in category K the customer's VAT number/, { ...sold(toFrance, null), lines: union }],
    [/VAT number must be of another member state/, { ...sold(toFrance, 'IE1234567T'), lines: union }],
    [/must go to another member state, and not to US/, { ...sold(toAmerica, toFrance.vatId), lines: union }],
    [/must leave .*and not go to FR/, { customer: toFrance, lines: abroad }],
    [/Ireland are in category K, and not G/, { customer: toNorth, lines: abroad }],
  ],
  GB: [
    [/the customer has no vatId/, { ...sold(british, null), lines: [british20] }],
    [/needs a VAT number of the European Union, and not of GB/, { customer: toIreland, lines: union }],
    [/must go to another member state, and not to GB/, { ...northern, ...sold(british, 'IE1234567T') }],
    [/must leave.* and not go to GB/, { customer: british, lines: abroad }],
  ],
};

/** The words and the rate of a reverse charge, of tax documents alone. */
const ownTaxGaps: Record<string, Gap[]> = {
  IE: [
    [/doesn't say "VAT on this supply/, { lines: [charged('Reverse charge')] }],
    [/states a rate or an amount/, { lines: [charged(`${CONTRACTOR} 13.5%`)] }],
    [/states a rate or an amount/, { lines: [charged(`${CONTRACTOR} EUR 135`)] }],
    [/doesn't say "Reverse charge"/, { customer: toFrance, lines: [charged('Article 196')] }],
  ],
  GB: [
    [/has no reverseChargeRateBasisPoints/, { lines: [lineIn('AE', large)] }],
    [/doesn't say "Reverse charge"/, { customer: toIreland, lines: [charged('The customer pays.')] }],
  ],
};

for (const [country, side] of Object.entries(sides)) {
  onSqlite(`a document of ${country} is incomplete without`, async (t, office) => {
    const ofAll = [...commonGaps(side), ...(ownGaps[country] ?? [])];
    const ofTaxDocuments = [...commonTaxGaps(side), ...(ownTaxGaps[country] ?? [])];
    for (const [problem, parts] of [...ofAll, ...ofTaxDocuments]) {
      const what = problem.source;
      const { company: settings = side.company, profile, customer = side.customer, given } = parts;
      const lines = parts.lines ?? [side.standard];
      const named = profile ? { ...settings, profile } : settings;
      const company = await openIssuer(office, { company: named, customer });
      for (const kind of ['invoice', 'pro_forma'] as const) {
        const { id } = await company.apply(invoiceDraft({ kind, lines, ...given }));
        if (kind === 'pro_forma' && ofTaxDocuments.some(([other]) => other === problem)) {
          const { number } = await company.apply(issue(id));
          t.equal(number, 'PF-2026-0001', `a pro forma with ${what}`);
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
