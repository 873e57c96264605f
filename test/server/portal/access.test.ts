import t from 'tap';

import { changeAccess } from '../../../src/server/access/change-access.ts';
import { createCompany } from '../../../src/server/access/companies.ts';
import { invite } from '../../../src/server/access/invitations.ts';
import { createKey } from '../../../src/server/access/keys.ts';
import { scopes } from '../../../src/contract/scopes.ts';
import { listAdministratorRows } from '../../../src/server/store/accounts/administrator-rows.ts';
import { listAuditRows } from '../../../src/server/store/accounts/audit-trail.ts';
import { listInvitations } from '../../../src/server/store/accounts/link-rows.ts';
import { listWebhookRows } from '../../../src/server/store/deliveries/webhooks.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { listActiveKeys } from '../../../src/server/store/keys/keys.ts';
import { createWebhook } from '../../../src/server/webhooks/registration.ts';
import { engineNames, openTestDatabase, PORTAL_SETTINGS, STORY_NOW } from '../../_server.ts';
import {
  addAdministrator,
  COMPANY,
  hiddenFields,
  onEachEngine,
  onSqlite,
  signedInAs,
  type TestPortal,
} from './_portal.ts';

const CONOR = { email: 'conor@brennan.example', password: 'seven quiet harbour bells', name: 'Conor' };

/** What somebody made: a key and a webhook within jobs:read, and others beyond it. */
async function makeThings({ engine }: TestPortal, id: string) {
  const of = { company: COMPANY, by: await signedInAs(engine, { company: COMPANY, id }), now: STORY_NOW };
  const key = async (name: string, held: string[]) =>
    (await createKey(engine, { ...of, prefix: 'fl', name, scopes: held })).record.id;
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

onEachEngine('access is lowered at once, with what was made beyond it', async (t, portal) => {
  const { engine } = portal;
  const { id } = await addAdministrator(engine, CONOR);
  const { within, beyond } = await makeThings(portal, id);
  const by = await signedInAs(engine, { company: COMPANY, id });
  const invited = { company: COMPANY, email: 'x@brennan.example', scopes: [...scopes], mayInvite: true };
  await invite(engine, { ...invited, by, now: STORY_NOW });
  const conor = await portal.signedIn(CONOR);
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/people');
  t.match(
    visitor.text,
    /Key “Ledger” jobs:read, invoices:read .*Webhook to pay\.example\.com jobs:read, invoices:read/,
  );
  const path = `/portal/people/${id}/access`;
  const [ledger = '', , webhook = ''] = beyond;
  await visitor.submitAndFollow(path, { scopes: 'jobs:read', made: [...within, ledger, webhook, 'nothing'] });
  t.match(
    visitor.text,
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
  await visitor.submitAndFollow(path, { scopes: ['jobs:read', 'quotes:read'], 'may-invite': 'yes' });
  t.match(visitor.text, /Conor now has: jobs:read, quotes:read, may invite\./, 'and raised again');
});

onSqlite('nobody changes more than they have, or themselves, or another company', async (t, portal) => {
  const { engine, administrator } = portal;
  const { id } = await addAdministrator(engine, { ...CONOR, scopes: ['jobs:read'] });
  const sean = { email: 'sean@brennan.example', password: CONOR.password, name: 'Seán', mayInvite: false };
  await addAdministrator(engine, sean);
  const lesser = await addAdministrator(engine, {
    email: 'l@brennan.example',
    scopes: ['jobs:read'],
    name: 'L',
  });
  await createCompany(engine, 'rival', {}, STORY_NOW);
  const rival = await addAdministrator(engine, { company: 'rival', email: 'rita@rival.example' });
  const [conor, noInviter] = [
    await portal.signedIn(CONOR),
    await portal.signedIn({ email: sean.email, password: sean.password }),
  ];
  const before = await engine.run('SELECT * FROM administrators ORDER BY id');
  const attempts: [by: typeof conor, id: string, scope: string, status: number, text: RegExp][] = [
    [conor, administrator.id, 'jobs:read', 422, /Aoife Brennan has access that you don't have: people:read/],
    [conor, id, 'jobs:read', 422, /You can't remove yourself or change your own access/],
    [
      conor,
      lesser.id,
      'quotes:read',
      422,
      /"quotes:read" is not a scope that you can give; you have jobs:read/,
    ],
    [conor, lesser.id, '', 422, /is not a scope/],
    [noInviter, lesser.id, 'jobs:read', 422, /You are not allowed to invite or remove/],
    [conor, rival.id, 'jobs:read', 404, /There is nothing here/],
    [conor, 'adm_none', 'jobs:read', 404, /There is nothing here/],
  ];
  for (const [by, whom, given, status, text] of attempts) {
    await by.visit('/portal/people');
    const hidden = hiddenFields(by.shown, '/portal/sign-out');
    t.equal(
      (await by.send(`/portal/people/${whom}/access`, { ...hidden, scopes: given })).statusCode,
      status,
    );
    t.match(by.text, text);
  }
  t.strictSame(await engine.run('SELECT * FROM administrators ORDER BY id'), before);
});

for (const name of engineNames) {
  t.test(`${name}: of two who take the right to invite from each other at once one keeps it`, async (t) => {
    await using database = await openTestDatabase(name);
    await using second = await openEngine(database.url);
    const { engine } = database;
    await createCompany(engine, COMPANY, {}, STORY_NOW);
    for (let round = 0; round < 5; round += 1) {
      await engine.run("UPDATE administrators SET disabled_at = 'x'");
      const one = await addAdministrator(engine, { email: 'one@brennan.example' });
      const other = await addAdministrator(engine, { email: 'other@brennan.example' });
      const lower = async (handle: typeof engine, by: typeof one, { id }: typeof one) =>
        changeAccess(handle, {
          ...{ company: COMPANY, id, scopes: ['jobs:read'], mayInvite: false, revoke: [], now: STORY_NOW },
          by: await signedInAs(engine, by),
        });
      const done = await Promise.allSettled([lower(engine, one, other), lower(second, other, one)]);
      t.strictSame(done.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
      const active = (await listAdministratorRows(engine.db, COMPANY)).filter(
        (who) => who.disabledAt === null,
      );
      t.equal(active.filter(({ mayInvite }) => mayInvite).length, 1);
    }
  });
}
