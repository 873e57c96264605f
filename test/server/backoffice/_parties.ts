/** Companies that are registered for VAT here and there, and their customers. */
import type { CompanySettings } from '../../../src/server/backoffice/companies.ts';
import type { ChangeContent } from '../../../src/contract/feed.ts';
import type { CompanyProfile } from '../../../src/server/store/tables/companies.ts';

const address = { legalName: 'Brennan Heating Limited', addressLines: ['2 Dock Road', 'Limerick'] };

export const irishProfile: CompanyProfile = { ...address, countryCode: 'IE', vatId: 'IE9876543H' };
export const britishProfile: CompanyProfile = { ...address, countryCode: 'GB', vatId: 'GB987654353' };
/** Of goods, Northern Ireland is as a member state; its companies have a second prefix for that. */
export const northernIrishProfile: CompanyProfile = { ...britishProfile, vatId: 'XI987654353' };
/** A sole trader, who is in no register. */
export const unregisteredProfile: CompanyProfile = { ...address, countryCode: 'IE' };

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

export function customerIn(
  countryCode: string,
  currency: string,
): Omit<ChangeContent<'customer.save'>, 'id' | 'name' | 'paymentTermsDays'> {
  const vatIds: Record<string, string> = { IE: 'IE1234567T', GB: 'GB123456782', FR: 'FR11123456782' };
  return { addressLines: ['1 Quay Street'], countryCode, currency, vatId: vatIds[countryCode] ?? null };
}
