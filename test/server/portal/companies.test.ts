import { once } from 'node:events';
import { connect } from 'node:net';

import t, { type Test } from 'tap';

import { removeAdministrator, signIn as signInBy } from '../../../src/server/access/administrators.ts';
import { createCompany } from '../../../src/server/access/companies.ts';
import { invite, inviteToReset } from '../../../src/server/access/invitations.ts';
import { createSignInLimits } from '../../../src/server/access/sign-in-limits.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import {
  findAccounts,
  updateAdministratorRow,
} from '../../../src/server/store/accounts/administrator-rows.ts';
import { listAuditRows } from '../../../src/server/store/accounts/audit-trail.ts';
import { lockCompany } from '../../../src/server/store/records/companies.ts';
import { until } from '../../_command.ts';
import { type EngineName, engineNames, STORY_NOW } from '../../_server.ts';
import {
  addAdministrator,
  COMPANY,
  hiddenFields,
  onEachEngine,
  onSqlite,
  startPortal,
  type TestPortal,
  type Visitor,
} from './_portal.ts';

const EMAIL = 'ceo@other.example';
const SAME = 'copper kettles whistle softly';
const DIFFERENT = 'seven quiet harbour bells';
const OTHER = 'other';
const SESSION = 'fieldledger_session';

type Add = (portal: TestPortal, company: string, password: string) => Promise<unknown>;

/** Adds an account whose password takes little work. */
const addQuickly: Add = async ({ engine }, company, password) =>
  addAdministrator(engine, { company, email: EMAIL, password, scopes: ['jobs:read'], mayInvite: false });

/** Adds an account as somebody makes their own. */
const addByLink: Add = async (portal, company, password) =>
  useLink(portal, await linkTo(portal.engine, company), password);

/** A portal with two companies; in each somebody has an account with the same e-mail address. */
async function startTwo(t: Test, name: EngineName, passwords: [string, string], add: Add = addQuickly) {
  const portal = await startPortal(t, name, { trustedProxies: 1 });
  await createCompany(portal.engine, OTHER, { name: 'Other Plumbing' }, STORY_NOW);
  await add(portal, COMPANY, passwords[0]);
  await add(portal, OTHER, passwords[1]);
  return portal;
}

async function linkTo(engine: Engine, company: string, email = EMAIL): Promise<string> {
  const options = { company, email, scopes: ['jobs:read'], mayInvite: false, now: STORY_NOW };
  return (await invite(engine, { ...options, by: 'operator' })).token;
}

async function useLink(portal: TestPortal, code: string, password = SAME, visitor = portal.visitor()) {
  await visitor.visit('/portal/invitation');
  await visitor.submit('/portal/invitation', { code });
  const fields = { name: 'Cleo', password, 'password-again': password };
  await visitor.submitAndFollow('/portal/invitation/accept', fields);
  return visitor;
}

async function signIn(
  portal: TestPortal,
  password: string,
  visitor = portal.visitor(),
  address = '192.0.2.9',
) {
  await visitor.visit('/portal/sign-in');
  const fields = { email: EMAIL, password };
  const answer = await visitor.submit('/portal/sign-in', fields, { 'x-forwarded-for': address });
  if (answer.statusCode === 303) await visitor.visit(answer.headers.location ?? '');
  return { statusCode: answer.statusCode, visitor };
}

/** Chooses a company on the page that is shown, which has a form for each. */
async function choose(visitor: Visitor, company: string) {
  await visitor.visit('/portal/companies');
  return visitor.submitAndFollow('/portal/companies', { company });
}

const actionsIn = async (engine: Engine, company: string) =>
  (await listAuditRows(engine, company, { limit: 50 })).map(({ action }) => action);

for (const name of engineNames) {
  t.test(
    `${name}: a password that opens several accounts gives the choice, and the header switches`,
    async (t) => {
      const portal = await startTwo(t, name, [SAME, SAME], addByLink);
      const { visitor } = await signIn(portal, SAME);
      t.match(visitor.text, /Choose a company .* Brennan Heating.* brennan .*Other Plumbing other/);
      const before = (await actionsIn(portal.engine, OTHER)).length;
      t.equal((await visitor.visit('/portal')).statusCode, 303, 'no page is shown before the choice');
      await choose(visitor, COMPANY);
      t.match(visitor.text, /Brennan Heating.*Change company/);
      t.equal((await actionsIn(portal.engine, OTHER)).length, before, 'the other company hears nothing');
      const foreignForm = hiddenFields(visitor.shown, '/portal/sign-out');
      await choose(visitor, OTHER);
      t.match(visitor.text, /Other Plumbing Menu Change company/);
      t.equal((await actionsIn(portal.engine, OTHER))[0], 'administrator.signed_in');
      t.equal(
        (await visitor.send('/portal/keys/new', foreignForm)).statusCode,
        403,
        'a form of the former company',
      );
      await choose(visitor, COMPANY);
      await choose(visitor, OTHER);
      t.equal((await actionsIn(portal.engine, OTHER)).length, before + 1, 'coming back is not signing in');
      await visitor.visit('/portal/account');
      const stolen = visitor.copy();
      await visitor.submitAndFollow('/portal/sign-out');
      t.match(
        await stolen.read('/portal/companies'),
        /You are not signed in/,
        'signing out ends the sessions of all companies',
      );
      t.equal(
        (await portal.engine.run("SELECT 1 FROM portal_sessions WHERE client <> 'Test'")).length,
        2,
        'but those of the links',
      );
    },
  );

  t.test(
    `${name}: a choice that is sent again after the removal, the sign-out or half an hour does nothing`,
    async (t) => {
      const portal = await startTwo(t, name, [SAME, SAME]);
      const { engine } = portal;

      const one = (await signIn(portal, SAME)).visitor;
      const other = one.copy();
      other.shown = one.shown;
      await other.submitAndFollow('/portal/companies', { company: COMPANY });
      const id = (await findAccounts(engine.db, { company: OTHER, email: EMAIL }))[0]?.administrator.id ?? '';
      const removal = removeAdministrator(engine, { company: OTHER, id, by: 'operator', now: STORY_NOW });
      const racers = [1, 2, 3, 4].map(() => one.copy());
      for (const racer of racers) racer.shown = one.shown;
      const signIns = [signIn(portal, SAME), signIn(portal, SAME)];
      await Promise.all([
        ...racers.map((racer) => racer.submit('/portal/companies', { company: OTHER })),
        removal,
      ]);
      for (const { visitor } of await Promise.all(signIns)) racers.push(visitor);
      for (const racer of racers) {
        await racer.visit('/portal/companies');
        t.notMatch(racer.shown, /Other Plumbing/);
        t.equal((await racer.submit('/portal/companies', { company: OTHER })).statusCode, 422);
      }
      await choose(other, COMPANY);
      t.match(other.text, /Brennan/, 'the account of the other company goes on');
      portal.setNow(new Date(STORY_NOW.getTime() + 31 * 60_000));
      t.match(await other.read('/portal/companies'), /You are not signed in/);
    },
  );

  t.test(
    `${name}: a failure is recorded in each company, and a success in the chosen one alone`,
    async (t) => {
      const portal = await startTwo(t, name, [SAME, DIFFERENT]);
      for (const company of [COMPANY, OTHER])
        await portal.engine.run(`DELETE FROM audit_entries WHERE company = '${company}'`);
      await signIn(portal, SAME);
      t.strictSame(await actionsIn(portal.engine, OTHER), []);
      await signIn(portal, 'neither of the two');
      await until(async () => (await actionsIn(portal.engine, OTHER)).length > 0);
      t.strictSame(await actionsIn(portal.engine, OTHER), ['administrator.sign_in_failed']);
      await until(async () => (await actionsIn(portal.engine, COMPANY)).length > 1);
    },
  );

  t.test(
    `${name}: whoever has one account of an address can't guess the password of another by it`,
    async (t) => {
      const { engine } = await startTwo(t, name, [SAME, DIFFERENT]);
      // Their passwords were counted too, which servers that share a database share.
      if (name === 'postgres') await engine.run('DELETE FROM rate_counts');
      const limits = createSignInLimits(engine);
      const from = { client: 'Test', now: STORY_NOW, lengths: { idleMinutes: 30, hoursMax: 12 } };
      const quiet = { onAccount: () => undefined, afterwards: () => undefined };
      const attempt = (password: string, address: string, browser?: string) =>
        signInBy(engine, limits, { email: EMAIL, password, address, browser, ...from, ...quiet });
      const { browser } = await attempt(SAME, '192.0.2.1');
      // Choosing a password and signing in with it is a guess at the others.
      for (let set = 0; set < 49; set += 1) await limits.countNewPassword(EMAIL);
      const last = await attempt('a guess', '192.0.2.2').catch((error: unknown) => error);
      t.match(last, { message: /password is wrong/ });
      await t.rejects(attempt(DIFFERENT, '192.0.2.3'), { code: 'rate_limited' });
      await t.rejects(
        attempt(DIFFERENT, '192.0.2.4', browser),
        /password is wrong/,
        'nor from a browser that is known to the one account',
      );
      t.equal((await attempt(SAME, '192.0.2.5', browser)).tokens.length, 1, 'which still opens that');
    },
  );
}

onEachEngine('an address that one company invites can be invited by another', async (t, portal) => {
  await createCompany(portal.engine, OTHER, { name: 'Other Plumbing' }, STORY_NOW);
  const attacker = await useLink(portal, await linkTo(portal.engine, COMPANY), DIFFERENT);
  t.match(attacker.text, /Brennan/);
  const head = await useLink(portal, await linkTo(portal.engine, OTHER), SAME);
  t.match(head.text, /Other Plumbing/);
  const { visitor } = await signIn(portal, SAME);
  t.match(visitor.text, /Other Plumbing.*Overview/, 'her password opens her own account alone');
  t.notMatch(visitor.shown, /Change company|Brennan/);
  const { visitor: again } = await signIn(portal, DIFFERENT);
  t.match(again.text, /Brennan.*Overview/);
  t.notMatch(again.shown, /Change company|Other Plumbing/);
});

onSqlite('a guess is recorded also when whoever made it hangs up before the answer', async (t, portal) => {
  await useLink(portal, await linkTo(portal.engine, COMPANY));
  const { host, port, hostname } = new URL(portal.url);
  const visitor = portal.visitor();
  await visitor.visit('/portal/sign-in');
  const fields = hiddenFields(visitor.shown, '/portal/sign-in');
  const form = new URLSearchParams({ ...fields, email: EMAIL, password: 'not the one' }).toString();
  const { cookie } = visitor;
  const request = [
    'POST /portal/sign-in HTTP/1.1',
    `Host: ${host}`,
    `Cookie: ${cookie}`,
    'Content-Type: application/x-www-form-urlencoded',
    `Content-Length: ${form.length}`,
    `\r\n${form}`,
  ].join('\r\n');
  // One of them may be gone before it is read.
  for (let guess = 0; guess < 3; guess += 1) {
    const socket = connect(Number(port), hostname);
    // The check of the password takes far longer.
    socket.write(request, () => socket.destroy());
    await once(socket, 'close');
  }
  const isRecorded = async () =>
    (await actionsIn(portal.engine, COMPANY)).includes('administrator.sign_in_failed');
  await until(isRecorded);
  t.ok(await isRecorded());
});

t.test('nobody enters a company whose account their password didn’t open', async (t) => {
  const portal = await startTwo(t, 'sqlite', [SAME, DIFFERENT]);
  const { visitor } = await signIn(portal, SAME);
  t.match(visitor.text, /Brennan.*Overview/);
  await visitor.visit('/portal/companies');
  t.notMatch(visitor.shown, /Other Plumbing/);
  const answers = [];
  for (const company of [OTHER, 'nobody', '', "other' OR 1=1"]) {
    const { statusCode } = await visitor.submit('/portal/companies', { company });
    answers.push([statusCode, visitor.text.replaceAll(/\s+/g, ' ')]);
  }
  t.equal(new Set(answers.map(String)).size, 1, 'and learns nothing of one that there is');
  t.match(answers[0], [422, /You are no longer signed in there/]);
  const guest = portal.visitor();
  t.match(await guest.read('/portal/companies'), /You are not signed in/);
});

t.test('the cookie of a session that waits opens nothing, in whatever order its tokens stand', async (t) => {
  const portal = await startTwo(t, 'sqlite', [SAME, SAME]);
  const { visitor } = await signIn(portal, SAME);
  const tokens = (visitor.cookies.get(SESSION) ?? '').split('~');
  t.equal(tokens.length, 2);
  const forged = [tokens.toReversed(), tokens.slice(1), ['A'.repeat(43), ...tokens], tokens.slice(0, 1)];
  for (const order of forged) {
    visitor.cookies.set(SESSION, order.join('~'));
    t.equal((await visitor.visit('/portal/keys')).statusCode, 303);
  }
  visitor.cookies.set(SESSION, 'A'.repeat(100_00));
  t.equal((await visitor.visit('/portal/keys')).statusCode, 303);
});

/** Sets another password for the account of the first company. */
async function changeElsewhere(engine: Engine, meanwhile: () => Promise<unknown> = async () => undefined) {
  const [here] = await findAccounts(engine.db, { company: COMPANY, email: EMAIL });
  const password = 'scrypt$1024$8$1$AAAA$AAAA';
  return engine.transaction(async (transaction) => {
    await lockCompany(transaction, COMPANY);
    await meanwhile();
    await updateAdministratorRow(transaction, here?.administrator ?? { company: '', id: '' }, { password });
  });
}

for (const name of engineNames)
  t.test(`${name}: who signs in while one of two passwords changes goes on with the other`, async (t) => {
    const portal = await startTwo(t, name, [SAME, SAME]);
    const { engine } = portal;
    const forgive = () => changeElsewhere(engine);
    const limits = {
      count: async () => ({ forgive, mayTryOthers: true }),
      countNewPassword: async () => undefined,
      mayAskForReset: async () => true,
    };
    const from = { address: '192.0.2.9', client: 'Test', now: STORY_NOW };
    const { tokens, isWaiting } = await signInBy(engine, limits, {
      email: EMAIL,
      password: SAME,
      ...from,
      lengths: { idleMinutes: 30, hoursMax: 12 },
      onAccount: () => undefined,
      afterwards: () => undefined,
    });
    t.ok(isWaiting);
    const visitor = portal.visitor();
    visitor.cookies.set(SESSION, tokens.join('~'));
    await choose(visitor, OTHER);
    t.match(visitor.text, /Other Plumbing/);
  });

t.test('ever new browsers that are known to one account share the guesses at others', async (t) => {
  const { engine } = await startTwo(t, 'sqlite', [SAME, DIFFERENT]);
  const limits = createSignInLimits(engine);
  const counts = [];
  for (let sent = 0; sent < 51; sent += 1)
    counts.push(await limits.count({ email: EMAIL, address: '192.0.2.1', browser: `number-${sent}` }));
  t.strictSame(
    counts.map(({ mayTryOthers }) => mayTryOthers),
    [...Array.from({ length: 50 }, () => true), false],
  );
});

t.test('a reset link ends when its owner changes the password herself', async (t) => {
  const portal = await startTwo(t, 'sqlite', [SAME, DIFFERENT]);
  const { token } = await inviteToReset(portal.engine, { company: COMPANY, email: EMAIL, now: STORY_NOW });
  const there = await inviteToReset(portal.engine, { company: OTHER, email: EMAIL, now: STORY_NOW });
  const { visitor } = await signIn(portal, SAME);
  await visitor.visit('/portal/account');
  const next = 'granite lanterns drift north';
  await visitor.submitAndFollow('/portal/account/password', {
    present: SAME,
    password: next,
    'password-again': next,
  });
  const guest = portal.visitor();
  await guest.visit('/portal/invitation');
  t.match(await guest.refused('/portal/invitation', { code: token }), /This link can't be used/);
  await guest.visit('/portal/invitation');
  t.equal(
    (await guest.submit('/portal/invitation', { code: there.token })).statusCode,
    200,
    "another company's stays",
  );
});

t.test('signing in again, or by a link, ends the browser’s former session', async (t) => {
  const portal = await startTwo(t, 'sqlite', [SAME, DIFFERENT]);
  const { visitor } = await signIn(portal, SAME);
  const former = visitor.copy();
  t.equal((await former.visit('/portal')).statusCode, 200);
  await signIn(portal, DIFFERENT, visitor);
  t.equal((await former.visit('/portal')).statusCode, 303);
  const latter = visitor.copy();
  await useLink(portal, await linkTo(portal.engine, COMPANY, 'new@brennan.example'), SAME, visitor);
  t.equal((await latter.visit('/portal')).statusCode, 303);
});

t.test('an address with no account, one and four takes the same work, and so the same time', async (t) => {
  const portal = await startTwo(t, 'sqlite', [SAME, SAME], addByLink);
  for (const company of ['third', 'fourth']) {
    await createCompany(portal.engine, company, {}, STORY_NOW);
    await useLink(portal, await linkTo(portal.engine, company));
  }
  const one = 'one@other.example';
  await useLink(portal, await linkTo(portal.engine, OTHER, one));
  const salts = (await findAccounts(portal.engine.db, { email: EMAIL })).map(
    ({ password }) => password.split('$')[4],
  );
  t.equal(salts.length, 4);
  t.equal(new Set(salts).size, 1, 'one salt, so that one hash checks all');
  const works = [];
  for (const email of ['none@other.example', one, EMAIL]) {
    const times = [];
    for (let round = 0; round < 4; round += 1) {
      const visitor = portal.visitor();
      await visitor.visit('/portal/sign-in');
      const startedAt = process.cpuUsage();
      const headers = { 'x-forwarded-for': `198.51.100.${works.length * 10 + round}` };
      await visitor.submit('/portal/sign-in', { email, password: 'not the one' }, headers);
      const { user, system } = process.cpuUsage(startedAt);
      times.push((user + system) / 1_000);
    }
    works.push(Math.min(...times));
  }
  t.ok(Math.max(...works) < 1.6 * Math.min(...works), 'a second hash would double it');
});
