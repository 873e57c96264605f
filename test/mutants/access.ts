import type { Mutant } from './_mutant.ts';

const portalLinks = ['test/server/feed/portal-links.test.ts'];
const secondFactor = ['test/server/features/sign-in/second-factor-page.test.ts'];
const authority = ['test/server/features/people/authority.test.ts'];
const spentAuthority = ['test/server/features/people/spent-authority.test.ts'];

/** Who may do what: keys, links, sessions, the second factor, and authority that ended meanwhile. */
export const access: readonly Mutant[] = [
  {
    fault: 'a feed token that may not let people invite makes a link that does',
    file: 'src/server/features/people/portal-links.ts',
    from: 'goesBeyond({ scopes: person.scopes, mayInvite }, most)',
    to: 'goesBeyond({ scopes: person.scopes, mayInvite: false }, most)',
    tests: portalLinks,
  },
  {
    fault: 'a feed token that may not let people invite signs in somebody who may',
    file: 'src/server/features/people/portal-links.ts',
    from: 'goesBeyond(present, linkAccessOf(token))',
    to: 'goesBeyond({ ...present, mayInvite: false }, linkAccessOf(token))',
    tests: portalLinks,
  },
  {
    fault: 'a feed token signs in somebody with more scopes than its links may give',
    file: 'src/server/features/people/portal-links.ts',
    from: 'goesBeyond(present, linkAccessOf(token))',
    to: 'goesBeyond({ ...present, scopes: [] }, linkAccessOf(token))',
    tests: portalLinks,
  },
  {
    fault: 'a feed token makes links into companies that it is not for',
    file: 'src/server/features/people/portal-links.ts',
    from: 'if (!isOfToken || !(await lockCompany(transaction, company)))',
    to: 'if (!(await lockCompany(transaction, company)))',
    tests: portalLinks,
  },
  {
    fault: 'a link of a feed token that was revoked still signs in',
    file: 'src/server/features/people/portal-links.ts',
    from: ' || by.token.revokedAt !== null)',
    to: ')',
    tests: portalLinks,
  },
  {
    fault: 'a portal link works after its minute',
    file: 'src/server/features/people/portal-links.ts',
    from: 'new Date(now.getTime() + MINUTE_MS)',
    to: 'new Date(now.getTime() + 2 * MINUTE_MS)',
    tests: portalLinks,
  },
  {
    fault: 'an invitation gives access that was taken from its maker while their form was under way',
    file: 'src/server/features/people/invitations.ts',
    from: 'grantedScopes(options.scopes, authorised.by)',
    to: "grantedScopes(options.scopes, 'operator')",
    tests: authority,
  },
  {
    fault: 'a new invitation replaces one that gives more than its maker has',
    file: 'src/server/features/people/invitations.ts',
    from: 'const more = waiting && whyNotWithdraw(waiting, by);',
    to: 'const more = waiting && whyNotInvite(by);',
    tests: authority,
  },
  {
    fault: 'whoever sets a new password by a link leaves other sessions of the account open',
    file: 'src/server/features/people/invitations.ts',
    from: '  await deleteSessionRows(transaction, found);\n',
    to: '',
    tests: ['test/server/features/people/admin-command.test.ts'],
  },
  {
    fault: 'the code typed at the set-up of a second factor signs in once more',
    file: 'src/server/features/sign-in/second-factor.ts',
    from: '{ secret: box.seal(secret.base32, owner), lastStep }',
    to: '{ secret: box.seal(secret.base32, owner), lastStep: 0 }',
    tests: secondFactor,
  },
  {
    fault: 'a code of the second factor is taken twice',
    file: 'src/server/features/sign-in/second-factor.ts',
    from: 'step <= secondFactor.lastStep',
    to: 'step < secondFactor.lastStep',
    tests: secondFactor,
  },
  {
    fault: 'a recovery code is taken twice',
    file: 'src/server/features/sign-in/second-factor.ts',
    from: 'secondFactor.recoveryCodes.filter((one) => one !== digest)',
    to: 'secondFactor.recoveryCodes',
    tests: secondFactor,
  },
  {
    fault: 'a form that needs no fresh proof does its work twice when it is sent twice',
    file: 'src/server/store/accounts/authorised-transaction.ts',
    from: 'if (!isFirst) throw',
    to: 'if (!isFirst && isProofNeeded) throw',
    tests: spentAuthority,
  },
  {
    fault: 'a session that expired while its request waited still makes the change',
    file: 'src/server/store/accounts/session-rows.ts',
    from: "    .where('portal_sessions.expires_at', '>', now)\n",
    to: '',
    tests: authority,
  },
  {
    fault: 'a session goes on however long it is not used',
    file: 'src/server/features/sign-in/sessions.ts',
    from: 'return expiresAt <= now.toISOString() || seenAt <= idleSince(lengths, now);',
    to: 'return expiresAt <= now.toISOString();',
    tests: ['test/server/features/sign-in/sign-in-page.test.ts'],
  },
  {
    fault: 'a sixth guess at an account is made',
    file: 'src/server/access/sign-in-limits.ts',
    from: 'const GUESSES_OF_NETWORK_AT_ACCOUNT = 5;',
    to: 'const GUESSES_OF_NETWORK_AT_ACCOUNT = 6;',
    tests: ['test/server/access/sign-in-limits.test.ts'],
  },
  {
    fault: "the last day of a key ends in UTC, and not in the company's time zone",
    file: 'src/contract/company-time.ts',
    from: 'companyInstant(timeZone, next)',
    to: "companyInstant('UTC', next)",
    tests: ['test/server/features/keys/keys.test.ts'],
  },
  {
    fault: "the last day of a key is shown in UTC, and not in the company's time zone",
    file: 'src/server/features/keys/keys.ts',
    from: 'companyDay(timeZone, new Date(Date.parse(endsAt) - 1))',
    to: "companyDay('UTC', new Date(Date.parse(endsAt) - 1))",
    tests: ['test/server/features/documents/days.test.ts'],
  },
  {
    fault: 'a key in use goes on after its last day',
    file: 'src/server/features/keys/keys.ts',
    from: 'if (remembered && remembered.endsMs > Date.now()) return remembered;',
    to: 'if (remembered) return remembered;',
    tests: spentAuthority,
  },
  {
    fault: 'somebody prolongs a key that reads more than they may',
    file: 'src/server/features/keys/keys.ts',
    from: '    grantedScopes(key.scopes, authorised.by);\n',
    to: '',
    tests: authority,
  },
];
