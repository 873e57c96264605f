import { changeAccess } from '../../../src/server/features/people/change-access.ts';
import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { revokeFeedToken } from '../../../src/server/features/feed-tokens/stored-feed-tokens.ts';
import { listAuditRows } from '../../../src/server/store/accounts/audit-trail.ts';
import { listAdministratorRows } from '../../../src/server/store/accounts/administrator-rows.ts';
import { PORTAL_SETTINGS, STORY_NOW } from '../../_server.ts';
import {
  addAdministrator,
  COMPANY,
  EMAIL,
  onEachEngine,
  onSqlite,
  PASSWORD,
  type Visitor,
} from '../portal/_portal.ts';
import { bearer, errorIn, NDJSON, openDoor, tokenFor } from './_door.ts';
import { follow, isIn, linkOf, NIAMH, openFeed } from './_portal-links.ts';

const later = (seconds: number) => new Date(STORY_NOW.getTime() + seconds * 1_000);
const BY_OPERATOR = { company: COMPANY, by: 'operator' as const, now: STORY_NOW, revoke: [] };
const UNUSABLE = /This link no longer works: it was used, has expired, or was replaced/;

const formTokenOf = ({ shown }: Visitor) => /name="form-token" value="([^"]*)"/.exec(shown)?.[1] ?? '';

onEachEngine('a link makes its person an administrator, and finds them the next time', async (t, portal) => {
  const { engine } = portal;
  await using door = await openFeed(portal);
  const { id } = door;
  const { headers, body } = await door.askForLink(NIAMH);
  t.equal(headers['content-type'], 'application/json');
  const { link, expiresAt } = JSON.parse(body) as { link: string; expiresAt: string };
  t.match(link, /^https:\/\/api\.example\.com\/portal\/invitation#brennan\.[\w-]{43}$/);
  t.equal(expiresAt, later(60).toISOString());
  const visitor = await follow(portal, link);
  await visitor.visit('/portal/account');
  t.match(visitor.text, /Niamh Email address niamh@brennan.example Access jobs:read .*You can see them/);
  t.match(visitor.text, /You sign in through your business system, without a password\./);
  t.notMatch(visitor.shown, 'action="/portal/account/password"');
  const tables = ['portal_links', 'portal_sessions', 'administrators', 'audit_entries'];
  const rows = await Promise.all(tables.map((table) => engine.run(`SELECT * FROM ${table}`)));
  t.notMatch(JSON.stringify(rows), link.split('.').at(-1), 'the database never holds the code');

  const replayed = await follow(portal, link);
  t.match(replayed.text, UNUSABLE);
  t.notOk(isIn(replayed));

  const access = { name: 'Niamh Byrne', scopes: ['jobs:read', 'invoices:read'], mayInvite: true };
  const again = await follow(portal, await linkOf(door, access));
  t.ok(isIn(again));
  t.equal((await visitor.visit('/portal/account')).statusCode, 303, 'a session with other access has ended');
  await again.visit('/portal/account');
  t.match(again.text, /Niamh Byrne .* Access jobs:read, invoices:read .*You can invite and remove others/);
  const people = await listAdministratorRows(engine.db, COMPANY);
  t.equal(people.length, 2, 'it is the same person');
  const by = { by: 'a link of erp', 'feed token': id };
  const email = NIAMH.email;
  const changed = { before: 'jobs:read', access: 'jobs:read, invoices:read, may invite' };
  t.match(await listAuditRows(engine, COMPANY, { limit: 10, administrator: people[1]?.id }), [
    { action: 'administrator.signed_in', administratorName: 'Niamh Byrne', details: by },
    { action: 'administrator.access_changed', details: { email, ...changed, ...by } },
    { action: 'administrator.signed_in', administratorName: 'Niamh', details: by },
    { action: 'administrator.added', details: { email, access: 'jobs:read', ...by }, address: /\d/ },
  ]);
  const third = await linkOf(door, access);
  await follow(portal, third, again);
  t.match(again.text, /already signed in.* Continue as Niamh Byrne/, 'nobody is led elsewhere unasked');
  await again.submit('/portal/invitation', { sure: 'yes', code: third });
  portal.setNow(later(29 * 60));
  t.equal((await again.visit('/portal')).statusCode, 200);
  portal.setNow(later(60 * 60));
  t.equal((await again.visit('/portal')).statusCode, 303, 'the session ends as others do');
});

onEachEngine('of many who use a link at once one gets in, and is made once', async (t, portal) => {
  await using door = await openFeed(portal);
  const link = await linkOf(door);
  const visitors = await Promise.all(Array.from({ length: 6 }, () => follow(portal, link)));
  t.equal(visitors.filter(isIn).length, 1);
  t.equal((await listAdministratorRows(portal.engine.db, COMPANY)).length, 2);
});

onSqlite('a link that is late, replaced, or of a revoked token lets nobody in', async (t, portal) => {
  await using door = await openFeed(portal);
  const { id } = door;
  const first = await linkOf(door);
  const second = await linkOf(door, { scopes: ['invoices:read'] });
  t.match((await follow(portal, first)).text, UNUSABLE, 'replaced');
  portal.setNow(later(60));
  t.match((await follow(portal, second)).text, UNUSABLE, 'a minute later');
  portal.setNow(later(59));
  const accepted = portal.visitor();
  await accepted.visit('/portal/invitation');
  const password = 'granite lanterns drift north';
  const sent = { code: second.split('#')[1] ?? '', name: 'Niamh', password, 'password-again': password };
  await accepted.send('/portal/invitation/accept', { 'form-token': formTokenOf(accepted), ...sent });
  t.match(accepted.text, UNUSABLE, 'it sets no password');
  await revokeFeedToken(portal.engine, id, STORY_NOW);
  t.match((await follow(portal, second)).text, UNUSABLE, 'its token is revoked');
  t.equal((await door.askForLink(NIAMH)).status, 401);
  t.equal((await listAdministratorRows(portal.engine.db, COMPANY)).length, 1, 'nobody was made');
});

onSqlite('a link gives at most what its token may, and is of its companies alone', async (t, portal) => {
  const { engine } = portal;
  await createCompany(engine, 'rival', {}, STORY_NOW);
  await using door = await openFeed(portal);
  const none = await tokenFor(engine);
  const lesser = await tokenFor(engine, { portalLinks: ['jobs:read'], companies: ['rival'] });
  const rival = { ...NIAMH, company: 'rival' };
  const [given, own] = [bearer(none.token), bearer(lesser.token)];
  // Each asks for one thing that the token lacks, and for nothing else that it does.
  const refused: [status: number, message: RegExp, asked: object, headers?: Record<string, string>][] = [
    [403, /may give jobs:read, invoices:read, may invite\.$/, { ...NIAMH, scopes: ['quotes:read'] }],
    [403, /^Portal links of this feed token may give nothing\.$/, NIAMH, given],
    [403, /may give jobs:read\.$/, { ...rival, mayInvite: true }, own],
    [404, /^There is no company with this id\.$/, NIAMH, own],
    [404, /^There is no company with this id\.$/, { ...NIAMH, company: 'nobody' }],
    [401, /feed token/, NIAMH, bearer('x')],
  ];
  for (const [status, message, asked, headers] of refused) {
    const answer = await door.askForLink(asked, headers);
    t.match([answer.status, errorIn(answer.body).message], [status, message]);
  }
  t.strictSame(await engine.run('SELECT id FROM portal_links'), []);
  const renamed = (await linkOf(door)).replace('#brennan.', '#rival.');
  t.match((await follow(portal, renamed)).text, UNUSABLE, 'under the name of another company');
  const account = { email: NIAMH.email, password: PASSWORD };
  const { id, name, scopes } = await addAdministrator(engine, { company: 'rival', ...account });
  t.ok(isIn(await follow(portal, await linkOf(door))));
  const there = await listAdministratorRows(engine.db, 'rival');
  t.match(there, [{ id, name, scopes }], 'an account there is another');
  t.ok(isIn(await portal.signedIn(account)), 'with its own password');
});

onSqlite('a link lets nobody in with access that its token may not give', async (t, portal) => {
  const { engine } = portal;
  const { id } = await addAdministrator(engine, { ...NIAMH, mayInvite: false });
  const reason = /"niamh@brennan.example" has access that links of this feed token may not give/;
  const [less, more] = [['jobs:read'], ['jobs:read', 'invoices:read']];
  // They have one thing that the token lacks: a scope, or that they may invite.
  for (const [what, portalLinks, portalInvites, scopes, mayInvite] of [
    ['a scope', less, true, more, true],
    ['inviting', more, false, less, true],
  ] as const) {
    const { token } = await tokenFor(engine, { portalLinks, portalInvites });
    await using door = await openDoor(engine, token);
    await changeAccess(engine, { ...BY_OPERATOR, id, scopes: less, mayInvite: false });
    const link = await linkOf(door);
    await changeAccess(engine, { ...BY_OPERATOR, id, scopes, mayInvite });
    const { status, body } = await door.askForLink(NIAMH);
    t.match([status, errorIn(body)], [400, { code: 'invalid_request', message: reason }], what);
    const late = await follow(portal, link);
    t.notOk(isIn(late), `${what}, by a link of before`);
    t.match(late.text, /has access that links of this feed token may not give/, what);
    await changeAccess(engine, { ...BY_OPERATOR, id, scopes: less, mayInvite: portalInvites });
    t.ok(isIn(await follow(portal, await linkOf(door))), `${what}, and without it they come in`);
  }
});

onSqlite('somebody with a password keeps it, and somebody without has none to guess', async (t, portal) => {
  await using door = await openFeed(portal);
  const aoife = { email: EMAIL.toUpperCase(), name: 'Aoife' };
  const { id } = portal.administrator;
  const less = { scopes: ['jobs:read', 'invoices:read'], mayInvite: true };
  await changeAccess(portal.engine, { ...BY_OPERATOR, id, ...less });
  const before = await portal.signedIn({ email: EMAIL, password: PASSWORD });
  const linked = await follow(portal, await linkOf(door, aoife));
  await linked.visit('/portal/people');
  t.match(linked.text, /You can’t invite/, 'with less than before');
  t.equal((await before.visit('/portal')).statusCode, 303, 'sessions with other access have ended');
  t.ok(isIn(await portal.signedIn({ email: EMAIL, password: PASSWORD })));
  await follow(portal, await linkOf(door));
  const guest = portal.visitor();
  for (const password of ['', 'x']) {
    await guest.visit('/portal/sign-in');
    t.equal((await guest.submit('/portal/sign-in', { email: NIAMH.email, password })).statusCode, 422);
    t.match(guest.text, /The email address or password is wrong/);
  }
  const niamh = await follow(portal, await linkOf(door));
  await niamh.visit('/portal/account');
  portal.setNow(later(10 * 60 + 1));
  await niamh.submit('/portal/account/sign-out-everywhere', {});
  t.match(niamh.text, /You have no password here\. Open the portal from your business system again/);
  t.notMatch(niamh.shown, 'name="proof"', 'what she has not is not asked for');
});

onSqlite('whoever was removed stays out, until the operator lets them in again', async (t, portal) => {
  const { engine } = portal;
  await using door = await openFeed(portal);
  await follow(portal, await linkOf(door));
  const link = await linkOf(door);
  const [, niamh] = await listAdministratorRows(engine.db, COMPANY);
  const admin = await portal.signedIn();
  await admin.visit('/portal/people');
  await admin.submitAndFollow(`/portal/people/${niamh?.id}/remove`);
  const removed = /"niamh@brennan.example" was removed from this company\./;
  t.match((await follow(portal, link)).text, UNUSABLE, 'links of before have ended');
  const { status, body } = await door.askForLink(NIAMH);
  t.match([status, errorIn(body)], [400, { code: 'invalid_request', message: removed }]);
  const back = { id: niamh?.id ?? '', scopes: ['jobs:read'], mayInvite: false };
  await changeAccess(engine, { ...BY_OPERATOR, ...back });
  t.ok(isIn(await follow(portal, await linkOf(door))));
  for (let count = 2; count < 50; count += 1)
    await addAdministrator(engine, { email: `p${count}@brennan.example` });
  const full = await door.askForLink({ ...NIAMH, email: 'one@brennan.example' });
  t.match(errorIn(full.body).message, /up to 50 administrators/);
  t.equal((await door.askForLink(NIAMH)).status, 200, 'those who are in come in');
});

onSqlite('a body that is none is refused by its value and rule', async (t, portal) => {
  await using door = await openFeed(portal);
  const wrong: [body: string | object, message: RegExp][] = [
    ['', /not JSON/],
    ['{', /not JSON/],
    ['[]', /^The body is \[\]; it must be object\.$/],
    ['{"company":"brennan","company":"rival"}', /company.* twice|member .*company/],
    [{ ...NIAMH, name: undefined }, /^The body has no name\.$/],
    [{ ...NIAMH, admin: true }, /^The body has no member "admin"\.$/],
    [{ ...NIAMH, scopes: [] }, /^\/scopes is \[\]/],
    [{ ...NIAMH, scopes: ['jobs:write'] }, /^\/scopes\/0 is "jobs:write".*: jobs:read, people:read/],
    [{ ...NIAMH, mayInvite: 'yes' }, /^\/mayInvite is "yes"; it must be boolean\.$/],
    [{ ...NIAMH, name: 'Eve\r\nBcc: x' }, /^The name has an invisible character, U\+000D, after "Eve"/],
    [{ ...NIAMH, name: 'Eve\u202enimda' }, /U\+202E/],
    [{ ...NIAMH, name: 'x'.repeat(101) }, /^\/name is/],
    [{ ...NIAMH, email: 'се\u043e@brennan.example' }, /U\+0441/],
    [{ ...NIAMH, email: 'a@b\r\nBcc: x@y' }, /isn't an email address|^Enter an email address/],
    [{ ...NIAMH, email: '\ud800@b.example' }, /email|U\+/],
    [{ ...NIAMH, company: '\u0000' }, /^\/company is/],
    [JSON.stringify({ ...NIAMH, name: 'x'.repeat(17_000) }), /^The body has more than 16384 bytes\.$/],
  ];
  for (const [body, message] of wrong) {
    const answer = await door.askForLink(body);
    t.equal(answer.status, 400, JSON.stringify(body).slice(0, 90));
    t.match(errorIn(answer.body), { code: 'invalid_request', message });
  }
  const lines = await door.askForLink(NIAMH, NDJSON);
  t.match(errorIn(lines.body).message, /^Content-Type must be application\/json\.$/);
  t.match(await door.get('portal-links').catch(String), /405|has no/);
  t.strictSame(await portal.engine.run('SELECT id FROM portal_links'), []);
});

onSqlite('hostile names are shown as they are', async (t, portal) => {
  await using door = await openFeed(portal, '<img src=x onerror=alert(1)>');
  const visitor = await follow(portal, await linkOf(door, { name: '"><script>alert(1)</script>' }));
  for (const page of ['', '/people', '/account', '/audit']) {
    await visitor.visit(`/portal${page}`);
    t.notMatch(visitor.shown, /<script>alert|<img src=x/, page);
  }
  t.match(visitor.text, 'by: a link of <img src=x onerror=alert(1)>');
});

const linksAlone = { portal: { ...PORTAL_SETTINGS, passwordsOff: true } };
onSqlite('where links alone let people in, passwords are refused', linksAlone, async (t, portal) => {
  await using door = await openFeed(portal);
  const reason =
    /There are no passwords here\. Sign in to your business system, and open the portal from there\./;
  const guest = portal.visitor();
  await guest.visit('/portal/sign-in');
  t.match(guest.text, reason);
  t.notMatch(guest.shown, '<input');
  await guest.visit('/portal/invitation');
  const refused = async (browser: Visitor, ...paths: string[]) => {
    const sent = { 'form-token': formTokenOf(browser), email: EMAIL, password: PASSWORD };
    for (const path of paths) {
      t.equal((await browser.send(path, sent)).statusCode, 422);
      t.match(browser.text, reason, path);
    }
  };
  await refused(guest, '/portal/sign-in', '/portal/invitation/accept');
  t.notOk(isIn(guest));
  const visitor = await follow(portal, await linkOf(door, { mayInvite: true }));
  await visitor.visit('/portal/people');
  t.match(visitor.text, reason);
  await refused(visitor, '/portal/people/invite', '/portal/account/password');
});
