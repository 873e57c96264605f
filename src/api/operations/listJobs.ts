import type { Job } from '../../contract/records.ts';
import type { ReadList } from '../../store/lists/lists.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

/** GET /api/v1/jobs */
export const listJobs =
  (read: ReadList): Handler<'listJobs'> =>
  async ({ caller, query }) =>
    answerPage('listJobs', query, (page) =>
      listRecords<Job>(read, 'jobs', caller.company, query.updatedSince, page),
    );
