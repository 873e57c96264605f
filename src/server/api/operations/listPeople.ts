import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

export const listPeople: Handler<'listPeople'> = async ({ caller, query }, { db }) =>
  answerPage('listPeople', query, (page) => listRecords(db, 'people', caller.company, undefined, page));
