import { listRecords } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

export const listJobs: Handler<'listJobs'> = async ({ caller, query }, { db }) =>
  answerPage('listJobs', query, (page) => listRecords(db, 'jobs', caller.company, query.updatedSince, page));
