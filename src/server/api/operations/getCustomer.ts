import type { Customer } from '../../../contract/records.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import { findRecord } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

export const getCustomer =
  (db: Connection): Handler<'getCustomer'> =>
  async ({ caller, path }) =>
    answerRecord(await findRecord<Customer>(db, 'customers', caller.company, path.customerId));
