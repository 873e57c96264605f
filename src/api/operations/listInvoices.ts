import { listInvoices as listStoredInvoices } from '../../store/records/invoices.ts';
import type { ReadList } from '../../store/lists/lists.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';
import { toUtc } from '../../contract/times.ts';

/** GET /api/v1/invoices */
export const listInvoices =
  (read: ReadList): Handler<'listInvoices'> =>
  async ({ caller, query }) => {
    const { kind, status, customer, issuedFrom, issuedTo } = query;
    const updatedSince = query.updatedSince && toUtc(query.updatedSince);
    const filters = { kind, status, customer, issuedFrom, issuedTo, updatedSince };
    return answerPage('listInvoices', filters, query, (page) =>
      listStoredInvoices(read, caller.company, filters, page),
    );
  };
