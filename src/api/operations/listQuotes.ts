import { companyDay } from '../../access/company-time.ts';
import type { ReadList } from '../../store/lists/lists.ts';
import { listQuotes as listStoredQuotes } from '../../store/records/quotes.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

/** GET /api/v1/quotes */
export const listQuotes =
  (read: ReadList, now: () => Date): Handler<'listQuotes'> =>
  async ({ caller, query }) => {
    const today = companyDay(caller.timeZone, now());
    return answerPage('listQuotes', query, (page) =>
      listStoredQuotes(read, caller.company, today, query, page),
    );
  };
