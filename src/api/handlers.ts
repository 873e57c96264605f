import type { Customer, Form, Job } from '../contract/records.ts';
import type { Documents } from '../invoice-pdf/documents.ts';
import type { Engine } from '../store/engines/engine.ts';
import { createInvoiceFinder } from '../store/records/invoices.ts';
import { createListReader } from '../store/lists/lists.ts';
import { createQuoteFinder } from '../store/records/quotes.ts';
import { createRecordFinder } from '../store/records/records.ts';
import type { Handlers } from './handler.ts';
import { getCustomer } from './operations/getCustomer.ts';
import { getInvoice } from './operations/getInvoice.ts';
import { getInvoicePdf } from './operations/getInvoicePdf.ts';
import { getJob } from './operations/getJob.ts';
import { getQuote } from './operations/getQuote.ts';
import { listCustomers } from './operations/listCustomers.ts';
import { listForms } from './operations/listForms.ts';
import { listFormSubmissions } from './operations/listFormSubmissions.ts';
import { listInvoices } from './operations/listInvoices.ts';
import { listJobs } from './operations/listJobs.ts';
import { listPeople } from './operations/listPeople.ts';
import { listQuotes } from './operations/listQuotes.ts';

/** The needs of all handlers together; each gets its part. */
export interface HandlerNeeds {
  engine: Engine;
  documents: Pick<Documents, 'find'>;
  now: () => Date;
}

/** Ties every operation of the contract to the part of the store that it needs. */
export function createHandlers({ engine, documents, now }: HandlerNeeds): Handlers {
  const read = createListReader(engine);
  return {
    listJobs: listJobs(read),
    getJob: getJob(createRecordFinder<Job>(engine, 'jobs')),
    listPeople: listPeople(read),
    listForms: listForms(read),
    listFormSubmissions: listFormSubmissions(read, createRecordFinder<Form>(engine, 'forms')),
    listInvoices: listInvoices(read),
    getInvoice: getInvoice(createInvoiceFinder(engine)),
    getInvoicePdf: getInvoicePdf(documents.find),
    listCustomers: listCustomers(read),
    getCustomer: getCustomer(createRecordFinder<Customer>(engine, 'customers')),
    listQuotes: listQuotes(read, now),
    getQuote: getQuote(createQuoteFinder(engine), now),
  };
}
