import t, { type Test } from 'tap';

import { removeAdministrator } from '../../../../src/server/features/people/administrators.ts';
import { changePassword, signIn } from '../../../../src/server/features/sign-in/sign-in.ts';
import { changeAccess } from '../../../../src/server/features/people/change-access.ts';
import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { acceptLink, inviteToReset } from '../../../../src/server/features/people/invitations.ts';
import { reauthenticate } from '../../../../src/server/features/sign-in/proof.ts';
import {
  addSecondFactor,
  proposeSecondFactor,
} from '../../../../src/server/features/sign-in/second-factor.ts';
import { createSignInLimits, type SignInLimits } from '../../../../src/server/access/sign-in-limits.ts';
import { UsageError } from '../../../../src/errors.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import {
  type Administrator,
  findAccount,
  updateAdministratorRow,
} from '../../../../src/server/store/accounts/administrator-rows.ts';
import type { Act } from '../../../../src/server/store/accounts/authorised-transaction.ts';
import { deleteSessionRows, listSessionRows } from '../../../../src/server/store/accounts/session-rows.ts';
import { lockCompany } from '../../../../src/server/store/records/companies.ts';
import { until } from '../../../_command.ts';
import { type EngineName, engineNames, PORTAL_SETTINGS, STORY_NOW } from '../../../_server.ts';
import {
  addAdministrator,
  COLLEAGUE,
  COMPANY,
  EMAIL,
  NEW_PASSWORD,
  openCompany,
  PASSWORD,
  signedInAs,
} from '../../portal/_portal.ts';
import { meanwhile } from '../../access/_world.ts';
import { totpAt } from '../../../_totp.ts';

const box = PORTAL_SETTINGS.secrets;
const ANOTHER_PASSWORD = COLLEAGUE.password;
const WRONG = new UsageError('The email address or password is wrong.');
const quiet = { onAccount: () => undefined, afterwards: () => undefined };
const attempt = {
  serviceName: 'Fieldledger',
  address: '192.0.2.1',
  client: 'Test',
  now: STORY_NOW,
  lengths: { idleMinutes: 30, hoursMax: 12 },
};

/** Two companies; in the other one somebody with the same email address has an account, too. */
async function openTwo(t: Test, otherPassword: string, name?: EngineName): Promise<Engine> {
  const { engine } = await openCompany(t, name);
  await createCompany(engine, 'other', {}, STORY_NOW);
  await addAdministrator(engine, { email: EMAIL, password: otherPassword, company: 'other' });
  return engine;
}

/** Limits that refuse nobody. They let something happen when a password was found right, before the transaction begins. */
function limitsWith(onceRight: () => Promise<unknown> = async () => undefined): SignInLimits {
  return {
    count: async () => ({
      forgive: async () => {
        await onceRight();
      },
      mayTryOthers: true,
    }),
    countNewPassword: async () => undefined,
    mayAskForReset: async () => true,
  };
}

function signInBy(
  engine: Engine,
  password: string,
  limits = limitsWith(),
  from: { address?: string; browser?: string | undefined } = {},
) {
  return signIn(engine, limits, { ...attempt, email: EMAIL, password, ...quiet, ...from });
}

async function reset(engine: Engine): Promise<void> {
  const { token } = await inviteToReset(engine, { company: COMPANY, email: EMAIL, now: STORY_NOW });
  await acceptLink(engine, limitsWith(), { ...attempt, token, name: '', password: NEW_PASSWORD });
}

/** Changes the password on the account page, in the session of before. */
async function change(
  engine: Engine,
  administrator: Administrator,
  next = NEW_PASSWORD,
  limits = limitsWith(),
): Promise<void> {
  const by = await signedInAs(engine, administrator);
  await changePassword(engine, limits, { ...attempt, administrator, by, present: PASSWORD, next });
}

/** Takes what somebody has, but for one scope. */
const lowerAccess = (engine: Engine, who: Act & { id: string }) =>
  changeAccess(engine, { ...who, scopes: ['jobs:read'], mayInvite: false, revoke: [] });

for (const [done, renew] of Object.entries({ reset, changed: change })) {
  t.test(`a sign-in waits until the password is ${done}, and the old one opens nothing`, async (t) => {
    const { engine, administrator } = await openCompany(t);
    const limits = limitsWith(() => renew(engine, administrator));
    await t.rejects(signInBy(engine, PASSWORD, limits), WRONG);
    t.equal((await listSessionRows(engine, administrator)).length, 1, 'of who knows the new password');
    await signInBy(engine, NEW_PASSWORD);
  });
}

t.test('a password that two tabs change at once is the one of the first', async (t) => {
  const { engine, administrator } = await openCompany(t);
  const limits = limitsWith(() => change(engine, administrator));
  const late = change(engine, administrator, ANOTHER_PASSWORD, limits);
  await t.rejects(late, new UsageError('Your current password is wrong.', { field: 'present' }));
  await t.rejects(signInBy(engine, ANOTHER_PASSWORD), WRONG);
  await signInBy(engine, NEW_PASSWORD);
});

for (const name of engineNames)
  for (const [what, act] of Object.entries({ remove: removeAdministrator, lower: lowerAccess }))
    t.test(`${name}: of two who ${what} each other at once one keeps the right to invite`, async (t) => {
      const { engine, url, administrator: one } = await openCompany(t, name);
      await using second = await openEngine(url);
      const other = await addAdministrator(engine, COLLEAGUE);
      const acts = async (handle: Engine, { id }: Administrator, by: Administrator) =>
        act(handle, { company: COMPANY, id, by: await signedInAs(engine, by), now: STORY_NOW });
      const done = await Promise.allSettled([acts(engine, other, one), acts(second, one, other)]);
      t.strictSame(done.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
      const left = await engine.run(
        'SELECT id FROM administrators WHERE disabled_at IS NULL AND may_invite = 1',
      );
      t.equal(left.length, 1);
    });

t.test('a proof is of what the account has when it is taken down, not when it was looked at', async (t) => {
  const { engine, administrator } = await openCompany(t);
  const by = await signedInAs(engine, administrator);
  const act = { company: COMPANY, by, now: STORY_NOW };
  const { secret, sealed } = proposeSecondFactor(box, administrator, { issuer: 'Test' });
  const codeAt = (seconds: number) => totpAt(secret, STORY_NOW.getTime() / 1000 + seconds);
  await addSecondFactor(engine, box, { ...act, sealed, code: codeAt(0) });
  await engine.run("UPDATE portal_sessions SET proved_at = '2026-11-20T00:00:00.000Z'");
  const proveWith = (given: string, change: string) =>
    reauthenticate(
      meanwhile(engine, () => engine.run(change)),
      limitsWith(),
      { ...act, given, field: 'proof', secrets: box },
    );
  const wrong = { field: 'proof', message: 'Your password or code is wrong.' };
  await t.rejects(proveWith(PASSWORD, "UPDATE administrators SET password = 'another'"), wrong);
  await t.rejects(proveWith(codeAt(30), 'UPDATE administrators SET second_factor = NULL'), wrong);
  const [session] = await listSessionRows(engine, administrator);
  t.equal(session?.provedAt, '2026-11-20T00:00:00.000Z', 'and nothing is proved');
});

t.test('postgres: a sign-in waits for a reset that another process is about to commit', async (t) => {
  const { engine, url, administrator } = await openCompany(t, 'postgres');
  await using second = await openEngine(url);
  const waiting =
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
  const signingIn = await second.transaction(async (transaction) => {
    await lockCompany(transaction, COMPANY);
    await updateAdministratorRow(transaction, administrator, { password: 'scrypt$1024$8$1$AAAA$AAAA' });
    await deleteSessionRows(transaction, administrator);
    const outcome = t.rejects(signInBy(engine, PASSWORD), WRONG);
    await until(async () => (await engine.run(waiting)).length === 1);
    return { outcome };
  });
  await signingIn.outcome;
  t.strictSame(await listSessionRows(engine, administrator), []);
});

t.test('whoever has one account of an address can’t guess the password of another by it', async (t) => {
  const engine = await openTwo(t, ANOTHER_PASSWORD);
  const limits = createSignInLimits(engine);
  const attemptFrom = (address: string, password: string, browser?: string) =>
    signInBy(engine, password, limits, { address, browser });
  const { browser } = await attemptFrom('192.0.2.1', PASSWORD);
  // Choosing a password and signing in with it is a guess at the others.
  for (let set = 0; set < 49; set += 1) await limits.countNewPassword(EMAIL);
  await t.rejects(attemptFrom('192.0.2.2', 'a guess'), WRONG);
  await t.rejects(attemptFrom('192.0.2.3', ANOTHER_PASSWORD), { code: 'rate_limited' });
  const known = attemptFrom('192.0.2.4', ANOTHER_PASSWORD, browser);
  await t.rejects(known, WRONG, 'nor from a browser that is known to the one account');
  t.match(
    await attemptFrom('192.0.2.5', PASSWORD, browser),
    { tokens: { length: 1 } },
    'which still opens that',
  );
});

t.test('ever new browsers that are known to one account share the guesses at others', async (t) => {
  const limits = createSignInLimits(await openTwo(t, ANOTHER_PASSWORD));
  for (let sent = 0; sent < 51; sent += 1) {
    const counted = await limits.count({ email: EMAIL, address: '192.0.2.1', browser: `number-${sent}` });
    t.equal(counted.mayTryOthers, sent < 50);
  }
});

for (const name of engineNames)
  t.test(`${name}: who signs in while one of two passwords changes goes on with the other`, async (t) => {
    const engine = await openTwo(t, PASSWORD, name);
    const limits = limitsWith(() =>
      engine.transaction(async (transaction) => {
        await lockCompany(transaction, COMPANY);
        const here = await findAccount(transaction, { company: COMPANY, email: EMAIL });
        const account = { company: COMPANY, id: here?.administrator.id ?? '' };
        await updateAdministratorRow(transaction, account, { password: 'scrypt$1024$8$1$AAAA$AAAA' });
      }),
    );
    const { tokens, isWaiting } = await signInBy(engine, PASSWORD, limits);
    t.ok(isWaiting);
    const companies = tokens.map((token) => token.split('.')[0]);
    t.strictSame(companies, ['other'], 'in the other company alone');
  });
