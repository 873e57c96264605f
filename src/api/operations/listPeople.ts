import type { Person } from '../../contract/records.ts';
import type { ReadList } from '../../store/lists/lists.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

/** GET /api/v1/people */
export const listPeople =
  (read: ReadList): Handler<'listPeople'> =>
  async ({ caller, query }) =>
    answerPage('listPeople', query, (page) =>
      listRecords<Person>(read, 'people', caller.company, undefined, page),
    );
