import { randomBytes } from 'node:crypto';

import { changeNames } from '../../../contract/feed.ts';
import { AppError, unknownName, UsageError } from '../../../errors.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { type FeedToken, findFeedToken, insertFeedToken, noteFeedTokenUse } from './stored-feed-tokens.ts';
import { checkedLine, grantedScopes } from '../../access/checked-input.ts';
import { bearerParts, isSecretOf, mintToken, tokenHash } from '../../access/tokens.ts';

const ID_BYTES = 6;
/** Minimum time between two records of a token's last use. */
const USE_MS = 60_000;

interface NewFeedToken {
  keyPrefix: string;
  name: string;
  /** The companies that the token covers, and the kinds of changes that it may send; all by default. */
  companies?: readonly string[] | 'all';
  changes?: readonly string[] | 'all';
  /** The scopes that the token's portal links may give, and whether they may let people invite; undefined for no links. */
  portalLinks?: readonly string[] | undefined;
  portalInvites?: boolean | undefined;
  now: Date;
}

/**
 * Makes a feed token of the form `<key_prefix>-feed.<id>.<secret>`.
 * @returns the token, whose secret can't be shown again, and its record.
 * @throws UsageError for an invalid name, an empty list, an unknown company, an unknown change, or an unknown scope.
 */
export async function createFeedToken(
  engine: Engine,
  { keyPrefix, name, companies = 'all', changes = 'all', now, ...links }: NewFeedToken,
): Promise<{ token: string; record: FeedToken }> {
  if (companies.length === 0 || changes.length === 0)
    throw new UsageError('A list is empty. Name companies and changes, or "all".');
  const known = changeNames();
  const unknown = changes === 'all' ? undefined : changes.find((change) => !known.includes(change));
  if (unknown !== undefined) throw new UsageError(unknownName(unknown, 'a change of the feed', known));
  const secret = mintToken();
  const record: FeedToken = {
    id: randomBytes(ID_BYTES).toString('hex'),
    name: checkedLine(name, 'The name of a token'),
    companies: companies === 'all' ? null : [...new Set(companies)],
    changes: changes === 'all' ? null : [...new Set(changes)],
    portalScopes: checkedLinks(links),
    portalMayInvite: links.portalInvites ?? false,
    createdAt: now.toISOString(),
    revokedAt: null,
    usedAt: null,
  };
  await insertFeedToken(engine, record, tokenHash(secret));
  return { token: [`${keyPrefix}-feed`, record.id, secret].join('.'), record };
}

/** Checks and returns the scopes that a token's portal links may give. @throws UsageError. */
function checkedLinks({ portalLinks, portalInvites }: Pick<NewFeedToken, 'portalLinks' | 'portalInvites'>) {
  if (portalInvites && !portalLinks)
    throw new UsageError('A token whose portal links let people invite needs the scopes of these links.');
  return portalLinks ? grantedScopes(portalLinks, 'operator') : [];
}

/** Authenticates a business system by the feed token in an Authorization header. */
export type AuthenticateFeed = (authorization: string | undefined) => Promise<FeedToken>;

/**
 * Creates the function that authenticates feed tokens. It looks the token up on every request.
 * @returns a function that throws AppError `invalid_key` (missing, malformed, unknown, wrong secret) or `revoked_key`
 *   (right secret, but revoked).
 */
export function createFeedAuthentication(
  engine: Engine,
  { keyPrefix, now }: { keyPrefix: string; now: () => Date },
): AuthenticateFeed {
  const shape = { what: 'a feed token', placeholder: 'FEED_TOKEN', prefix: `${keyPrefix}-feed`, count: 2 };
  return async (authorization) => {
    const [id = '', secret = ''] = bearerParts(authorization, shape);
    const found = await findFeedToken(engine.db, id);
    const isRight = isSecretOf(tokenHash(secret), found?.secretSha256);
    if (!found || !isRight) throw new AppError('invalid_key', 'The feed token is missing or wrong.');
    const { token } = found;
    if (token.revokedAt !== null) throw new AppError('revoked_key', 'This feed token was revoked.');
    const usedMs = token.usedAt === null ? -Infinity : Date.parse(token.usedAt);
    if (Math.abs(now().getTime() - usedMs) > USE_MS)
      // A use that can't be recorded doesn't refuse the request.
      await noteFeedTokenUse(engine, token.id, now().toISOString()).catch(() => undefined);
    return token;
  };
}
