import { isTimeZone } from '../../contract/company-time.ts';
import { compactAccount, isBic, isIban } from '../../contract/ibans.ts';
import { isModule, modules } from '../../contract/scopes.ts';
import { problemOfPaymentLink } from '../../contract/payment-links.ts';
import { countryCodes } from '../../contract/code-lists.ts';
import { problemOfVatNumber } from '../../contract/vat-numbers.ts';
import { quote, UsageError } from '../../errors.ts';
import { type Company, insertCompany, updateCompanyRow } from '../store/records/companies.ts';
import type { CompanyProfile } from '../store/tables/companies.ts';
import type { Engine, StoreTransaction } from '../store/engines/engine.ts';

/** A company's settings, which can be changed at any time. */
export type CompanySettings = Omit<Company, 'id' | 'createdAt'>;

const defaults: Omit<CompanySettings, 'name'> = {
  apiEnabled: true,
  subscriptionActive: true,
  invoicingEnabled: true,
  modules: [...modules],
  timeZone: 'Europe/Dublin',
  currency: 'EUR',
  profile: {},
  issuedElsewhere: [],
  handOver: false,
  secondFactorRequired: false,
};

/** Matches a company's id, which has no full stop because API keys contain it between full stops. */
const COMPANY_ID = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const LOGO_CHARACTERS_MAX = 1_000_000;

/**
 * Creates a company, with the API, the subscription, invoicing and every module on by default.
 * @throws UsageError naming the invalid value, or when the id is taken.
 */
export async function createCompany(
  engine: Engine,
  id: string,
  given: Partial<CompanySettings>,
  now: Date,
): Promise<Company> {
  const company = newCompany(id, given, now);
  refuseBadVatId(given.profile?.vatId);
  refuseBadAccount(given.profile);
  if (!(await engine.transaction((transaction) => insertCompany(transaction, company))))
    throw new UsageError(`The company ${quote(id)} already exists.`);
  return company;
}

/**
 * Adds a company within the caller's transaction, unless one with that id exists.
 * @throws UsageError naming the invalid value.
 */
export async function insertNewCompany(
  transaction: StoreTransaction,
  id: string,
  given: Partial<CompanySettings>,
  now: Date,
): Promise<void> {
  await insertCompany(transaction, newCompany(id, given, now));
}

function newCompany(id: string, given: Partial<CompanySettings>, now: Date): Company {
  if (!COMPANY_ID.test(id)) {
    throw new UsageError(
      `The company id ${quote(id)} must be 1 to 40 lower-case letters, digits and hyphens, with no hyphen at an end.`,
      { field: 'id' },
    );
  }
  const company: Company = { id, name: id, ...defaults, ...given, createdAt: now.toISOString() };
  refuseBadSettings(company);
  return company;
}

/**
 * Changes a company's settings; profile members that aren't given keep their values.
 * @throws UsageError naming the invalid value, or when there is no such company.
 */
export async function setCompany(
  engine: Engine,
  id: string,
  changes: Partial<CompanySettings>,
): Promise<Company> {
  return engine.transaction((transaction) => changeCompany(transaction, id, changes));
}

/** Changes a company's settings like `setCompany`, but within the caller's transaction. */
export async function changeCompany(
  transaction: StoreTransaction,
  id: string,
  changes: Partial<CompanySettings>,
): Promise<Company> {
  // Checks only the values given now, so that an old invalid number doesn't block other changes.
  refuseBadVatId(changes.profile?.vatId);
  refuseBadAccount(changes.profile);
  const changed = await updateCompanyRow(transaction, id, (company) => {
    const next = { ...company, ...changes, profile: { ...company.profile, ...changes.profile } };
    refuseBadSettings(next);
    return next;
  });
  if (!changed) throw new UsageError(`There is no company ${quote(id)}.`);
  return changed;
}

function refuseBadSettings(settings: CompanySettings): void {
  const { name, timeZone, currency, profile } = settings;
  if (name.trim() === '' || [...name].length > 200)
    throw new UsageError('The name must have 1 to 200 characters.', { field: 'name' });
  if (!isTimeZone(timeZone))
    throw new UsageError(`${quote(timeZone)} is not an IANA time zone such as Europe/Dublin.`, {
      field: 'timeZone',
    });
  if (!Intl.supportedValuesOf('currency').includes(currency)) {
    throw new UsageError(`${quote(currency)} is not an ISO 4217 currency code such as EUR.`, {
      field: 'currency',
    });
  }
  // The type promises modules, but a person may have typed something else.
  const unknown = (settings.modules as string[]).find((module) => !isModule(module));
  if (unknown !== undefined) {
    throw new UsageError(`${quote(unknown)} is not a module; the modules are ${modules.join(', ')}.`);
  }
  if (profile.countryCode !== undefined && !countryCodes.has(profile.countryCode)) {
    throw new UsageError(`${quote(profile.countryCode)} is not an ISO 3166-1 country code such as IE.`, {
      field: 'countryCode',
    });
  }
  refuseBadPaymentLink(profile.paymentLink);
  refuseBadLogo(profile.logo);
}

function refuseBadVatId(vatId: string | undefined): void {
  if (vatId === undefined) return;
  const problem = problemOfVatNumber(vatId);
  if (problem !== undefined)
    throw new UsageError(`The VAT number ${quote(vatId)} ${problem}.`, { field: 'vatId' });
}

/** The maximum characters of an account name in a SEPA credit transfer and its QR code (EPC069-12). */
const ACCOUNT_NAME_CHARACTERS_MAX = 70;

/** Refuses an invalid account name, IBAN or BIC; an account number that doesn't look like an IBAN is accepted. */
function refuseBadAccount({ bankAccountName = '', iban, bic }: CompanyProfile = {}): void {
  const characters = [...bankAccountName].length;
  if (characters > ACCOUNT_NAME_CHARACTERS_MAX) {
    const message = `The name of the account has ${characters} characters, and a transfer at most ${ACCOUNT_NAME_CHARACTERS_MAX}.`;
    throw new UsageError(message, { field: 'bankAccountName' });
  }
  const [account, bank] = [compactAccount(iban), compactAccount(bic)];
  if (/^[A-Z]{2}\d{2}/.test(account) && !isIban(account))
    throw new UsageError(`${quote(account)} is not an IBAN: its length or check digits are wrong.`, {
      field: 'iban',
    });
  if (bank !== '' && !isBic(bank))
    throw new UsageError(`${quote(bank)} is not a BIC, which has 8 or 11 letters and digits.`, {
      field: 'bic',
    });
}

function refuseBadPaymentLink(link: string | undefined): void {
  if (link === undefined) return;
  const problem = problemOfPaymentLink(link);
  if (problem !== undefined)
    throw new UsageError(`The payment link ${quote(link)} ${problem}.`, { field: 'paymentLink' });
}

function refuseBadLogo(logo: string | undefined): void {
  if (logo === undefined) return;
  if (!/^data:image\/(?:png|jpeg);base64,[A-Za-z0-9+/]+=*$/.test(logo)) {
    throw new UsageError('The logo must be a PNG or JPEG picture.');
  }
  if (logo.length > LOGO_CHARACTERS_MAX) {
    throw new UsageError(`The logo must have at most ${LOGO_CHARACTERS_MAX} characters as a data URL.`);
  }
}
