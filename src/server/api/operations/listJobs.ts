import type { Job } from '../../../contract/records.ts';
import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage, requestedPage } from '../pages.ts';

export const listJobs: Handler<'listJobs'> = async ({ caller, query }, { db }) => {
  const page = requestedPage('listJobs', query);
  const found = await listRecords<Job>(db, 'jobs', caller.company, query.updatedSince, page);
  return answerPage('listJobs', query, found);
};
