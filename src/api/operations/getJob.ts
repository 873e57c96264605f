import type { Job } from '../../contract/records.ts';
import type { FindRecord } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

/** GET /api/v1/jobs/{jobId} */
export const getJob =
  (findJob: FindRecord<Job>): Handler<'getJob'> =>
  async ({ caller, path }) =>
    answerRecord(await findJob(caller.company, path.jobId));
