import { companyDay } from '../../access/company-time.ts';
import type { QuoteFinder } from '../../store/records/quotes.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

/** GET /api/v1/quotes/{quoteId} */
export const getQuote =
  (findQuote: QuoteFinder, now: () => Date): Handler<'getQuote'> =>
  async ({ caller, path }) =>
    answerRecord(await findQuote(caller.company, path.quoteId, companyDay(caller.timeZone, now())));
