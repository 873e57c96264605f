import { listInvoices as listStoredInvoices } from '../../store/records/invoices.ts';
import type { Handler } from '../handler.ts';
import { answerPage, requestedPage } from '../pages.ts';

export const listInvoices: Handler<'listInvoices'> = async ({ caller, query }, { db }) => {
  const page = requestedPage('listInvoices', query);
  return answerPage('listInvoices', query, await listStoredInvoices(db, caller.company, query, page));
};
