import type { Job } from '../../../contract/records.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

/** GET /api/v1/jobs */
export const listJobs =
  (db: Connection): Handler<'listJobs'> =>
  async ({ caller, query }) =>
    answerPage('listJobs', query, (page) =>
      listRecords<Job>(db, 'jobs', caller.company, query.updatedSince, page),
    );
