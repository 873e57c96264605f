import { setCompany } from '../../../src/server/access/companies.ts';
import { createKey } from '../../../src/server/access/keys.ts';
import { createWebhook } from '../../../src/server/webhooks/registration.ts';
import { createSecretBox } from '../../../src/server/webhooks/secrets.ts';
import { SECRET_KEY } from '../../_command.ts';
import { STORY_NOW } from '../../_server.ts';
import { addAdministrator, COMPANY, onEachEngine, onSqlite } from './_portal.ts';

onEachEngine('the overview says what there is and how it does', async (t, portal) => {
  const { engine } = portal;
  const visitor = await portal.signedIn();
  await visitor.visit('/portal');
  t.match(visitor.text, /API keys 0 of 20 Webhooks 0 of 10 Administrators 1 Data in the API/);
  const key = { prefix: 'fl', company: COMPANY, name: 'Export', scopes: ['jobs:read'], now: STORY_NOW };
  await createKey(engine, key);
  await createWebhook(engine, createSecretBox(SECRET_KEY), {
    company: COMPANY,
    url: 'https://hooks.brennan-heating.ie/in',
    events: ['job.created'],
    now: STORY_NOW,
  });
  await visitor.visit('/portal');
  t.match(
    visitor.text,
    /API keys 1 of 20 Webhooks 1 of 10 Webhook hooks.brennan-heating.ie Quiet Administrators 1/,
  );
});

onSqlite('it says why something is off, in the words of what the API answers', async (t, portal) => {
  const visitor = await portal.signedIn();
  const seen = async (settings: Parameters<typeof setCompany>[2]) => {
    await setCompany(portal.engine, COMPANY, settings);
    await visitor.visit('/portal');
    return visitor.text;
  };
  t.match(await seen({}), /Invoices On Your plan includes it. Yes/);
  t.match(await seen({ invoicingEnabled: false }), /Invoices Off Invoicing is not switched on. Yes/);
  t.match(await seen({ modules: ['jobs'] }), /Jobs On .* People Off Your plan does not include it. Yes/);
  t.match(await seen({ apiEnabled: false }), /API access is off, so the API answers 403 api_not_enabled/);
  t.match(await seen({ subscriptionActive: false }), /answers 403 company_unavailable/);
});

onSqlite('it says what the administrator has no access to', async (t, portal) => {
  const conor = { email: 'conor@brennan.example', password: 'seven quiet harbour bells' };
  await addAdministrator(portal.engine, { ...conor, scopes: ['jobs:read'] });
  const visitor = await portal.signedIn(conor);
  await visitor.visit('/portal');
  t.match(
    visitor.text,
    /Jobs On Your plan includes it. Yes People On .* No: another administrator can give it/,
  );
});

onSqlite('keys and webhooks are found in the API section of People & access', async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit('/portal');
  t.match(
    visitor.text,
    /Overview Documents People & access People Audit trail API API keys Webhooks Usage Overview/,
    'they stand in the navigation by the name that openapi.yaml gives',
  );
  const places: [path: string, heading: RegExp][] = [
    ['/portal/keys', /Usage People & access › API API keys A key lets/],
    ['/portal/keys/new', /People & access › API Create a key/],
    ['/portal/webhooks', /People & access › API Webhooks/],
    ['/portal/usage', /People & access › API Usage/],
    ['/portal/people', /Usage People & access People These people/],
    ['/portal/audit', /Usage People & access Audit trail/],
    ['/portal/documents', /Usage Documents/],
  ];
  for (const [path, heading] of places) {
    await visitor.visit(path);
    t.match(visitor.text, heading, path);
  }
});
