import type { Customer } from '../../contract/records.ts';
import type { FindRecord } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

/** GET /api/v1/customers/{customerId} */
export const getCustomer =
  (findCustomer: FindRecord<Customer>): Handler<'getCustomer'> =>
  async ({ caller, path }) =>
    answerRecord(await findCustomer(caller.company, path.customerId));
