import type { Person } from '../../../contract/records.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

/** GET /api/v1/people */
export const listPeople =
  (db: Connection): Handler<'listPeople'> =>
  async ({ caller, query }) =>
    answerPage('listPeople', query, (page) =>
      listRecords<Person>(db, 'people', caller.company, undefined, page),
    );
