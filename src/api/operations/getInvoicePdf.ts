import type { Invoice } from '../../contract/records.ts';
import { AppError } from '../../errors.ts';
import type { FindRecord } from '../../store/records.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

/**
 * GET /api/v1/invoices/{invoiceId}/pdf
 *
 * There is no renderer of documents yet; until there is one, a document that exists answers 503 `unavailable`.
 */
export const getInvoicePdf =
  (findInvoice: FindRecord<Invoice>): Handler<'getInvoicePdf'> =>
  async ({ caller, path }) => {
    answerRecord(await findInvoice(caller.company, path.invoiceId));
    throw new AppError('unavailable', 'The PDF of this document is not available yet.');
  };
