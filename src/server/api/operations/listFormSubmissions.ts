import type { Form, Submission } from '../../../contract/records.ts';
import { findRecord, listFormSubmissions as listStoredSubmissions } from '../../store/records/records.ts';
import type { Handler } from '../handler.ts';
import { answerPage, requestedPage } from '../pages.ts';
import { noRecord } from '../records.ts';

export const listFormSubmissions: Handler<'listFormSubmissions'> = async (
  { caller, path, query },
  { db },
) => {
  const { company } = caller;
  const asked = { ...path, ...query };
  const page = requestedPage('listFormSubmissions', asked);
  const found = await listStoredSubmissions<Submission>(db, company, path.formId, query.updatedSince, page);
  // An empty page doesn't say whether the form exists.
  if (found.records.length === 0 && !(await findRecord<Form>(db, 'forms', company, path.formId)))
    throw noRecord();
  return answerPage('listFormSubmissions', asked, found);
};
