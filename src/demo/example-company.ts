import { exampleBodies } from '../contract/examples.ts';
import type { Resource, ResourceRecord } from '../contract/records.ts';
import type { CompanyProfile } from '../store/companies.ts';

/** The company that the contract's examples describe (design.md section 2, point 6). */
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
} as const satisfies Record<Resource, string>;

/** Every record of the example company, each once, as it is stored. */
export function exampleRecords(): ResourceRecord[] {
  return Object.entries(sources).flatMap(([resource, operationId]) => {
    const records = exampleBodies(operationId).flatMap(
      ({ data }) => data as { id: string }[] | { id: string },
    );
    const byId = new Map(records.map((record) => [record.id, record]));
    // `renderRecord` validates each against the contract before it is stored.
    return [...byId.values()].map((record) => asStored({ resource, record } as unknown as ResourceRecord));
  });
}

/** An expired quote is stored as it was sent: it reads as expired because its last valid day is over. */
function asStored(record: ResourceRecord): ResourceRecord {
  if (record.resource !== 'quotes' || record.record.status !== 'expired') return record;
  return { ...record, record: { ...record.record, status: 'sent' } };
}
