import type { Person } from '../../../contract/records.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage, requestedPage } from '../pages.ts';

export const listPeople: Handler<'listPeople'> = async ({ caller, query }, { db }) => {
  const page = requestedPage('listPeople', query);
  const found = await listRecords<Person>(db, 'people', caller.company, undefined, page);
  return answerPage('listPeople', query, found);
};
