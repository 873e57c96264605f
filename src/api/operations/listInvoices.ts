import { listInvoices as listStoredInvoices } from '../../store/records/invoices.ts';
import type { ReadList } from '../../store/lists/lists.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

/** GET /api/v1/invoices */
export const listInvoices =
  (read: ReadList): Handler<'listInvoices'> =>
  async ({ caller, query }) =>
    answerPage('listInvoices', query, (page) => listStoredInvoices(read, caller.company, query, page));
