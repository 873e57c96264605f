/** Sales of the two countries in every VAT situation, as their invoices are drafted. */
import type { CompanySettings } from '../../../src/server/access/companies.ts';
import type { DraftLine, NewInvoice } from '../../../src/contract/feed.ts';
import type { CompanyProfile } from '../../../src/server/store/records/companies.ts';
import { line, lineIn } from '../backoffice/_documents.ts';
import { customerIn } from '../backoffice/_parties.ts';
import type { Sale } from './_documents.ts';

/** A grey square of 32 by 32 pixels. */
export const LOGO =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAAAAABWESUoAAAAGUlEQVR4XmNoIABGFUDAqAIIGFUAASNEAQBCAAAfKTFvAwAAAABJRU5ErkJggg==';

const irishProfile: CompanyProfile = {
  legalName: 'Brennan Heating & Electrical Limited',
  tradingName: 'Brennan Heating',
  addressLines: ['Unit 4, Ballymount Road', 'Dublin 12'],
  postcode: 'D12 Y8X4',
  countryCode: 'IE',
  vatId: 'IE6388047V',
  companyNumber: '654321',
  email: 'accounts@brennan.example',
  phone: '+353 1 555 0123',
  website: 'https://brennan.example',
  bankAccountName: 'Brennan Heating & Electrical Ltd',
  iban: 'IE29AIBK93115212345678',
  bic: 'AIBKIE2DXXX',
  logo: LOGO,
};
const britishProfile: CompanyProfile = {
  legalName: 'Castle Street Plumbing Limited',
  addressLines: ['7 Castle Street', 'Cardiff'],
  postcode: 'CF10 1BS',
  countryCode: 'GB',
  vatId: 'GB123456782',
  companyNumber: '01234567',
  email: 'accounts@castle.example',
  phone: '+44 29 2018 0000',
  bankAccountName: 'Castle Street Plumbing Ltd',
  iban: 'GB29NWBK60161331926819',
  bic: 'NWBKGB2L',
};

export const irish: Partial<CompanySettings> = { profile: irishProfile };
export const british: Partial<CompanySettings> = {
  profile: britishProfile,
  currency: 'GBP',
  timeZone: 'Europe/London',
};
export const northernIrish = { ...british, profile: { ...britishProfile, vatId: 'XI123456782' } };
export const unregistered = { ...irish, profile: withoutVatId(irishProfile) };
const unregisteredInBritain = { ...british, profile: withoutVatId(britishProfile) };

const standard = line({ description: 'Labour', quantity: '2.5', unitCode: 'HUR', unitPriceMinor: 6550 });
const reduced = line({ description: 'Boiler service', unitPriceMinor: 12_333, vatRateBasisPoints: 1350 });
const british20 = { ...standard, vatRateBasisPoints: 2000 };
const british5 = line({
  description: 'Radiator',
  quantity: '3',
  unitPriceMinor: 8999,
  vatRateBasisPoints: 500,
});
const goods: Partial<DraftLine> = {
  description: 'Heat pump, 8 kW',
  unitPriceMinor: 412_050,
  unitCode: 'H87',
};
const construction: Partial<DraftLine> = {
  description: 'First fix, blocks A to C',
  unitPriceMinor: 1_250_000,
};
const exempt = { vatExemptionReason: 'Exempt: VATA 1994 Sch 9 Group 6' };
const charged = (rate: number): Partial<DraftLine> => ({
  ...construction,
  reverseChargeRateBasisPoints: rate,
});

const galway = { ...customerIn('IE', 'EUR'), legalName: 'Harbour View Hotel Limited' };
const leeds = { ...customerIn('GB', 'GBP'), name: 'Leeds Letting', addressLines: ['12 Park Row', 'Leeds'] };
const lyon = {
  ...customerIn('FR', 'EUR'),
  name: 'Hôtel du Rhône',
  addressLines: ['3 quai Jules-Courmont', '69002 Lyon'],
};
const boston = {
  ...customerIn('US', 'USD'),
  name: 'Back Bay Inn',
  addressLines: ['1 Boylston St', 'Boston, MA'],
};

function withoutVatId({ vatId: _vatId, ...profile }: CompanyProfile): CompanyProfile {
  return profile;
}

function exchange(exchangeRate: string, exchangeRateSource: string): Pick<NewInvoice, 'exchange'> {
  return { exchange: { exchangeRate, exchangeRateDate: '2026-11-19', exchangeRateSource } };
}

export const sales: readonly Sale[] = [
  {
    name: 'Irish, one rate',
    company: irish,
    customer: galway,
    draft: { lines: [standard], note: 'Thank you for your custom.' },
  },
  {
    name: 'Irish, four rates',
    company: irish,
    customer: galway,
    draft: {
      lines: [
        standard,
        reduced,
        line({ description: 'Food for the opening', unitPriceMinor: 4545, vatRateBasisPoints: 900 }),
        line({ description: 'Greyhound feed', quantity: '7', unitPriceMinor: 333, vatRateBasisPoints: 480 }),
      ],
      buyerReference: 'Cost centre 12',
      purchaseOrderReference: 'PO-2026-118',
    },
  },
  { name: 'Irish, zero-rated', company: irish, customer: galway, draft: { lines: [lineIn('Z', goods)] } },
  { name: 'Irish, exempt', company: irish, customer: galway, draft: { lines: [lineIn('E')] } },
  {
    name: 'Irish, construction under reverse charge',
    company: irish,
    customer: galway,
    draft: { lines: [lineIn('AE', construction)] },
  },
  {
    name: 'Irish, taxed beside zero-rated, exempt and reverse charge',
    company: irish,
    customer: galway,
    draft: { lines: [standard, reduced, lineIn('Z', goods), lineIn('E'), lineIn('AE', construction)] },
  },
  {
    name: 'Irish, reverse charge to France',
    company: irish,
    customer: lyon,
    draft: { lines: [lineIn('AE', { description: 'Survey' })] },
  },
  { name: 'Irish, goods to France', company: irish, customer: lyon, draft: { lines: [lineIn('K', goods)] } },
  {
    name: 'Irish, export in dollars',
    company: irish,
    customer: boston,
    draft: { lines: [lineIn('G', goods)], ...exchange('0.8613', 'ECB') },
  },
  {
    name: 'Irish, taxed in dollars',
    company: irish,
    customer: boston,
    draft: { lines: [standard, reduced, lineIn('Z')], ...exchange('0.8613', 'ECB') },
  },
  {
    name: 'Irish, taxed in yen',
    company: irish,
    customer: { ...boston, currency: 'JPY' },
    draft: { lines: [standard, reduced], ...exchange('0.00556', 'ECB') },
  },
  {
    name: 'Irish, outside the scope of VAT',
    company: irish,
    customer: galway,
    draft: { lines: [lineIn('O', { description: 'Compensation for a late cancellation' })] },
  },
  {
    name: 'Irish, of a company that is not registered',
    company: unregistered,
    customer: galway,
    draft: { lines: [lineIn('O')] },
  },
  { name: 'British, one rate', company: british, customer: leeds, draft: { lines: [british20] } },
  {
    name: 'British, two rates over a period',
    company: british,
    customer: leeds,
    draft: {
      lines: [british20, british5],
      supplyPeriod: { startDate: '2026-10-01', endDate: '2026-10-31' },
      note: 'October maintenance.',
    },
  },
  {
    name: 'British, a year in advance',
    company: british,
    customer: leeds,
    draft: { lines: [british20], supplyPeriod: { startDate: '2027-01-01', endDate: '2027-12-31' } },
  },
  { name: 'British, zero-rated', company: british, customer: leeds, draft: { lines: [lineIn('Z', goods)] } },
  { name: 'British, exempt', company: british, customer: leeds, draft: { lines: [lineIn('E', exempt)] } },
  {
    name: 'British, domestic reverse charge at one rate',
    company: british,
    customer: leeds,
    draft: { lines: [lineIn('AE', charged(2000))] },
  },
  {
    name: 'British, domestic reverse charge at two rates beside taxed and exempt',
    company: british,
    customer: leeds,
    draft: {
      lines: [british20, lineIn('AE', charged(2000)), lineIn('AE', charged(500)), lineIn('E', exempt)],
    },
  },
  {
    name: 'British, domestic reverse charge in euro',
    company: british,
    customer: { ...leeds, currency: 'EUR' },
    draft: { lines: [lineIn('AE', charged(2000))], ...exchange('0.8531', 'HMRC') },
  },
  {
    name: 'British, domestic reverse charge in words of its own, in euro',
    company: british,
    customer: { ...leeds, currency: 'EUR' },
    draft: {
      lines: [lineIn('AE', { ...charged(500), vatExemptionReason: 'Reverse charge: S55A VATA 94 applies' })],
      ...exchange('0.8531', 'HMRC'),
    },
  },
  {
    name: 'British, reverse charge to Ireland in euro',
    company: british,
    customer: { ...customerIn('IE', 'EUR'), name: 'Dún Laoghaire Marina' },
    draft: { lines: [lineIn('AE', { description: 'Design' })], ...exchange('0.8531', 'HMRC') },
  },
  {
    name: 'British, export to Ireland in euro',
    company: british,
    customer: { ...customerIn('IE', 'EUR'), name: 'Dún Laoghaire Marina' },
    draft: { lines: [lineIn('G', goods)], ...exchange('0.8531', 'HMRC') },
  },
  {
    name: 'British, two rates in euro',
    company: british,
    customer: { ...leeds, currency: 'EUR' },
    draft: { lines: [british20, british5, lineIn('Z')], ...exchange('0.8531', 'HMRC') },
  },
  {
    name: 'Northern Irish, goods to Ireland',
    company: northernIrish,
    customer: { ...customerIn('IE', 'GBP'), name: 'Dundalk Boilers' },
    draft: { lines: [lineIn('K', goods)] },
  },
  {
    name: 'Irish, goods to Northern Ireland',
    company: irish,
    customer: { ...customerIn('GB', 'EUR'), vatId: 'XI987654353', name: 'Newry Heating' },
    draft: { lines: [lineIn('K', goods)] },
  },
  {
    name: 'British, outside the scope of VAT',
    company: british,
    customer: leeds,
    draft: { lines: [lineIn('O')] },
  },
  {
    name: 'British, of a company that is not registered',
    company: unregisteredInBritain,
    customer: leeds,
    draft: { lines: [lineIn('O')] },
  },
];
