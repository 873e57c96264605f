/** Sales of the two countries in every VAT situation, as their invoices are drafted. */
import type { CompanySettings } from '../../../src/server/backoffice/companies.ts';
import type { DraftLine, NewInvoice } from '../../../src/contract/feed.ts';
import type { CompanyProfile } from '../../../src/server/store/tables/companies.ts';
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

/** A sale of lines to a customer, and what else its draft says. */
type Row = [name: string, customer: Sale['customer'], lines: DraftLine[], others?: Partial<NewInvoice>];

function salesOf(company: Sale['company'], rows: readonly Row[]): Sale[] {
  return rows.map(([name, customer, lines, others]) => ({
    name,
    company,
    customer,
    draft: { lines, ...others },
  }));
}

const food = line({ description: 'Food for the opening', unitPriceMinor: 4545, vatRateBasisPoints: 900 });
const feed = line({
  description: 'Greyhound feed',
  quantity: '7',
  unitPriceMinor: 333,
  vatRateBasisPoints: 480,
});
const compensation = lineIn('O', { description: 'Compensation for a late cancellation' });
const ownWords = { ...charged(500), vatExemptionReason: 'Reverse charge: S55A VATA 94 applies' };
const charges = [lineIn('AE', charged(2000)), lineIn('AE', charged(500))];

const references = { buyerReference: 'Cost centre 12', purchaseOrderReference: 'PO-2026-118' };
const october = {
  supplyPeriod: { startDate: '2026-10-01', endDate: '2026-10-31' },
  note: 'October maintenance.',
};
const nextYear = { supplyPeriod: { startDate: '2027-01-01', endDate: '2027-12-31' } };
const [ecb, ofYen] = [exchange('0.8613', 'ECB'), exchange('0.00556', 'ECB')];
const hmrc = exchange('0.8531', 'HMRC');

const leedsInEuro = { ...leeds, currency: 'EUR' };
const marina = { ...customerIn('IE', 'EUR'), name: 'Dún Laoghaire Marina' };
const dundalk = { ...customerIn('IE', 'GBP'), name: 'Dundalk Boilers' };
const newry = { ...customerIn('GB', 'EUR'), vatId: 'XI987654353', name: 'Newry Heating' };

export const sales: readonly Sale[] = [
  ...salesOf(irish, [
    ['Irish, one rate', galway, [standard], { note: 'Thank you for your custom.' }],
    ['Irish, four rates', galway, [standard, reduced, food, feed], references],
    ['Irish, zero-rated', galway, [lineIn('Z', goods)]],
    ['Irish, exempt', galway, [lineIn('E')]],
    ['Irish, construction under reverse charge', galway, [lineIn('AE', construction)]],
    [
      'Irish, taxed beside zero-rated, exempt and reverse charge',
      galway,
      [standard, reduced, lineIn('Z', goods), lineIn('E'), lineIn('AE', construction)],
    ],
    ['Irish, reverse charge to France', lyon, [lineIn('AE', { description: 'Survey' })]],
    ['Irish, goods to France', lyon, [lineIn('K', goods)]],
    ['Irish, export in dollars', boston, [lineIn('G', goods)], ecb],
    ['Irish, taxed in dollars', boston, [standard, reduced, lineIn('Z')], ecb],
    ['Irish, taxed in yen', { ...boston, currency: 'JPY' }, [standard, reduced], ofYen],
    ['Irish, outside the scope of VAT', galway, [compensation]],
  ]),
  ...salesOf(unregistered, [['Irish, of a company that is not registered', galway, [lineIn('O')]]]),
  ...salesOf(british, [
    ['British, one rate', leeds, [british20]],
    ['British, two rates over a period', leeds, [british20, british5], october],
    ['British, a year in advance', leeds, [british20], nextYear],
    ['British, zero-rated', leeds, [lineIn('Z', goods)]],
    ['British, exempt', leeds, [lineIn('E', exempt)]],
    ['British, domestic reverse charge at one rate', leeds, [lineIn('AE', charged(2000))]],
    [
      'British, domestic reverse charge at two rates beside taxed and exempt',
      leeds,
      [british20, ...charges, lineIn('E', exempt)],
    ],
    ['British, domestic reverse charge in euro', leedsInEuro, [lineIn('AE', charged(2000))], hmrc],
    [
      'British, domestic reverse charge in words of its own, in euro',
      leedsInEuro,
      [lineIn('AE', ownWords)],
      hmrc,
    ],
    ['British, reverse charge to Ireland in euro', marina, [lineIn('AE', { description: 'Design' })], hmrc],
    ['British, export to Ireland in euro', marina, [lineIn('G', goods)], hmrc],
    ['British, two rates in euro', leedsInEuro, [british20, british5, lineIn('Z')], hmrc],
  ]),
  ...salesOf(northernIrish, [['Northern Irish, goods to Ireland', dundalk, [lineIn('K', goods)]]]),
  ...salesOf(irish, [['Irish, goods to Northern Ireland', newry, [lineIn('K', goods)]]]),
  ...salesOf(british, [['British, outside the scope of VAT', leeds, [lineIn('O')]]]),
  ...salesOf(unregisteredInBritain, [['British, of a company that is not registered', leeds, [lineIn('O')]]]),
];
