import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

export const listCustomers: Handler<'listCustomers'> = async ({ caller, query }, { db }) =>
  answerPage('listCustomers', query, (page) =>
    listRecords(db, 'customers', caller.company, query.updatedSince, page),
  );
