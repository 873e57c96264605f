import t, { type Test } from 'tap';

import { signIn } from '../../../src/server/access/administrators.ts';
import { createCompany } from '../../../src/server/access/companies.ts';
import { createSignInLimits, type SignInLimits } from '../../../src/server/access/sign-in-limits.ts';
import {
  findAccounts,
  updateAdministratorRow,
} from '../../../src/server/store/accounts/administrator-rows.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { lockCompany } from '../../../src/server/store/records/companies.ts';
import { type EngineName, engineNames, openTestDatabase, STORY_NOW } from '../../_server.ts';
import {
  addAdministrator,
  addCompany,
  COLLEAGUE,
  COMPANY,
  EMAIL,
  PASSWORD as SAME,
} from '../portal/_portal.ts';

const DIFFERENT = COLLEAGUE.password;

/** Two companies; in each somebody has an account with the same e-mail address. */
async function startTwo(t: Test, passwords: [string, string], name: EngineName = 'sqlite') {
  const database = await openTestDatabase(name);
  t.teardown(() => database[Symbol.asyncDispose]());
  const { engine } = database;
  await addCompany(engine);
  await createCompany(engine, 'other', {}, STORY_NOW);
  await addAdministrator(engine, { email: EMAIL, password: passwords[0] });
  await addAdministrator(engine, { email: EMAIL, password: passwords[1], company: 'other' });
  return { engine };
}

const from = { client: 'Test', now: STORY_NOW, lengths: { idleMinutes: 30, hoursMax: 12 } };
const quiet = { onAccount: () => undefined, afterwards: () => undefined };
const attempt = (engine: Engine, limits: SignInLimits, password: string, address: string, browser?: string) =>
  signIn(engine, limits, { email: EMAIL, password, address, browser, ...from, ...quiet });

t.test('whoever has one account of an address can’t guess the password of another by it', async (t) => {
  const { engine } = await startTwo(t, [SAME, DIFFERENT]);
  const limits = createSignInLimits(engine);
  const { browser } = await attempt(engine, limits, SAME, '192.0.2.1');
  // Choosing a password and signing in with it is a guess at the others.
  for (let set = 0; set < 49; set += 1) await limits.countNewPassword(EMAIL);
  await t.rejects(attempt(engine, limits, 'a guess', '192.0.2.2'), /password is wrong/);
  await t.rejects(attempt(engine, limits, DIFFERENT, '192.0.2.3'), { code: 'rate_limited' });
  const known = attempt(engine, limits, DIFFERENT, '192.0.2.4', browser);
  await t.rejects(known, /password is wrong/, 'nor from a browser that is known to the one account');
  t.equal(
    (await attempt(engine, limits, SAME, '192.0.2.5', browser)).tokens.length,
    1,
    'which still opens that',
  );
});

t.test('ever new browsers that are known to one account share the guesses at others', async (t) => {
  const { engine } = await startTwo(t, [SAME, DIFFERENT]);
  const limits = createSignInLimits(engine);
  for (let sent = 0; sent < 51; sent += 1) {
    const counted = await limits.count({ email: EMAIL, address: '192.0.2.1', browser: `number-${sent}` });
    t.equal(counted.mayTryOthers, sent < 50);
  }
});

for (const name of engineNames)
  t.test(`${name}: who signs in while one of two passwords changes goes on with the other`, async (t) => {
    const { engine } = await startTwo(t, [SAME, SAME], name);
    const forgive = () =>
      engine.transaction(async (transaction) => {
        await lockCompany(transaction, COMPANY);
        const [here] = await findAccounts(transaction, { company: COMPANY, email: EMAIL });
        const password = 'scrypt$1024$8$1$AAAA$AAAA';
        await updateAdministratorRow(
          transaction,
          { company: COMPANY, id: here?.administrator.id ?? '' },
          { password },
        );
      });
    const limits = {
      count: async () => ({ forgive, mayTryOthers: true }),
      countNewPassword: async () => undefined,
      mayAskForReset: async () => true,
    };
    const { tokens, isWaiting } = await attempt(engine, limits, SAME, '192.0.2.9');
    t.ok(isWaiting);
    t.strictSame(
      tokens.map((token) => token.split('.')[0]),
      ['other'],
      'in the other company alone',
    );
  });
