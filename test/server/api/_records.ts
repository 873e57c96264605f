import type {
  Customer,
  Form,
  Invoice,
  Job,
  Person,
  Quote,
  RecordOf,
  Resource,
  ResourceRecord,
  Submission,
} from '../../../src/contract/records.ts';
import { renderRecord } from '../../../src/contract/render.ts';
import { examplesOf } from '../../../src/demo/example-company.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { putRecords } from '../../_records.ts';

/** A time at which records were made when nothing else is said. */
const MADE_AT = '2026-11-01T09:00:00.000Z';

/** An example, so that a member that the contract gains has a value here too. */
function exampleOf<R extends Resource>(resource: R): RecordOf[R] {
  const [example] = examplesOf(resource);
  if (!example) throw new Error(`The contract has no example of ${resource}.`);
  return example;
}

type Given<T> = Partial<T> & { id: string };

/** A UUID whose order among the others is that of the numbers. */
export function uuidOf(index: number): string {
  return `019a0000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`;
}

/** An id with a prefix whose order among the others is that of the numbers. */
export function idOf(prefix: string, index: number): string {
  return `${prefix}_${index.toString().padStart(8, '0')}`;
}

export function personOf(given: Given<Person>): ResourceRecord {
  const record: Person = {
    ...exampleOf('people'),
    displayName: 'Aoife Byrne',
    email: 'aoife@brennan.example',
    status: 'active',
    roleId: 'role_1',
    roleName: 'Engineer',
    jobTitle: null,
    teamId: null,
    ...given,
  };
  return { resource: 'people', record };
}

export function customerOf(given: Given<Customer>): ResourceRecord {
  const record: Customer = {
    ...exampleOf('customers'),
    name: 'Harbour View Hotel',
    legalName: null,
    archived: false,
    addressLines: ['1 Quay Street'],
    countryCode: 'IE',
    vatId: null,
    email: null,
    contactName: null,
    currency: 'EUR',
    paymentTermsDays: 30,
    contacts: [],
    sites: [],
    createdAt: MADE_AT,
    updatedAt: MADE_AT,
    ...given,
  };
  return { resource: 'customers', record };
}

export function formOf(given: Given<Form>): ResourceRecord {
  const record: Form = {
    ...exampleOf('forms'),
    title: 'Safety check',
    description: '',
    published: true,
    revision: 1,
    fields: [],
    updatedAt: MADE_AT,
    ...given,
  };
  return { resource: 'forms', record };
}

export function jobOf(given: Given<Job>): ResourceRecord {
  const record: Job = {
    ...exampleOf('jobs'),
    title: 'Service the boiler',
    statusLabelId: 'label_1',
    completed: false,
    completedAt: null,
    dates: [],
    assignedTo: [],
    teamId: null,
    customerId: 'cus_1',
    jobTypeId: 'type_1',
    jobTypeVersion: 1,
    customFields: {},
    notes: '',
    createdAt: MADE_AT,
    createdBy: 'per_1',
    updatedAt: MADE_AT,
    ...given,
  };
  return { resource: 'jobs', record };
}

export function submissionOf(given: Given<Submission>): ResourceRecord {
  const record: Submission = {
    formId: 'form_1',
    formRevision: 1,
    submittedBy: 'per_1',
    submittedAt: MADE_AT,
    createdAt: MADE_AT,
    answers: {},
    files: {},
    ...given,
  };
  return { resource: 'submissions', record };
}

const buyer = {
  name: 'Harbour View Hotel',
  legalName: null,
  vatId: null,
  addressLines: [],
  countryCode: 'IE',
  contactName: null,
  email: null,
  site: null,
};

const totals = { netMinor: 0, vatMinor: 0, grossMinor: 0 };

/** The reference to a customer in documents. */
export function customerRef(id: string): { id: string; type: string; name: string } {
  return { id, type: 'customer', name: 'Harbour View Hotel' };
}

export function invoiceOf(given: Given<Invoice>): ResourceRecord {
  const issueDate = given.issueDate ?? null;
  const record: Invoice = {
    kind: 'invoice',
    status: issueDate === null ? 'draft' : 'issued',
    number: issueDate === null ? null : `INV-${given.id}`,
    customer: customerRef('cus_1'),
    siteId: null,
    currency: 'EUR',
    issueDate: null,
    supplyDate: null,
    supplyPeriod: null,
    dueDate: null,
    paymentTermsDays: 30,
    buyerReference: null,
    purchaseOrderReference: null,
    creditsInvoiceId: null,
    totals,
    vatBreakdown: [],
    accountingCurrency: null,
    issuedAt: issueDate === null ? null : `${issueDate}T10:00:00.000Z`,
    createdAt: MADE_AT,
    updatedAt: MADE_AT,
    links: { self: `/api/v1/invoices/${given.id}`, pdf: `/api/v1/invoices/${given.id}/pdf` },
    note: null,
    buyer,
    lines: [],
    creditNotes: [],
    creditedInvoice: null,
    ...given,
  };
  return { resource: 'invoices', record };
}

export function quoteOf(given: Given<Quote>): ResourceRecord {
  const record: Quote = {
    ...exampleOf('quotes'),
    quoteGroupId: given.id,
    number: 'Q-1',
    version: 1,
    supersedesQuoteId: null,
    status: 'sent',
    title: 'Heat pump',
    customer: customerRef('cus_1'),
    siteId: null,
    currency: 'EUR',
    validUntil: null,
    sentDate: null,
    respondedAt: null,
    buyerReference: null,
    totals,
    vatBreakdown: [],
    convertedJobId: null,
    convertedInvoiceId: null,
    createdAt: MADE_AT,
    updatedAt: MADE_AT,
    links: { self: `/api/v1/quotes/${given.id}` },
    note: null,
    buyer,
    lines: [],
    ...given,
  };
  return { resource: 'quotes', record };
}

/** Puts records into a company's store the way the program does: each is checked against the contract. */
export async function store(
  engine: Engine,
  company: string,
  records: readonly ResourceRecord[],
): Promise<void> {
  await putRecords(engine, company, records.map(renderRecord));
}
