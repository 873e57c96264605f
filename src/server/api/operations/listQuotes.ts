import { companyDay } from '../../../contract/company-time.ts';
import { quotesPage as listStoredQuotes } from '../../store/records/quotes.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';

export const listQuotes: Handler<'listQuotes'> = async ({ caller, query }, { db, now }) => {
  const today = companyDay(caller.timeZone, now());
  return answerPage('listQuotes', query, (page) => listStoredQuotes(db, caller.company, today, query, page));
};
