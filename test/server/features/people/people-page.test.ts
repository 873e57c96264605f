import { invite, INVITATIONS_MAX } from '../../../../src/server/features/people/invitations.ts';
import { scopes } from '../../../../src/contract/scopes.ts';
import { listAuditRows } from '../../../../src/server/store/accounts/audit-trail.ts';
import { listInvitations } from '../../../../src/server/store/accounts/link-rows.ts';
import { listWebhookRows } from '../../../../src/server/features/webhooks/stored-webhooks.ts';
import { listActiveKeys } from '../../../../src/server/features/keys/stored-keys.ts';
import { createWebhook } from '../../../../src/server/features/webhooks/registration.ts';
import { PORTAL_SETTINGS, STORY_NOW } from '../../../_server.ts';
import {
  addAdministrator,
  COLLEAGUE,
  COMPANY,
  inviteAs,
  makeKey,
  onEachEngine,
  onSqlite,
  signedInAs,
  type TestPortal,
  type Visitor,
} from '../../portal/_portal.ts';

const NEWCOMER = 'niamh@brennan.example';
const later = (hours: number) => new Date(STORY_NOW.getTime() + hours * 3_600_000);

/** Invites somebody by the form, and gives the code of the link. */
async function inviteByForm(visitor: Visitor, fields: Record<string, string | string[]>): Promise<string> {
  await visitor.visit('/portal/people');
  await visitor.submitAndFollow('/portal/people/invite', fields);
  return /\/portal\/invitation#([\w-]+\.[\w-]{43})/.exec(visitor.shown)?.[1] ?? '';
}

/** Uses a code the way its owner does. */
async function useCode(portal: TestPortal, code: string): Promise<Visitor> {
  const visitor = portal.visitor();
  await visitor.useLink(code, COLLEAGUE.password);
  return visitor;
}

onSqlite('somebody is invited by a link that works once, and shows once', async (t, portal) => {
  const inviter = await portal.signedIn();
  const code = await inviteByForm(inviter, { email: NEWCOMER, scopes: ['jobs:read', 'forms:read'] });
  t.match(inviter.text, /niamh@brennan.example is invited/);
  t.match(inviter.text, /We can’t show it again/);
  await inviter.visit('/portal/people');
  t.notOk(inviter.shown.includes(code), 'loaded again, the page shows no link');
  t.match(inviter.text, /niamh@brennan.example jobs:read, forms:read/, 'but who is invited');

  const newcomer = await useCode(portal, code);
  t.match(
    await newcomer.read('/portal/account'),
    /Niamh Email address niamh@brennan.example Access jobs:read, forms:read/,
  );
  t.match(newcomer.text, /You can see them/, 'and may not invite, because nobody said so');

  const again = await useCode(portal, code);
  t.match(again.text, /This link no longer works: it was used, has expired, or was replaced/);
  const tables = JSON.stringify([
    await portal.engine.run('SELECT * FROM portal_links'),
    await portal.engine.run('SELECT * FROM portal_sessions'),
    await portal.engine.run('SELECT * FROM audit_entries'),
  ]);
  const [, session = ''] = newcomer.cookies.get('fieldledger_session')?.split('.') ?? [];
  for (const secret of [code, session]) t.notOk(tables.includes(secret), 'the database never holds it');
});

onEachEngine(
  'of many who use a link at once one gets in, and the others read how they do',
  async (t, portal) => {
    const { token } = await inviteAs(portal.engine, NEWCOMER);
    const visitors = await Promise.all(Array.from({ length: 4 }, () => useCode(portal, token)));
    const late = visitors.filter(({ cookies }) => !cookies.has('fieldledger_session'));
    t.equal(late.length, 3);
    for (const { text, shown } of late) {
      t.match(text, /If you set your password with it, sign in with your email address and that/);
      t.match(shown, '<a href="/portal/sign-in">');
    }
    await portal.signedIn({ ...COLLEAGUE, email: NEWCOMER });
  },
);

onSqlite('the page offers what somebody may do, and says why they may not do the rest', async (t, portal) => {
  const { engine } = portal;
  const superior = await portal.signedIn();
  await inviteByForm(superior, { email: NEWCOMER, scopes: ['jobs:read', 'invoices:read'] });
  const [invitation] = await listInvitations(engine.db, COMPANY, STORY_NOW);
  const withdraw = `/portal/people/invitations/${invitation?.id ?? ''}/withdraw`;
  const { administrator: own, visitor } = await portal.join({ scopes: ['jobs:read'] });
  await visitor.visit('/portal/people');
  t.notMatch(visitor.shown, withdraw, 'no button leads there');
  t.notMatch(visitor.shown, /value="invoices:read"/, 'nor is what they don’t have offered');
  for (const act of ['remove', 'access']) {
    t.equal(await visitor.force(`/portal/people/${own.id}/${act}`, { scopes: 'jobs:read' }), 422, act);
    t.match(visitor.text, /You can't change or remove your own access/);
    await visitor.visit('/portal/people');
  }
  await engine.run(`UPDATE administrators SET may_invite = 0 WHERE id = '${own.id}'`);
  t.match(await visitor.read('/portal/people'), /You can’t invite people/);

  await superior.visit('/portal/people');
  t.match(await superior.act(`/portal/people/${own.id}/remove`), /Conor no longer has access/);
  t.equal((await visitor.visit('/portal')).statusCode, 303);
});

onSqlite('an invitation is withdrawn, replaced, and ends after three days', async (t, portal) => {
  const inviter = await portal.signedIn();
  const first = await inviteByForm(inviter, { email: NEWCOMER, scopes: ['jobs:read'] });
  const second = await inviteByForm(inviter, { email: NEWCOMER, scopes: ['jobs:read'] });
  t.match((await useCode(portal, first)).text, /This link no longer works/, 'replaced');
  const [invitation] = await listInvitations(portal.engine.db, COMPANY, STORY_NOW);
  await inviter.submitAndFollow(`/portal/people/invitations/${invitation?.id ?? ''}/withdraw`);
  t.match((await useCode(portal, second)).text, /This link no longer works/, 'withdrawn');
  const third = await inviteByForm(inviter, { email: NEWCOMER, scopes: ['jobs:read'] });
  portal.setNow(later(72));
  t.match((await useCode(portal, third)).text, /This link no longer works/, 'three days later');
});

onSqlite('a company has 20 invitations that wait at most', async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/people');
  const invited = { email: NEWCOMER, scopes: 'jobs:read' };
  for (let made = 0; made < INVITATIONS_MAX; made += 1)
    await inviteAs(portal.engine, `p${made}@brennan.example`);
  t.match(await visitor.refused('/portal/people/invite', invited), /up to 20 open invitations/);
});

onSqlite('the keys of a removed administrator are revoked if they are ticked', async (t, portal) => {
  const { engine } = portal;
  const conor = await addAdministrator(engine, COLLEAGUE);
  const by = await signedInAs(engine, conor);
  const ledger = await makeKey(engine, 'Ledger', { by });
  await makeKey(engine, 'Dashboard', { by, now: later(0.1) });
  const foreign = await makeKey(engine, 'Of the operator', { now: later(0.1) });
  const visitor = await portal.signedIn();
  t.match(
    await visitor.read('/portal/people'),
    /Revoke these keys they made .*Dashboard jobs:read Ledger jobs:read/,
  );
  t.notMatch(visitor.text, /Of the operator/);
  const fields = { keys: [ledger.id, foreign.id, 'nothing'] };
  t.match(
    await visitor.act(`/portal/people/${conor.id}/remove`, fields),
    /Conor no longer has access\. Revoked: “Ledger”\. Keys they made that still work: “Dashboard”\./,
  );
  const left = (await listActiveKeys(engine, COMPANY, later(2))).map(({ name }) => name);
  t.strictSame(left.sort(), ['Dashboard', 'Of the operator'], 'another’s key is none of the form’s');
  t.match(await visitor.read('/portal/audit'), /Revoked an API key name: Ledger/);
});

/** What somebody made: a key and a webhook within jobs:read, and others beyond it. */
async function makeThings({ engine }: TestPortal, id: string) {
  const of = { company: COMPANY, by: await signedInAs(engine, { company: COMPANY, id }), now: STORY_NOW };
  const key = async (name: string, held: string[]) =>
    (await makeKey(engine, name, { ...of, scopes: held })).id;
  const webhook = async (host: string, events: string[]) =>
    (await createWebhook(engine, PORTAL_SETTINGS.secrets, { ...of, url: `https://${host}/`, events })).record
      .id;
  return {
    within: [await key('Planner', ['jobs:read']), await webhook('jobs.example.com', ['job.created'])],
    beyond: [
      await key('Ledger', ['jobs:read', 'invoices:read']),
      await key('Quotes', ['quotes:read']),
      await webhook('pay.example.com', ['job.created', 'invoice.paid']),
    ],
  };
}

onSqlite('access is lowered at once, with what was made beyond it', async (t, portal) => {
  const { engine } = portal;
  const { administrator, visitor: conor } = await portal.join();
  const { id } = administrator;
  const { within, beyond } = await makeThings(portal, id);
  const by = await signedInAs(engine, { company: COMPANY, id });
  const invited = { company: COMPANY, email: 'x@brennan.example', scopes: [...scopes], mayInvite: true };
  await invite(engine, { ...invited, by, now: STORY_NOW });
  const visitor = await portal.signedIn();
  t.match(
    await visitor.read('/portal/people'),
    /Key “Ledger” jobs:read, invoices:read .*Webhook to pay\.example\.com jobs:read, invoices:read/,
  );
  const path = `/portal/people/${id}/access`;
  const [ledger = '', , webhook = ''] = beyond;
  t.match(
    await visitor.act(path, { scopes: 'jobs:read', made: [...within, ledger, webhook, 'nothing'] }),
    /Conor now has: jobs:read\. Ended: “Ledger”, “pay.example.com”\. They made these, which still work beyond that access: “Quotes”\./,
  );
  t.strictSame((await listActiveKeys(engine, COMPANY, STORY_NOW)).map(({ name }) => name).sort(), [
    'Planner',
    'Quotes',
  ]);
  t.match(await listWebhookRows(engine, COMPANY), [{ url: 'https://jobs.example.com/' }]);
  t.strictSame(await listInvitations(engine.db, COMPANY, STORY_NOW), [], 'their invitation ends');
  await conor.visit('/portal/keys/new');
  t.equal(conor.shown.match(/<input[^>]*type="checkbox"[^>]*disabled/g)?.length, 5, 'without a new sign-in');
  const trail = await listAuditRows(engine, COMPANY, { limit: 3 });
  const before = [...scopes, 'may invite'].join(', ');
  t.match(
    trail.map(({ action, details }) => ({ action, details })),
    [
      { action: 'webhook.deleted', details: { host: 'pay.example.com' } },
      { action: 'key.revoked', details: { name: 'Ledger' } },
      { action: 'administrator.access_changed', details: { name: 'Conor', access: 'jobs:read', before } },
    ],
  );
  await visitor.visit('/portal/people');
  t.match(
    await visitor.act(path, { scopes: ['jobs:read', 'quotes:read'], 'may-invite': 'yes' }),
    /Conor now has: jobs:read, quotes:read, may invite\./,
    'and raised again',
  );
});
