import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

export const listForms: Handler<'listForms'> = async ({ caller, query }, { db }) =>
  answerPage('listForms', query, (page) =>
    listRecords(db, 'forms', caller.company, query.updatedSince, page),
  );
