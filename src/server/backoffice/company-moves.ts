import { changeCompany, type CompanySettings, insertNewCompany } from './companies.ts';
import type { ChangeContent } from '../../contract/feed.ts';
import { UsageError } from '../../errors.ts';
import { logoFromDataUrl } from '../logos/logo.ts';
import type { StoreTransaction } from '../store/engines/engine.ts';
import type { CompanyProfile } from '../store/tables/companies.ts';
import { namedProfile, refuseBadParty } from './document-terms.ts';
import type { Move } from './move.ts';
import { advancePastImported, setSeriesOf } from './numbering.ts';
import { Refusal } from './refusal.ts';
import { daysAfter } from './times.ts';

const YEAR_DAYS = 365;

/** Adds the company of a `company.save`, with the API and invoicing off, unless it exists. */
export async function addCompany(transaction: StoreTransaction, id: string, now: Date): Promise<void> {
  const settings = { apiEnabled: false, invoicingEnabled: false };
  await refusing('', () => insertNewCompany(transaction, id, settings, now));
}

/** Changes a company's name, settings and profile; members that aren't given keep their values, and null removes one. */
export async function saveCompany(
  move: Move,
  { name, timeZone, currency, ...profile }: ChangeContent<'company.save'>,
): Promise<undefined> {
  const changes = namedProfile(profile);
  refuseBadParty(changes, '/with');
  await change(move, { ...given({ name, timeZone, currency }), profile: changes });
}

/**
 * Changes a company's features, the kinds of document issued elsewhere, and hand-over to the access point; members not given
 * keep their values. The numbers of a kind that is issued here again continue from its imported documents.
 */
export async function setCompanyFeatures(
  move: Move,
  { api, subscription, invoicing, modules, issuedElsewhere, handOver }: ChangeContent<'company.switch'>,
): Promise<undefined> {
  const switches = {
    apiEnabled: api,
    subscriptionActive: subscription,
    invoicingEnabled: invoicing,
    modules,
  };
  await change(move, given({ ...switches, issuedElsewhere, handOver }));
  const { transaction, company, today } = move;
  const isBack = (kind: string) => issuedElsewhere?.some((other) => other === kind) === false;
  for (const kind of company.issuedElsewhere.filter(isBack))
    // Documents dated last year can still be issued.
    for (const day of [today, daysAfter(today, -YEAR_DAYS)])
      await advancePastImported(transaction, company.id, { kind, day });
}

/** Sets or removes the logo of documents issued from now on. */
export async function setLogo(move: Move, { logo }: ChangeContent<'logo.set'>): Promise<undefined> {
  await change(move, { profile: { logo: logo === null ? undefined : readable(logo) } as CompanyProfile });
}

function readable(logo: string): string {
  try {
    return logoFromDataUrl(logo);
  } catch (error) {
    const message = `Documents can't show the logo: ${(error as Error).message}.`;
    throw new Refusal('invalid_change', message, '/with/logo');
  }
}

/** Sets the number format for a kind of document, or the number from which its series continues. */
export async function setSeries(move: Move, what: ChangeContent<'numbering.set'>): Promise<undefined> {
  const { transaction, company, today: day } = move;
  await refusing('/with', () => setSeriesOf(transaction, company.id, { ...what, day }));
}

async function change({ transaction, company }: Move, settings: Partial<CompanySettings>): Promise<void> {
  await refusing('/with', () => changeCompany(transaction, company.id, settings));
}

/** Returns the members that are defined, because undefined ones would overwrite existing values. */
function given<T extends object>(members: { [K in keyof T]: T[K] | undefined }): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Returns the result of code shared with a command, and turns its UsageError into a refusal of a member of the change. */
async function refusing<T>(around: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { field } = error;
    const path = field === 'id' ? '/company' : field === undefined ? around : `${around}/${field}`;
    throw new Refusal('invalid_change', error.message, path);
  }
}
