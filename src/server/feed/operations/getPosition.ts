import { AppError } from '../../../errors.ts';
import type { FeedToken } from '../../features/feed-tokens/stored-feed-tokens.ts';
import { findCompanyRow } from '../../store/records/companies.ts';
import { findPosition } from '../../store/records/moves.ts';
import type { FeedReply, FeedRequest } from '../feed-backend.ts';

/**
 * Returns a source's position, which is its last applied change.
 * @throws AppError `not_found` if the company doesn't exist, or the token isn't for it.
 */
export async function getPosition({ backoffice, token, query }: FeedRequest): Promise<FeedReply> {
  const { engine } = backoffice;
  const [company = '', source = ''] = [query.company, query.source];
  refuseCompany(token, company);
  const found = await findPosition(engine, company, source);
  if (!found && !(await findCompanyRow(engine, company))) throw noCompany();
  const position = found ?? { sequence: null, id: null, appliedAt: null };
  return { mediaType: 'application/json', body: JSON.stringify({ company, source, ...position }) };
}

/** Refuses a company that the token isn't for. @throws AppError `not_found`. */
export function refuseCompany({ companies }: FeedToken, company: string): void {
  if (companies?.includes(company) === false) throw noCompany();
}

function noCompany(): AppError {
  return new AppError('not_found', 'There is no company with this id.');
}
