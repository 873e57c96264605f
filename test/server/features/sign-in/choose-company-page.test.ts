import { once } from 'node:events';
import { connect } from 'node:net';

import t, { type Test } from 'tap';

import { removeAdministrator } from '../../../../src/server/features/people/administrators.ts';
import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { inviteToReset } from '../../../../src/server/features/people/invitations.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { findAccount, findAccountsOf } from '../../../../src/server/store/accounts/administrator-rows.ts';
import { listAuditRows } from '../../../../src/server/store/accounts/audit-trail.ts';
import { until } from '../../../_command.ts';
import { type EngineName, engineNames, STORY_NOW } from '../../../_server.ts';
import {
  addAdministrator,
  COLLEAGUE,
  COMPANY,
  hiddenFields,
  inviteAs,
  NEW_PASSWORD,
  onSqlite,
  startPortal,
  type TestPortal,
  typedTwice,
  type Visitor,
} from '../../portal/_portal.ts';

const EMAIL = 'ceo@other.example';
const SAME = 'copper kettles whistle softly';
const DIFFERENT = COLLEAGUE.password;
const OTHER = 'other';
const SESSION = 'fieldledger_session';

type Add = (portal: TestPortal, company: string, password: string) => Promise<unknown>;

/** Adds an account whose password takes little work. */
const addQuickly: Add = async ({ engine }, company, password) =>
  addAdministrator(engine, { company, email: EMAIL, password, scopes: ['jobs:read'], mayInvite: false });

/** Adds an account as somebody makes their own. */
const addByLink: Add = async (portal, company, password) =>
  useLink(portal, await linkTo(portal.engine, company), password);

/** A portal with two companies; in each somebody has an account with the same email address. */
async function startTwo(
  t: Test,
  passwords: [string, string],
  { name = 'sqlite', add = addQuickly }: { name?: EngineName; add?: Add } = {},
) {
  const portal = await startPortal(t, name, { trustedProxies: 1 });
  await createCompany(portal.engine, OTHER, { name: 'Other Plumbing' }, STORY_NOW);
  await add(portal, COMPANY, passwords[0]);
  await add(portal, OTHER, passwords[1]);
  return portal;
}

const linkTo = async (engine: Engine, company: string, email = EMAIL): Promise<string> =>
  (await inviteAs(engine, email, company)).token;

async function useLink(portal: TestPortal, code: string, password = SAME, visitor = portal.visitor()) {
  await visitor.useLink(code, password);
  await visitor.visit('/portal');
  return visitor;
}

/** Signs in on the page, and opens what that leads to. */
async function signIn(portal: TestPortal, password: string, visitor = portal.visitor()): Promise<Visitor> {
  const from = { 'x-forwarded-for': '192.0.2.9' };
  const { statusCode, headers } = await visitor.signIn(EMAIL, password, from);
  if (statusCode === 303) await visitor.visit(headers.location ?? '');
  return visitor;
}

/** Chooses a company on the page that has a form for each. @returns the words of the page that follows. */
async function choose(visitor: Visitor, company: string): Promise<string> {
  await visitor.visit('/portal/companies');
  return visitor.act('/portal/companies', { company });
}

const actionsIn = async (engine: Engine, company: string) =>
  (await listAuditRows(engine, company, { limit: 50 })).map(({ action }) => action);

t.test('a password that opens several accounts gives the choice, and the header switches', async (t) => {
  const portal = await startTwo(t, [SAME, SAME], { add: addByLink });
  const visitor = await signIn(portal, SAME);
  t.match(visitor.text, /Choose a company .* Brennan Heating.* brennan .*Other Plumbing other/);
  const before = (await actionsIn(portal.engine, OTHER)).length;
  t.equal((await visitor.visit('/portal')).statusCode, 303, 'no page is shown before the choice');
  t.match(await choose(visitor, COMPANY), /Brennan Heating.*Change company/);
  t.equal((await actionsIn(portal.engine, OTHER)).length, before, 'the other company hears nothing');
  const foreign = hiddenFields(visitor.shown, '/portal/sign-out');
  t.match(await choose(visitor, OTHER), /Other Plumbing Menu Change company/);
  t.equal((await actionsIn(portal.engine, OTHER))[0], 'administrator.signed_in');
  const { statusCode } = await visitor.send('/portal/keys/new', foreign);
  t.equal(statusCode, 403, 'a form of the former company');
  await choose(visitor, COMPANY);
  await choose(visitor, OTHER);
  t.equal((await actionsIn(portal.engine, OTHER)).length, before + 1, 'coming back is not signing in');
  await visitor.visit('/portal/account');
  const stolen = visitor.copy();
  await visitor.submitAndFollow('/portal/sign-out');
  t.match(
    await stolen.read('/portal/companies'),
    /You are not signed in/,
    'the sessions of all companies end',
  );
  const left = await portal.engine.run("SELECT 1 FROM portal_sessions WHERE client <> 'Test'");
  t.equal(left.length, 2, 'but those of the links');
});

t.test('a failure is recorded in each company, and a success in the chosen one alone', async (t) => {
  const portal = await startTwo(t, [SAME, DIFFERENT]);
  await portal.engine.run('DELETE FROM audit_entries');
  await signIn(portal, SAME);
  t.strictSame(await actionsIn(portal.engine, OTHER), []);
  await signIn(portal, 'neither of the two');
  await until(async () => (await actionsIn(portal.engine, OTHER)).length > 0);
  t.strictSame(await actionsIn(portal.engine, OTHER), ['administrator.sign_in_failed']);
  await until(async () => (await actionsIn(portal.engine, COMPANY)).length > 1);
});

for (const name of engineNames)
  t.test(
    `${name}: a choice that is sent again after the removal, the sign-out or half an hour does nothing`,
    async (t) => {
      const portal = await startTwo(t, [SAME, SAME], { name });
      const { engine } = portal;
      const one = await signIn(portal, SAME);
      const other = one.copy();
      await other.submitAndFollow('/portal/companies', { company: COMPANY });
      const id = (await findAccount(engine.db, { company: OTHER, email: EMAIL }))?.administrator.id ?? '';
      const removal = removeAdministrator(engine, { company: OTHER, id, by: 'operator', now: STORY_NOW });
      const racers = [1, 2, 3, 4].map(() => one.copy());
      const signIns = [signIn(portal, SAME), signIn(portal, SAME)];
      await Promise.all([
        ...racers.map((racer) => racer.submit('/portal/companies', { company: OTHER })),
        removal,
      ]);
      for (const racer of [...racers, ...(await Promise.all(signIns))]) {
        t.notMatch(await racer.read('/portal/companies'), /Other Plumbing/);
        await racer.refused('/portal/companies', { company: OTHER });
      }
      t.match(await choose(other, COMPANY), /Brennan/, 'the account of the other company goes on');
      portal.setNow(new Date(STORY_NOW.getTime() + 31 * 60_000));
      t.match(await other.read('/portal/companies'), /You are not signed in/);
    },
  );

onSqlite('a guess is recorded also when whoever made it hangs up before the answer', async (t, portal) => {
  await useLink(portal, await linkTo(portal.engine, COMPANY));
  const { host, port, hostname } = new URL(portal.url);
  const visitor = portal.visitor();
  await visitor.visit('/portal/sign-in');
  const fields = hiddenFields(visitor.shown, '/portal/sign-in');
  const form = new URLSearchParams({ ...fields, email: EMAIL, password: 'not the one' }).toString();
  const request = [
    'POST /portal/sign-in HTTP/1.1',
    `Host: ${host}`,
    `Cookie: ${visitor.cookie}`,
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
  const failed = 'administrator.sign_in_failed';
  await until(async () => (await actionsIn(portal.engine, COMPANY)).includes(failed));
  t.pass('within the time of a test');
});

t.test('nobody enters a company whose account their password didn’t open', async (t) => {
  const portal = await startTwo(t, [SAME, DIFFERENT]);
  const visitor = await signIn(portal, SAME);
  t.match(visitor.text, /Brennan.*Overview/);
  t.notMatch(await visitor.read('/portal/companies'), /Other Plumbing/);
  const answers = new Set<string>();
  for (const company of [OTHER, 'nobody', '', "other' OR 1=1"])
    answers.add(await visitor.refused('/portal/companies', { company }));
  t.equal(answers.size, 1, 'and learns nothing of one that there is');
  t.match([...answers][0], /You are no longer signed in to that company/);
  t.match(await portal.visitor().read('/portal/companies'), /You are not signed in/);
});

t.test('the cookie of a session that waits opens nothing, in whatever order its tokens stand', async (t) => {
  const portal = await startTwo(t, [SAME, SAME]);
  const visitor = await signIn(portal, SAME);
  const tokens = (visitor.cookies.get(SESSION) ?? '').split('~');
  t.equal(tokens.length, 2);
  const forged = [tokens.toReversed(), tokens.slice(1), ['A'.repeat(43), ...tokens], tokens.slice(0, 1)];
  for (const order of [...forged, ['A'.repeat(100_00)]]) {
    visitor.cookies.set(SESSION, order.join('~'));
    t.equal((await visitor.visit('/portal/keys')).statusCode, 303);
  }
});

t.test('a reset link ends when its owner changes the password herself', async (t) => {
  const portal = await startTwo(t, [SAME, DIFFERENT]);
  const links = [COMPANY, OTHER].map((company) =>
    inviteToReset(portal.engine, { company, email: EMAIL, now: STORY_NOW }),
  );
  const [here, there] = await Promise.all(links);
  const visitor = await signIn(portal, SAME);
  await visitor.visit('/portal/account');
  await visitor.submitAndFollow('/portal/account/password', { present: SAME, ...typedTwice(NEW_PASSWORD) });
  const guest = portal.visitor();
  t.equal(await guest.openLink(here?.token ?? ''), 422);
  t.match(guest.text, /This link no longer works/);
  t.equal(await guest.openLink(there?.token ?? ''), 200, "another company's stays");
});

t.test('signing in again, or by a link, ends the browser’s former session', async (t) => {
  const portal = await startTwo(t, [SAME, DIFFERENT]);
  const visitor = await signIn(portal, SAME);
  const former = visitor.copy();
  t.equal((await former.visit('/portal')).statusCode, 200);
  await signIn(portal, DIFFERENT, visitor);
  t.equal((await former.visit('/portal')).statusCode, 303);
  const latter = visitor.copy();
  await useLink(portal, await linkTo(portal.engine, COMPANY, 'new@brennan.example'), SAME, visitor);
  t.equal((await latter.visit('/portal')).statusCode, 303);
});

t.test('an address with no account, one and four takes the same work, and so the same time', async (t) => {
  const portal = await startTwo(t, [SAME, SAME], { add: addByLink });
  for (const company of ['third', 'fourth']) {
    await createCompany(portal.engine, company, {}, STORY_NOW);
    await useLink(portal, await linkTo(portal.engine, company));
  }
  const one = 'one@other.example';
  await useLink(portal, await linkTo(portal.engine, OTHER, one));
  const accounts = await findAccountsOf(portal.engine, EMAIL);
  t.equal(accounts.length, 4);
  const salts = new Set(accounts.map(({ password }) => password.split('$')[4]));
  t.equal(salts.size, 1, 'one salt, so that one hash checks all');
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
