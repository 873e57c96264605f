import { findRecord, submissionsPage as listStoredSubmissions } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage } from '../pages.ts';
import { noRecord } from '../records.ts';

export const listFormSubmissions: Handler<'listFormSubmissions'> = async (
  { caller, path: { formId }, query },
  { db },
) =>
  answerPage('listFormSubmissions', { formId, ...query }, async (page) => {
    const found = await listStoredSubmissions(db, caller.company, formId, query.updatedSince, page);
    // An empty page doesn't say whether the form exists.
    if (found.records.length === 0 && !(await findRecord(db, 'forms', caller.company, formId)))
      throw noRecord();
    return found;
  });
