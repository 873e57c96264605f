import type { Form } from '../../../contract/records.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage, requestedPage } from '../pages.ts';

export const listForms =
  (db: Connection): Handler<'listForms'> =>
  async ({ caller, query }) => {
    const page = requestedPage('listForms', query);
    const found = await listRecords<Form>(db, 'forms', caller.company, query.updatedSince, page);
    return answerPage('listForms', query, found);
  };
