import type { Customer } from '../../../contract/records.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage, requestedPage } from '../pages.ts';

export const listCustomers: Handler<'listCustomers'> = async ({ caller, query }, { db }) => {
  const page = requestedPage('listCustomers', query);
  const found = await listRecords<Customer>(db, 'customers', caller.company, query.updatedSince, page);
  return answerPage('listCustomers', query, found);
};
