import type { Job } from '../../../contract/records.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage, requestedPage } from '../pages.ts';

export const listJobs =
  (db: Connection): Handler<'listJobs'> =>
  async ({ caller, query }) => {
    const page = requestedPage('listJobs', query);
    const found = await listRecords<Job>(db, 'jobs', caller.company, query.updatedSince, page);
    return answerPage('listJobs', query, found);
  };
