import { listInvoices as listStoredInvoices } from '../../store/records/invoices.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

/** GET /api/v1/invoices */
export const listInvoices =
  (db: Connection): Handler<'listInvoices'> =>
  async ({ caller, query }) =>
    answerPage('listInvoices', query, (page) => listStoredInvoices(db, caller.company, query, page));
