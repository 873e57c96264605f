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
import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { putRecords } from '../../_records.ts';
import { type EngineName, keyFor, startEmptyServer, STORY_NOW } from '../../_server.ts';

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
  return { resource: 'people', record: { ...exampleOf('people'), ...given } };
}

export function customerOf(given: Given<Customer>): ResourceRecord {
  return { resource: 'customers', record: { ...exampleOf('customers'), updatedAt: MADE_AT, ...given } };
}

export function formOf(given: Given<Form>): ResourceRecord {
  return { resource: 'forms', record: { ...exampleOf('forms'), updatedAt: MADE_AT, ...given } };
}

export function jobOf(given: Given<Job>): ResourceRecord {
  return { resource: 'jobs', record: { ...exampleOf('jobs'), updatedAt: MADE_AT, ...given } };
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

/** The reference to a customer in documents. */
export function customerRef(id: string): { id: string; type: string; name: string } {
  return { id, type: 'customer', name: 'Harbour View Hotel' };
}

/** A draft, or what was issued on a day: the members of a draft are those that every document has. */
export function invoiceOf(given: Given<Invoice>): ResourceRecord {
  const { issueDate = null } = given;
  const draft = examplesOf('invoices').find(({ status }) => status === 'draft');
  if (!draft) throw new Error('The contract has no example of a draft.');
  const record: Invoice = {
    ...draft,
    status: issueDate === null ? 'draft' : 'issued',
    number: issueDate === null ? null : `INV-${given.id}`,
    customer: customerRef('cus_1'),
    issuedAt: issueDate === null ? null : `${issueDate}T10:00:00.000Z`,
    updatedAt: MADE_AT,
    links: { self: `/api/v1/invoices/${given.id}`, pdf: `/api/v1/invoices/${given.id}/pdf` },
    ...given,
  };
  return { resource: 'invoices', record };
}

export function quoteOf(given: Given<Quote>): ResourceRecord {
  const record: Quote = {
    ...exampleOf('quotes'),
    quoteGroupId: given.id,
    version: 1,
    supersedesQuoteId: null,
    status: 'sent',
    customer: customerRef('cus_1'),
    validUntil: null,
    updatedAt: MADE_AT,
    links: { self: `/api/v1/quotes/${given.id}` },
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

/** Starts a server on which `acme` has these records, and gives a key of it that may read all. */
export async function startAcme(
  t: Parameters<typeof startEmptyServer>[0],
  records: readonly ResourceRecord[],
  [name, options]: [EngineName, Parameters<typeof startEmptyServer>[2]?] = ['sqlite'],
) {
  const started = await startEmptyServer(t, name, options);
  await createCompany(started.engine, 'acme', {}, STORY_NOW);
  await store(started.engine, 'acme', records);
  const key = await keyFor(started.engine, 'acme');
  return { ...started, key, headers: { authorization: `Bearer ${key}` } };
}
