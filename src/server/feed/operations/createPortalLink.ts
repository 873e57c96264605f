import { type PortalLinkRequest, portalLinkProblem } from '../../../contract/feed.ts';
import { UsageError } from '../../../errors.ts';
import { makePortalLink } from '../../features/people/portal-links.ts';
import { invalid, readValue } from '../batch.ts';
import type { FeedReply, FeedRequest } from '../feed-backend.ts';

/**
 * Returns a new link by which a person signs in to the portal.
 * @throws AppError `invalid_request` for an invalid body, and the errors of `makePortalLink`.
 */
export async function createPortalLink(request: FeedRequest): Promise<FeedReply> {
  const { backoffice, token, baseUrl, now, req } = request;
  const value = await readValue(req);
  const problem = portalLinkProblem(value);
  if (problem !== undefined) throw invalid(problem);
  const asked = { ...(value as PortalLinkRequest), now: now() };
  const made = makePortalLink(backoffice.engine, token, asked);
  const { code, expiresAt } = await made.catch((error: unknown) => {
    throw error instanceof UsageError ? invalid(error.message) : error;
  });
  const body = JSON.stringify({ link: `${baseUrl()}/portal/invitation#${code}`, expiresAt });
  return { mediaType: 'application/json', body };
}
