import { invoicesPage as listStoredInvoices } from '../../store/records/invoices.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

export const listInvoices: Handler<'listInvoices'> = async ({ caller, query }, { db }) =>
  answerPage('listInvoices', query, (page) => listStoredInvoices(db, caller.company, query, page));
