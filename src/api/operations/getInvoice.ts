import type { Invoice } from '../../contract/records.ts';
import type { FindRecord } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

/** GET /api/v1/invoices/{invoiceId} */
export const getInvoice =
  (findInvoice: FindRecord<Invoice>): Handler<'getInvoice'> =>
  async ({ caller, path }) =>
    answerRecord(await findInvoice(caller.company, path.invoiceId));
