import type { Form } from '../../contract/records.ts';
import type { ReadList } from '../../store/lists/lists.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

/** GET /api/v1/forms */
export const listForms =
  (read: ReadList): Handler<'listForms'> =>
  async ({ caller, query }) =>
    answerPage('listForms', query, (page) =>
      listRecords<Form>(read, 'forms', caller.company, query.updatedSince, page),
    );
