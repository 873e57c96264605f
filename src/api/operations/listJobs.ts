import type { Job } from '../../contract/records.ts';
import type { ReadList } from '../../store/lists/lists.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';
import { toUtc } from '../../contract/times.ts';

/** GET /api/v1/jobs */
export const listJobs =
  (read: ReadList): Handler<'listJobs'> =>
  async ({ caller, query }) => {
    const updatedSince = query.updatedSince && toUtc(query.updatedSince);
    return answerPage('listJobs', { updatedSince }, query, (page) =>
      listRecords<Job>(read, 'jobs', caller.company, updatedSince, page),
    );
  };
