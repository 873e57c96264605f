import { exampleBodies } from '../contract/examples.ts';
import type { OperationId } from '../contract/operations.ts';
import type { RecordOf, Resource } from '../contract/records.ts';
import type { CompanyProfile } from '../server/store/tables/companies.ts';
import type { TeamChange } from './story.ts';

/** Something that the team of the example company did, and when. */
export type Told<Name extends TeamChange['change'] = TeamChange['change']> = TeamChange<Name> & {
  at: string;
};

/** The company that the contract's examples describe. */
export const exampleCompany = {
  id: 'brennan',
  name: 'Brennan Heating & Electrical',
  profile: {
    legalName: 'Brennan Heating & Electrical Ltd',
    addressLines: ['14 Grattan Row', 'Dublin 8'],
    postcode: 'D08 X4K2',
    countryCode: 'IE',
    vatId: 'IE3290618T',
    companyNumber: '481726',
    email: 'office@brennan.example',
    phone: '+353 1 555 0142',
    website: 'https://brennan.example',
    bankAccountName: 'Brennan Heating & Electrical Ltd',
    iban: 'IE29AIBK93115212345678',
    bic: 'AIBKIE2D',
  } satisfies CompanyProfile,
};

/** The operations whose examples hold whole records: invoices and quotes have their details only one by one. */
const sources = {
  people: 'listPeople',
  customers: 'listCustomers',
  forms: 'listForms',
  jobs: 'listJobs',
  submissions: 'listFormSubmissions',
  invoices: 'getInvoice',
  quotes: 'getQuote',
} as const satisfies Record<Resource, OperationId>;

/** The records of a resource as the contract shows them, each once. */
export function examplesOf<R extends Resource>(resource: R): RecordOf[R][] {
  // A test validates each example against the contract.
  const records = exampleBodies(sources[resource]).flatMap(({ data }) => data as RecordOf[R] | RecordOf[R][]);
  return [...new Map(records.map((record) => [record.id, record])).values()];
}

export function pick<T extends object, K extends keyof T>(record: T, ...names: K[]): Pick<T, K> {
  // It has each of the names, and nothing else.
  return Object.fromEntries(names.map((name) => [name, record[name]])) as Pick<T, K>;
}
