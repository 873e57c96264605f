import { findInvoice } from '../../store/records/invoices.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

export const getInvoice: Handler<'getInvoice'> = async ({ caller, path }, { db }) =>
  answerRecord(await findInvoice(db, caller.company, path.invoiceId));
