import type { Form } from '../../../contract/records.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage, requestedPage } from '../pages.ts';

export const listForms: Handler<'listForms'> = async ({ caller, query }, { db }) => {
  const page = requestedPage('listForms', query);
  const found = await listRecords<Form>(db, 'forms', caller.company, query.updatedSince, page);
  return answerPage('listForms', query, found);
};
