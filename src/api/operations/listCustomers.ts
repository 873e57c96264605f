import type { Customer } from '../../contract/records.ts';
import type { ReadList } from '../../store/lists/lists.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

/** GET /api/v1/customers */
export const listCustomers =
  (read: ReadList): Handler<'listCustomers'> =>
  async ({ caller, query }) =>
    answerPage('listCustomers', query, (page) =>
      listRecords<Customer>(read, 'customers', caller.company, query.updatedSince, page),
    );
