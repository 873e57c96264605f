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

/** Handlers of the contract's operations; if one is missing, this doesn't compile. */
export const handlers: Handlers = {
  listJobs,
  getJob,
  listPeople,
  listForms,
  listFormSubmissions,
  listInvoices,
  getInvoice,
  getInvoicePdf,
  listCustomers,
  getCustomer,
  listQuotes,
  getQuote,
};
