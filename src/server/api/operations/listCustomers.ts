import type { Customer } from '../../../contract/records.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

/** GET /api/v1/customers */
export const listCustomers =
  (db: Connection): Handler<'listCustomers'> =>
  async ({ caller, query }) =>
    answerPage('listCustomers', query, (page) =>
      listRecords<Customer>(db, 'customers', caller.company, query.updatedSince, page),
    );
