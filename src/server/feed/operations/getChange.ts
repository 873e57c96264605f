import { findChangeRecord } from '../../backoffice/earlier-changes.ts';
import { AppError } from '../../../errors.ts';
import type { FeedReply, FeedRequest } from '../feed-backend.ts';
import { refuseCompany } from './getPosition.ts';

/**
 * Returns the outcome of an applied change.
 * @throws AppError `not_found` if no change with the id was applied, or the token isn't for the company or kind of change.
 */
export async function getChange({ backoffice, token, params, query, now }: FeedRequest): Promise<FeedReply> {
  const [id = '', company = ''] = [params.id, query.company];
  refuseCompany(token, company);
  const found = await findChangeRecord(backoffice, company, id, now());
  if (!found || token.changes?.includes(found.change) === false)
    throw new AppError('not_found', 'No change with this id was applied for this company.');
  const { change, appliedAt, record } = found;
  const head = JSON.stringify({ id, company, change, status: 'applied', appliedAt });
  return { mediaType: 'application/json', body: `${head.slice(0, -1)},"record":${record ?? 'null'}}` };
}
