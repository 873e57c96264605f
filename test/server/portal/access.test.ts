import { invite } from '../../../src/server/access/invitations.ts';
import { scopes } from '../../../src/contract/scopes.ts';
import { listAuditRows } from '../../../src/server/store/accounts/audit-trail.ts';
import { listInvitations } from '../../../src/server/store/accounts/link-rows.ts';
import { listWebhookRows } from '../../../src/server/store/deliveries/webhooks.ts';
import { listActiveKeys } from '../../../src/server/store/keys/keys.ts';
import { createWebhook } from '../../../src/server/webhooks/registration.ts';
import { PORTAL_SETTINGS, STORY_NOW } from '../../_server.ts';
import { COMPANY, makeKey, onSqlite, signedInAs, type TestPortal } from './_portal.ts';

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
    /Conor now has: jobs:read\. Ended: “Ledger”, “pay.example.com”\. They made these, which go beyond it and keep working: “Quotes”\./,
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

onSqlite('the page says why somebody may not change an access', async (t, { administrator, join }) => {
  const { administrator: own, visitor } = await join({ scopes: ['jobs:read'] });
  const attempts: [id: string, status: number, text: RegExp][] = [
    [administrator.id, 422, /Aoife Brennan has access that you don't have: people:read/],
    [own.id, 422, /You can't remove yourself or change your own access/],
    ['adm_none', 404, /There is nothing here/],
  ];
  for (const [id, status, text] of attempts) {
    await visitor.visit('/portal/people');
    t.equal(await visitor.force(`/portal/people/${id}/access`, { scopes: 'jobs:read' }), status);
    t.match(visitor.text, text);
  }
});
