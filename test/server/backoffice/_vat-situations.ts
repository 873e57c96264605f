/** VAT situations: a company, its customer, and the categories that may stand on a document between them. */
import type { CompanySettings } from '../../../src/server/access/companies.ts';
import type { DraftLine, WithOf } from '../../../src/contract/feed.ts';
import type { CompanyProfile } from '../../../src/server/store/records/companies.ts';

export interface Situation {
  name: string;
  company: Partial<CompanySettings>;
  customer: Omit<WithOf<'customer.save'>, 'id' | 'name' | 'paymentTermsDays'>;
  categories: readonly DraftLine['vatCategory'][];
}

const address = { legalName: 'Brennan Heating Limited', addressLines: ['2 Dock Road', 'Limerick'] };

export const irishProfile: CompanyProfile = { ...address, countryCode: 'IE', vatId: 'IE9876543H' };
export const britishProfile: CompanyProfile = { ...address, countryCode: 'GB', vatId: 'GB987654353' };
/** Of goods, Northern Ireland is as a member state; its companies have a second prefix for that. */
export const northernIrishProfile: CompanyProfile = { ...britishProfile, vatId: 'XI987654353' };
export const unregisteredProfile: CompanyProfile = { ...address, countryCode: 'IE', companyNumber: '654321' };

export const irishCompany: Partial<CompanySettings> = { profile: irishProfile };
export const britishCompany: Partial<CompanySettings> = {
  profile: britishProfile,
  currency: 'GBP',
  timeZone: 'Europe/London',
};
export const northernIrishCompany: Partial<CompanySettings> = {
  ...britishCompany,
  profile: northernIrishProfile,
};
export const unregisteredCompany: Partial<CompanySettings> = { profile: unregisteredProfile };

/** A customer in a country, with a VAT number of that country. */
export function customerIn(countryCode: string, currency: string): Situation['customer'] {
  const vatIds: Record<string, string> = { IE: 'IE1234567T', GB: 'GB123456782', FR: 'FR11123456782' };
  return { addressLines: ['1 Quay Street'], countryCode, currency, vatId: vatIds[countryCode] ?? null };
}

export const situations: readonly Situation[] = [
  {
    name: 'within Ireland',
    company: irishCompany,
    customer: customerIn('IE', 'EUR'),
    categories: ['S', 'S', 'S', 'Z', 'E', 'AE'],
  },
  {
    name: 'from Ireland to France',
    company: irishCompany,
    customer: customerIn('FR', 'EUR'),
    categories: ['S', 'Z', 'E', 'AE', 'K'],
  },
  {
    name: 'from Ireland to the United States, in dollars',
    company: irishCompany,
    customer: customerIn('US', 'USD'),
    categories: ['S', 'Z', 'E', 'G'],
  },
  {
    name: 'from Ireland to Japan, in yen',
    company: irishCompany,
    customer: customerIn('JP', 'JPY'),
    categories: ['S', 'G'],
  },
  {
    name: 'within the United Kingdom',
    company: britishCompany,
    customer: customerIn('GB', 'GBP'),
    categories: ['S', 'S', 'S', 'Z', 'E', 'AE'],
  },
  {
    name: 'from the United Kingdom to Ireland, in euro',
    company: britishCompany,
    customer: customerIn('IE', 'EUR'),
    categories: ['S', 'Z', 'AE', 'G'],
  },
  {
    name: 'from Northern Ireland to Ireland',
    company: northernIrishCompany,
    customer: customerIn('IE', 'GBP'),
    categories: ['S', 'K'],
  },
  {
    name: 'of a company that is not registered for VAT',
    company: unregisteredCompany,
    customer: customerIn('IE', 'EUR'),
    categories: ['O'],
  },
  {
    name: 'outside the scope of VAT',
    company: irishCompany,
    customer: customerIn('IE', 'EUR'),
    categories: ['O'],
  },
];
