import type { Job } from '../../../contract/records.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import { findRecord } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

export const getJob =
  (db: Connection): Handler<'getJob'> =>
  async ({ caller, path }) =>
    answerRecord(await findRecord<Job>(db, 'jobs', caller.company, path.jobId));
