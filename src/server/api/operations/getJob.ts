import { findRecord } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

export const getJob: Handler<'getJob'> = async ({ caller, path }, { db }) =>
  answerRecord(await findRecord(db, 'jobs', caller.company, path.jobId));
