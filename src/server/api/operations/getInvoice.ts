import type { Connection } from '../../store/dialects/dialect.ts';
import { findInvoice } from '../../store/records/invoices.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

export const getInvoice =
  (db: Connection): Handler<'getInvoice'> =>
  async ({ caller, path }) =>
    answerRecord(await findInvoice(db, caller.company, path.invoiceId));
