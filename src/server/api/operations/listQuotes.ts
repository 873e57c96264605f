import { companyDay } from '../../../contract/company-time.ts';
import type { Connection } from '../../store/dialects/dialect.ts';
import { listQuotes as listStoredQuotes } from '../../store/records/quotes.ts';
import type { Handler } from '../handler.ts';
import { answerPage, requestedPage } from '../pages.ts';

export const listQuotes =
  (db: Connection, now: () => Date): Handler<'listQuotes'> =>
  async ({ caller, query }) => {
    const today = companyDay(caller.timeZone, now());
    const page = requestedPage('listQuotes', query);
    return answerPage('listQuotes', query, await listStoredQuotes(db, caller.company, today, query, page));
  };
