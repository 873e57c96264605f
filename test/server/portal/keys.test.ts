import { createCompany } from '../../../src/server/access/companies.ts';
import { ACTIVE_KEYS_MAX, createKey, listKeys, revokeKey } from '../../../src/server/access/keys.ts';
import { listAuditRows } from '../../../src/server/store/accounts/audit-trail.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { KEY_PREFIX, STORY_NOW } from '../../_server.ts';
import {
  addAdministrator,
  COMPANY,
  onEachEngine,
  onSqlite,
  type TestPortal,
  textOf,
  type Visitor,
} from './_portal.ts';

const KEY = new RegExp(`${KEY_PREFIX}\\.${COMPANY}\\.[0-9a-f]{12}\\.[\\w-]{43}`);
const RESTRICTED = { email: 'sean@brennan.example', password: 'seven gravel lanterns hum' };

/** Creates a key on the page; gives it as the next page shows it. */
async function createOnPage(visitor: Visitor, name: string, scopes: readonly string[]): Promise<string> {
  await visitor.visit('/portal/keys/new');
  await visitor.submitAndFollow('/portal/keys/new', { name, scopes });
  return KEY.exec(visitor.shown)?.[0] ?? '';
}

/** Makes so many keys for the company, as an operator does. */
async function makeKeys(engine: Engine, count: number, company = COMPANY): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) {
    const { record } = await createKey(engine, {
      prefix: KEY_PREFIX,
      company,
      name: `Made ${made}`,
      scopes: ['jobs:read'],
      now: STORY_NOW,
    });
    ids.push(record.id);
  }
  return ids;
}

async function ask({ http }: TestPortal, key: string, path = 'api/v1/jobs') {
  const { statusCode, body } = await http(path, { headers: { authorization: `Bearer ${key}` } });
  return { statusCode, code: (JSON.parse(body) as { error?: { code: string } }).error?.code };
}

onEachEngine('a key is created, shown once, used, and revoked at once', async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/keys');
  t.match(visitor.text, /0 of 20 keys in use/);
  t.match(visitor.text, /There is no active key/, 'the empty list says what to do');
  const key = await createOnPage(visitor, 'Ledger export', ['invoices:read', 'jobs:read']);
  t.match(key, KEY);
  t.ok(
    visitor.text.includes(`curl -H 'Authorization: Bearer ${key}' 'http://127.0.0.1/api/v1/jobs?limit=2'`),
  );
  t.match(visitor.text, /1 of 20 keys in use/);
  const [, , id = '', secret = ''] = key.split('.');
  t.ok(visitor.text.includes(`${KEY_PREFIX}.${COMPANY}.${id}.…`));
  t.match(visitor.text, /jobs:read invoices:read 20 Nov 2026, 12:00 by Aoife Brennan never Revoke/);

  t.strictSame(await ask(portal, key), { statusCode: 200, code: undefined });
  t.strictSame(await ask(portal, key, 'api/v1/people'), { statusCode: 403, code: 'missing_scope' });
  t.notOk((await visitor.visit('/portal/keys')).body.includes(secret), 'loaded again, it is gone');

  await visitor.submitAndFollow(`/portal/keys/${id}/revoke`);
  t.match(visitor.text, /“Ledger export” is revoked/);
  t.match(visitor.text, /0 of 20 keys in use/);
  t.strictSame(await ask(portal, key), { statusCode: 401, code: 'revoked_key' });

  const trail = await listAuditRows(portal.engine, COMPANY, { limit: 10 });
  const details = { name: 'Ledger export', 'key id': id, scopes: 'jobs:read, invoices:read' };
  t.match(trail.slice(0, 2), [
    { action: 'key.revoked', administratorName: 'Aoife Brennan', subject: id, details },
    { action: 'key.created', administratorName: 'Aoife Brennan', subject: id, details },
  ]);
});

onEachEngine('the limit is explained, and holds for forms that come at once', async (t, portal) => {
  const visitor = await portal.signedIn();
  await makeKeys(portal.engine, ACTIVE_KEYS_MAX - 2);
  await visitor.visit('/portal/keys');
  t.match(visitor.text, /18 of 20 keys in use\. You can create 2 more; after that, revoke one first/);
  const tabs = ['a', 'b', 'c', 'd'].map((which) => ({ which, tab: visitor.copy() }));
  for (const { tab } of tabs) await tab.visit('/portal/keys/new');
  const answers = await Promise.all(
    tabs.map(({ which, tab }) => tab.submit('/portal/keys/new', { name: which, scopes: 'jobs:read' })),
  );
  t.strictSame(answers.map(({ statusCode }) => statusCode).sort(), [303, 303, 422, 422]);
  const refused = answers.find(({ statusCode }) => statusCode === 422)?.body ?? '';
  t.match(textOf(refused), /All 20 keys that a company can have are in use\. Revoke one/);
  t.equal((await listKeys(portal.engine, COMPANY)).length, ACTIVE_KEYS_MAX);
  await visitor.visit('/portal/keys');
  t.match(visitor.text, /All 20 keys that a company can have are in use/);
  t.notMatch(visitor.shown, 'href="/portal/keys/new"', 'nothing leads to the form');
  await visitor.visit('/portal/keys/new');
  t.notMatch(visitor.shown, 'action="/portal/keys/new"', 'nor is there one');
});

onEachEngine('revoked keys are listed page by page, the latest first', async (t, { engine, signedIn }) => {
  for (const [index, id] of (await makeKeys(engine, 15)).entries())
    await revokeKey(engine, COMPANY, id, new Date(STORY_NOW.getTime() + index * 60_000));
  // Revoked in the same moment: their ids tell them apart.
  for (const id of await makeKeys(engine, 10)) await revokeKey(engine, COMPANY, id, STORY_NOW);
  const visitor = await signedIn();
  const idsShown = () =>
    [...visitor.text.matchAll(new RegExp(`${KEY_PREFIX}\\.${COMPANY}\\.(\\w{12})\\.…`, 'g'))].map(
      ([, id]) => id,
    );
  await visitor.visit('/portal/keys');
  const first = idsShown();
  t.equal(first.length, 20);
  t.match(visitor.text, /Revoked keys Name Scopes Created Last used Revoked Made 14 /);
  const [, older = ''] = /href="(\/portal\/keys\?before=[^"]*)" rel="next"/.exec(visitor.shown) ?? [];
  await visitor.visit(older.replaceAll('&amp;', '&'));
  const second = idsShown();
  t.equal(second.length, 5);
  t.equal(new Set([...first, ...second]).size, 25, 'each once');
  t.notMatch(visitor.shown, 'rel="next"');
});

onSqlite('an administrator sees, with the reason, and can’t give what they don’t have', async (t, portal) => {
  await addAdministrator(portal.engine, { ...RESTRICTED, name: 'Seán Ó Sé', scopes: ['jobs:read'] });
  const visitor = await portal.signedIn(RESTRICTED);
  await visitor.visit('/portal/keys/new');
  t.match(
    visitor.text,
    /Quotes \(quotes:read\) You can’t give access that you don’t have yourself\. Ask somebody who has it: Aoife Brennan\./,
  );
  t.equal(visitor.shown.match(/<input[^>]*type="checkbox"[^>]*disabled/g)?.length, 5);
  for (const scopes of [['quotes:read'], ['jobs:read', 'invoices:read'], ['jobs:write'], ['']]) {
    const { statusCode } = await visitor.submit('/portal/keys/new', { name: 'By hand', scopes });
    t.equal(statusCode, 422, scopes.join(' and '));
    t.match(visitor.text, /is not a scope that you can give; you have jobs:read/);
    t.match(visitor.shown, 'value="By hand"', 'what was typed stays');
  }
  t.strictSame(await listKeys(portal.engine, COMPANY), []);
  const key = await createOnPage(visitor, 'Mine', ['jobs:read']);
  t.strictSame(await ask(portal, key), { statusCode: 200, code: undefined });
});

onSqlite('a refusal stands beside its field, with what was typed', async (t, { engine, signedIn }) => {
  const visitor = await signedIn();
  await visitor.visit('/portal/keys/new');
  t.equal((await visitor.submit('/portal/keys/new', { name: ' ', scopes: 'jobs:read' })).statusCode, 422);
  t.match(
    visitor.shown,
    /id="name-problem" role="alert">The name of a key must have 1 to 100 characters, in one line\./,
  );
  t.match(visitor.shown, /value="jobs:read"\s+checked/);
  for (const name of ['a\nb', 'x'.repeat(101), '\u202egnp.exe', 'a\u0001b'])
    t.equal((await visitor.submit('/portal/keys/new', { name, scopes: 'jobs:read' })).statusCode, 422);
  await visitor.submit('/portal/keys/new', { name: 'No scopes' });
  t.match(visitor.text, /Choose at least one scope of jobs:read/);
  t.match(visitor.shown, 'value="No scopes"');
  t.strictSame(await listKeys(engine, COMPANY), []);
});

onSqlite('another company’s key answers as if there were none, and goes on working', async (t, portal) => {
  await createCompany(portal.engine, 'neighbour', {}, STORY_NOW);
  const { key, record } = await createKey(portal.engine, {
    prefix: KEY_PREFIX,
    company: 'neighbour',
    name: 'Theirs',
    scopes: ['jobs:read'],
    now: STORY_NOW,
  });
  const visitor = await portal.signedIn();
  const own = await createOnPage(visitor, 'Ours', ['jobs:read']);
  const token = /name="form-token" value="([^"]*)"/.exec(visitor.shown)?.[1] ?? '';
  const answers = [];
  for (const id of [record.id, 'aaaaaaaaaaaa', '%2e%2e', "' OR ''='"]) {
    const path = `/portal/keys/${encodeURIComponent(id)}/revoke`;
    const { statusCode, body } = await visitor.send(path, { 'form-token': token });
    answers.push({ statusCode, text: textOf(body).replace(/Request id: .*/, '') });
  }
  t.equal(answers[0]?.statusCode, 404);
  t.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1, 'all in the same words');
  t.strictSame(await ask(portal, key), { statusCode: 200, code: undefined });
  t.strictSame(await ask(portal, own), { statusCode: 200, code: undefined });
  t.notMatch((await visitor.visit('/portal/keys')).body, 'Theirs');
});

onSqlite('a secret is shown to one page alone, which nothing keeps', async (t, { signedIn }) => {
  const visitor = await signedIn();
  await visitor.visit('/portal/keys/new');
  const created = await visitor.submit('/portal/keys/new', { name: 'Once', scopes: 'jobs:read' });
  const { location = '' } = created.headers;
  t.match(location, /^\/portal\/keys\?done=[\w-]{22}$/);
  t.equal(created.body.includes(`${KEY_PREFIX}.${COMPANY}`), false);
  const tab = visitor.copy();
  t.notMatch((await tab.visit('/portal/keys')).body, KEY, 'another page doesn’t use it up');
  const pages = await Promise.all([visitor.visit(location), tab.visit(location)]);
  const secrets = pages.flatMap(({ body }) => [...body.matchAll(new RegExp(KEY, 'g'))].map(([key]) => key));
  t.equal(secrets.length, 2, 'the key and its command are on one of two pages that are asked for at once');
  t.equal(new Set(secrets).size, 1);
  for (const { headers } of pages) t.equal(headers['cache-control'], 'no-store');
  t.notOk(location.includes(secrets[0]?.split('.')[3] ?? location), 'no address has anything of it');
  t.notMatch((await visitor.visit(location)).body, KEY);
});

onSqlite('the page says why a key would give nothing', async (t, { engine, signedIn }) => {
  const visitor = await signedIn();
  await engine.run(`UPDATE companies SET modules = '["jobs"]' WHERE id = '${COMPANY}'`);
  await visitor.visit('/portal/keys/new');
  t.match(visitor.text, /Customers \(customers:read\) Gives nothing yet: Your plan does not include it\./);
  await engine.run(`UPDATE companies SET api_enabled = 0 WHERE id = '${COMPANY}'`);
  await visitor.visit('/portal/keys');
  t.match(visitor.text, /API access is off, so the API answers 403 api_not_enabled/);
});
