import { companyDay } from '../../../contract/company-time.ts';
import { findQuote } from '../../store/records/quotes.ts';
import type { Handler } from '../handler.ts';
import { answerRecord } from '../records.ts';

export const getQuote: Handler<'getQuote'> = async ({ caller, path }, { db, now }) =>
  answerRecord(await findQuote(db, caller.company, path.quoteId, companyDay(caller.timeZone, now())));
