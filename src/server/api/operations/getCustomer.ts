import { findRecord } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

export const getCustomer: Handler<'getCustomer'> = async ({ caller, path }, { db }) =>
  answerRecord(await findRecord(db, 'customers', caller.company, path.customerId));
