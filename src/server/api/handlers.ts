import type { Documents } from '../invoice-pdf/documents.ts';
import type { Engine } from '../store/engines/engine.ts';
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

export interface HandlerNeeds {
  engine: Engine;
  documents: Documents;
  now: () => Date;
}

/** Ties every operation of the contract to the part of the store that it needs. */
export function createHandlers({ engine, documents, now }: HandlerNeeds): Handlers {
  const { db } = engine;
  return {
    listJobs: listJobs(db),
    getJob: getJob(db),
    listPeople: listPeople(db),
    listForms: listForms(db),
    listFormSubmissions: listFormSubmissions(db),
    listInvoices: listInvoices(db),
    getInvoice: getInvoice(db),
    getInvoicePdf: getInvoicePdf(documents),
    listCustomers: listCustomers(db),
    getCustomer: getCustomer(db),
    listQuotes: listQuotes(db, now),
    getQuote: getQuote(db, now),
  };
}
