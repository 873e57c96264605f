import t, { type Test } from 'tap';

import { changePassword, removeAdministrator, signIn } from '../../../src/server/access/administrators.ts';
import { changeAccess } from '../../../src/server/access/change-access.ts';
import { acceptLink, inviteToReset } from '../../../src/server/access/invitations.ts';
import { prove } from '../../../src/server/access/proof.ts';
import { addSecondFactor, proposeSecondFactor } from '../../../src/server/access/second-factor.ts';
import type { SignInLimits } from '../../../src/server/access/sign-in-limits.ts';
import { UsageError } from '../../../src/errors.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import {
  type Administrator,
  updateAdministratorRow,
} from '../../../src/server/store/accounts/administrator-rows.ts';
import type { Act } from '../../../src/server/store/accounts/authorised-transaction.ts';
import { deleteSessionRows, listSessionRows } from '../../../src/server/store/accounts/session-rows.ts';
import { lockCompany } from '../../../src/server/store/records/companies.ts';
import { until } from '../../_command.ts';
import { type EngineName, engineNames, openTestDatabase, PORTAL_SETTINGS, STORY_NOW } from '../../_server.ts';
import {
  addAdministrator,
  addCompany,
  COLLEAGUE,
  COMPANY,
  EMAIL,
  NEW_PASSWORD,
  PASSWORD,
  signedInAs,
} from '../portal/_portal.ts';
import { meanwhile } from './_world.ts';
import { totpAt } from '../../_totp.ts';

const box = PORTAL_SETTINGS.secrets;
const ANOTHER_PASSWORD = 'seven quiet harbour bells';
const WRONG = new UsageError('The e-mail address or the password is wrong.');
const quiet = { onAccount: () => undefined, afterwards: () => undefined };
const attempt = {
  serviceName: 'Fieldledger',
  address: '192.0.2.1',
  client: 'Test',
  now: STORY_NOW,
  lengths: { idleMinutes: 30, hoursMax: 12 },
};

/** An engine with the example company and its administrator, who has one session. */
async function openCompany(t: Test, name: EngineName) {
  const database = await openTestDatabase(name);
  t.teardown(() => database[Symbol.asyncDispose]());
  const { engine, url } = database;
  await addCompany(engine);
  const administrator = await addAdministrator(engine, { email: EMAIL, password: PASSWORD });
  return { engine, url, administrator };
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

function signInBy(engine: Engine, password: string, limits = limitsWith()) {
  return signIn(engine, limits, { ...attempt, email: EMAIL, password, ...quiet });
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
    const { engine, administrator } = await openCompany(t, 'sqlite');
    const limits = limitsWith(() => renew(engine, administrator));
    await t.rejects(signInBy(engine, PASSWORD, limits), WRONG);
    t.equal((await listSessionRows(engine, administrator)).length, 1, 'of who knows the new password');
    await signInBy(engine, NEW_PASSWORD);
  });
}

t.test('a password that two tabs change at once is the one of the first', async (t) => {
  const { engine, administrator } = await openCompany(t, 'sqlite');
  const limits = limitsWith(() => change(engine, administrator));
  const late = change(engine, administrator, ANOTHER_PASSWORD, limits);
  await t.rejects(late, new UsageError('Your present password is not right.', { field: 'present' }));
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
  const { engine, administrator } = await openCompany(t, 'sqlite');
  const by = await signedInAs(engine, administrator);
  const act = { company: COMPANY, by, now: STORY_NOW };
  const { secret, sealed } = proposeSecondFactor(box, administrator, { issuer: 'Test' });
  const codeAt = (seconds: number) => totpAt(secret, STORY_NOW.getTime() / 1000 + seconds);
  await addSecondFactor(engine, box, { ...act, sealed, code: codeAt(0) });
  await engine.run("UPDATE portal_sessions SET proved_at = '2026-11-20T00:00:00.000Z'");
  const proveWith = (given: string, change: string) =>
    prove(
      meanwhile(engine, () => engine.run(change)),
      limitsWith(),
      { ...act, given, field: 'proof', secrets: box },
    );
  const wrong = { field: 'proof', message: 'Your password or code is not right.' };
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
