import { companyDay } from '../../../contract/company-time.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import { findQuote } from '../../store/records/quotes.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

export const getQuote =
  (db: Connection, now: () => Date): Handler<'getQuote'> =>
  async ({ caller, path }) =>
    answerRecord(await findQuote(db, caller.company, path.quoteId, companyDay(caller.timeZone, now())));
