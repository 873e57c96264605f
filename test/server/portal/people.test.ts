import t from 'tap';

import { createCompany } from '../../../src/server/access/companies.ts';
import { invite, INVITATIONS_MAX } from '../../../src/server/access/invitations.ts';
import { createKey } from '../../../src/server/access/keys.ts';
import type { Scope } from '../../../src/contract/scopes.ts';
import { listActiveKeys } from '../../../src/server/store/keys/keys.ts';
import { listInvitations } from '../../../src/server/store/accounts/link-rows.ts';
import { STORY_NOW } from '../../_server.ts';
import {
  addAdministrator,
  COMPANY,
  hiddenFields,
  onEachEngine,
  onSqlite,
  signedInAs,
  startPortal,
  type TestPortal,
  type Visitor,
} from './_portal.ts';

const CONOR = { email: 'conor@brennan.example', password: 'seven quiet harbour bells' };
const NEWCOMER = 'niamh@brennan.example';
const later = (hours: number) => new Date(STORY_NOW.getTime() + hours * 3_600_000);

/** Invites somebody by the form, and gives the code of the link. */
async function inviteByForm(visitor: Visitor, fields: Record<string, string | string[]>): Promise<string> {
  await visitor.visit('/portal/people');
  await visitor.submitAndFollow('/portal/people/invite', fields);
  return /\/portal\/invitation#([\w-]+\.[\w-]{43})/.exec(visitor.shown)?.[1] ?? '';
}

/** Uses a code the way its owner does. */
async function useCode(portal: TestPortal, code: string, fields: Record<string, string>): Promise<Visitor> {
  const visitor = portal.visitor();
  await visitor.visit('/portal/invitation');
  const { statusCode } = await visitor.submit('/portal/invitation', { code });
  if (statusCode !== 200) return visitor;
  await visitor.submit('/portal/invitation/accept', {
    name: 'Niamh',
    password: CONOR.password,
    'password-again': CONOR.password,
    ...fields,
  });
  return visitor;
}

/** An administrator who has less than everything. */
async function lesser(portal: TestPortal, scopes: Scope[], mayInvite = true) {
  const administrator = await addAdministrator(portal.engine, { ...CONOR, name: 'Conor', scopes, mayInvite });
  return { administrator, visitor: await portal.signedIn(CONOR) };
}

onEachEngine('somebody is invited by a link that works once, and shows once', async (t, portal) => {
  const inviter = await portal.signedIn();
  const code = await inviteByForm(inviter, { email: NEWCOMER, scopes: ['jobs:read', 'forms:read'] });
  t.match(inviter.text, /niamh@brennan.example is invited/);
  t.match(inviter.text, /It is shown only now/);
  await inviter.visit('/portal/people');
  t.notOk(inviter.shown.includes(code), 'loaded again, the page shows no link');
  t.match(inviter.text, /niamh@brennan.example jobs:read, forms:read/, 'but who is invited');

  const newcomer = await useCode(portal, code, {});
  await newcomer.visit('/portal/account');
  t.match(newcomer.text, /Niamh E-mail address niamh@brennan.example Access jobs:read, forms:read/);
  t.match(newcomer.text, /You may see them/, 'and may not invite, because nobody said so');

  const again = await useCode(portal, code, {});
  t.match(again.text, /This link can't be used: it was used already, has expired, or was replaced/);
  const tables = JSON.stringify([
    await portal.engine.run('SELECT * FROM portal_links'),
    await portal.engine.run('SELECT * FROM portal_sessions'),
    await portal.engine.run('SELECT * FROM audit_entries'),
  ]);
  t.notOk(tables.includes(code), 'the database never holds it');
});

onEachEngine('of many who use a link at once one gets in', async (t, portal) => {
  const { token } = await invite(portal.engine, {
    company: COMPANY,
    email: NEWCOMER,
    scopes: ['jobs:read'],
    mayInvite: false,
    by: 'operator',
    now: STORY_NOW,
  });
  const visitors = await Promise.all(Array.from({ length: 4 }, () => useCode(portal, token, {})));
  const signedIn = visitors.filter(({ cookies }) => cookies.has('fieldledger_session'));
  t.equal(signedIn.length, 1);
});

onSqlite('an administrator gives only what they have, whatever is added to the form', async (t, portal) => {
  const { visitor } = await lesser(portal, ['jobs:read']);
  await visitor.visit('/portal/people');
  t.notMatch(visitor.shown, /value="invoices:read"/, 'the others are not offered');
  const { statusCode } = await visitor.submit('/portal/people/invite', {
    email: NEWCOMER,
    scopes: ['jobs:read', 'invoices:read'],
  });
  t.equal(statusCode, 422);
  t.match(visitor.text, /"invoices:read" is not a scope that you can give; you have jobs:read/);
  const unknown = await visitor.submit('/portal/people/invite', { email: NEWCOMER, scopes: ['admin'] });
  t.equal(unknown.statusCode, 422);
  t.strictSame(await listInvitations(portal.engine.db, COMPANY, STORY_NOW), []);
});

onSqlite('nobody ends an invitation that gives more than they have', async (t, portal) => {
  const superior = await portal.signedIn();
  const code = await inviteByForm(superior, { email: NEWCOMER, scopes: ['jobs:read', 'invoices:read'] });
  const [invitation] = await listInvitations(portal.engine.db, COMPANY, STORY_NOW);
  const { visitor } = await lesser(portal, ['jobs:read']);
  await visitor.visit('/portal/people');
  const withdraw = `/portal/people/invitations/${invitation?.id ?? ''}/withdraw`;
  const hidden = hiddenFields(visitor.shown, '/portal/sign-out');
  t.notMatch(visitor.shown, withdraw, 'no button leads there');
  const refused = await visitor.submit('/portal/people/invite', { email: NEWCOMER, scopes: 'jobs:read' });
  t.equal(refused.statusCode, 422);
  t.match(
    visitor.text,
    /"niamh@brennan.example" is invited already, and a new invitation would end that one\. The invitation of niamh@brennan.example gives access that you don't have: invoices:read\./,
  );
  t.equal((await visitor.send(withdraw, hidden)).statusCode, 422);
  t.match(visitor.text, /gives access that you don't have: invoices:read/);
  t.strictSame(await listInvitations(portal.engine.db, COMPANY, STORY_NOW), [invitation]);
  t.ok((await useCode(portal, code, {})).cookies.has('fieldledger_session'), 'the link works still');
});

onSqlite('a person who may not invite can neither invite, nor withdraw, nor remove', async (t, portal) => {
  const inviter = await portal.signedIn();
  await inviteByForm(inviter, { email: NEWCOMER, scopes: ['jobs:read'] });
  const [invitation] = await listInvitations(portal.engine.db, COMPANY, STORY_NOW);
  const { visitor } = await lesser(portal, [...portal.administrator.scopes], false);
  await visitor.visit('/portal/people');
  t.match(visitor.text, /You can’t invite anybody/);
  const hidden = hiddenFields(visitor.shown, '/portal/sign-out');
  const attempts: [action: string, fields: Record<string, string>][] = [
    ['/portal/people/invite', { email: 'x@brennan.example', scopes: 'jobs:read' }],
    [`/portal/people/invitations/${invitation?.id ?? ''}/withdraw`, {}],
    [`/portal/people/${portal.administrator.id}/remove`, {}],
  ];
  for (const [action, fields] of attempts) {
    const { statusCode } = await visitor.send(action, { ...hidden, ...fields });
    t.equal(statusCode, 422, action);
    t.match(visitor.text, /You are not allowed to invite or remove administrators/);
  }
  t.equal((await listInvitations(portal.engine.db, COMPANY, STORY_NOW)).length, 1);
  t.equal((await inviter.visit('/portal')).statusCode, 200);
});

onSqlite('nobody removes themselves, or somebody who has more than they have', async (t, portal) => {
  const { administrator, visitor } = await lesser(portal, ['jobs:read']);
  await visitor.visit('/portal/people');
  const hidden = hiddenFields(visitor.shown, '/portal/sign-out');
  await visitor.send(`/portal/people/${portal.administrator.id}/remove`, hidden);
  t.match(visitor.text, /Aoife Brennan has access that you don't have: people:read/);
  await visitor.send(`/portal/people/${administrator.id}/remove`, hidden);
  t.match(visitor.text, /You can't remove yourself/);
  const superior = await portal.signedIn();
  await superior.visit('/portal/people');
  await superior.submitAndFollow(`/portal/people/${administrator.id}/remove`);
  t.match(superior.text, /Conor no longer has access/);
  t.equal((await visitor.visit('/portal')).statusCode, 303);
});

t.test("another company's people and invitations answer as if there were none", async (t) => {
  const portal = await startPortal(t);
  await createCompany(portal.engine, 'rival', {}, STORY_NOW);
  const rival = await addAdministrator(portal.engine, { company: 'rival', email: 'rita@rival.example' });
  const { invitation } = await invite(portal.engine, {
    company: 'rival',
    email: 'rob@rival.example',
    scopes: ['jobs:read'],
    mayInvite: false,
    by: 'operator',
    now: STORY_NOW,
  });
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/people');
  t.notMatch(visitor.shown, /rival/);
  const hidden = hiddenFields(visitor.shown, '/portal/sign-out');
  const withoutId = (body: string) => body.replaceAll(/<code>[^<]*<\/code>/g, '');
  for (const [theirs, nobodys] of [
    [`/portal/people/${rival.id}/remove`, '/portal/people/adm_none/remove'],
    [`/portal/people/invitations/${invitation.id}/withdraw`, '/portal/people/invitations/none/withdraw'],
  ] as const) {
    const answer = await visitor.send(theirs, hidden);
    t.equal(answer.statusCode, 404);
    const other = await visitor.send(nobodys, hidden);
    t.equal(withoutId(answer.body), withoutId(other.body), 'to the letter');
  }
  t.equal((await listInvitations(portal.engine.db, 'rival', STORY_NOW)).length, 1);
  await visitor.visit(`/portal/audit?who=${rival.id}`);
  t.match(visitor.text, /Nothing is recorded here/);
});

onSqlite('an invitation is withdrawn, replaced, and ends after three days', async (t, portal) => {
  const inviter = await portal.signedIn();
  const first = await inviteByForm(inviter, { email: NEWCOMER, scopes: ['jobs:read'] });
  const second = await inviteByForm(inviter, { email: NEWCOMER, scopes: ['jobs:read'] });
  t.match((await useCode(portal, first, {})).text, /This link can't be used/, 'replaced');
  const [invitation] = await listInvitations(portal.engine.db, COMPANY, STORY_NOW);
  await inviter.submitAndFollow(`/portal/people/invitations/${invitation?.id ?? ''}/withdraw`);
  t.match((await useCode(portal, second, {})).text, /This link can't be used/, 'withdrawn');
  const third = await inviteByForm(inviter, { email: NEWCOMER, scopes: ['jobs:read'] });
  portal.setNow(later(72));
  t.match((await useCode(portal, third, {})).text, /This link can't be used/, 'three days later');
});

onSqlite('a link whose form is refused can be used after all', async (t, portal) => {
  const inviter = await portal.signedIn();
  const code = await inviteByForm(inviter, { email: NEWCOMER, scopes: ['jobs:read'] });
  t.match((await useCode(portal, code, { 'password-again': 'other' })).text, /The two new passwords differ/);
  const weak = { password: 'short', 'password-again': 'short' };
  t.match((await useCode(portal, code, weak)).text, /The password must have 12 to 200 characters/);
  t.match((await useCode(portal, code, { name: ' ' })).text, /The name must have 1 to 100 characters/);
  const accepted = await useCode(portal, `${portal.url}/portal/invitation#${code}`, {});
  t.ok(accepted.cookies.has('fieldledger_session'), 'the whole link may be pasted');
});

onSqlite('the refusal of an invitation names its cause', async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/people');
  const refusals: [fields: Record<string, string | string[]>, text: RegExp][] = [
    [{ email: 'nobody', scopes: 'jobs:read' }, /"nobody" is not an e-mail address/],
    [{ email: 'a@b@c', scopes: 'jobs:read' }, /is not an e-mail address/],
    [{ email: 'a\u0007@b.example', scopes: 'jobs:read' }, /is not an e-mail address/],
    ...['jane@b.example.', '.jane@b.example', 'ja..ne@b.example', 'jane@-b.example', 'jane@b-.example'].map(
      (email): (typeof refusals)[number] => [{ email, scopes: 'jobs:read' }, /is not an e-mail address/],
    ),
    [{ email: 'aoife@brennan.example', scopes: 'jobs:read' }, /administers this company already/],
    [{ email: 'се\u043e@brennan.example', scopes: 'jobs:read' }, /has the character "с" \(U\+0441\)/],
    [{ email: 'ceo@br\u0435nnan.example', scopes: 'jobs:read' }, /\(U\+0435\).*only the letters a to z/],
    [{ email: 'ce\u00f8@brennan.example', scopes: 'jobs:read' }, /\(U\+00F8\)/],
    [{ email: NEWCOMER }, /Choose at least one scope/],
    [{}, /is not an e-mail address/],
  ];
  for (const [fields, text] of refusals) {
    t.equal((await visitor.submit('/portal/people/invite', fields)).statusCode, 422);
    t.match(visitor.text, text);
  }
  for (let made = 0; made < INVITATIONS_MAX; made += 1)
    await inviteByForm(visitor, { email: `p${made}@brennan.example`, scopes: 'jobs:read' });
  await visitor.submit('/portal/people/invite', { email: NEWCOMER, scopes: 'jobs:read' });
  t.match(visitor.text, /At most 20 invitations can wait at once/);
});

onSqlite('the keys of a removed administrator are revoked if they are ticked', async (t, portal) => {
  const { engine } = portal;
  const conor = await addAdministrator(engine, { ...CONOR, name: 'Conor' });
  const by = await signedInAs(engine, conor);
  const made = { prefix: 'fl', company: COMPANY, scopes: ['jobs:read'], now: STORY_NOW };
  const afterwards = { ...made, now: new Date(STORY_NOW.getTime() + 60_000) };
  const { record: ledger } = await createKey(engine, { ...made, name: 'Ledger', by });
  await createKey(engine, { ...afterwards, name: 'Dashboard', by });
  const { record: foreign } = await createKey(engine, { ...afterwards, name: 'Of the operator' });
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/people');
  t.match(visitor.text, /Revoke these keys that they made .*Dashboard jobs:read Ledger jobs:read/);
  t.notMatch(visitor.text, /Of the operator/);
  const fields = { keys: [ledger.id, foreign.id, 'nothing'] };
  await visitor.submitAndFollow(`/portal/people/${conor.id}/remove`, fields);
  t.match(
    visitor.text,
    /Conor no longer has access\. Revoked: “Ledger”\. These keys that they made keep working: “Dashboard”\./,
  );
  const left = (await listActiveKeys(engine, COMPANY, later(2))).map(({ name }) => name);
  t.strictSame(left.sort(), ['Dashboard', 'Of the operator'], 'another’s key is none of the form’s');
  await visitor.visit('/portal/audit');
  t.match(visitor.text, /Revoked an API key name: Ledger/);
});
