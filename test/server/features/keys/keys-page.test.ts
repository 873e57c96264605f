import { ACTIVE_KEYS_MAX, listKeys, revokeKey } from '../../../../src/server/features/keys/keys.ts';
import { scopes } from '../../../../src/contract/scopes.ts';
import { listAuditRows } from '../../../../src/server/store/accounts/audit-trail.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { KEY_PREFIX, STORY_NOW } from '../../../_server.ts';
import {
  addAdministrator,
  COMPANY,
  makeKey,
  onEachEngine,
  onSqlite,
  type TestPortal,
  type Visitor,
  EMAIL,
} from '../../portal/_portal.ts';

const KEY = new RegExp(`${KEY_PREFIX}\\.${COMPANY}\\.[0-9a-f]{12}\\.[\\w-]{43}`);

/** Creates a key on the page; gives it as the next page shows it. */
async function createOnPage(visitor: Visitor, name: string, scopes: readonly string[]): Promise<string> {
  await visitor.visit('/portal/keys/new');
  await visitor.submitAndFollow('/portal/keys/new', { name, scopes });
  return KEY.exec(visitor.shown)?.[0] ?? '';
}

/** Makes so many keys for the company, as an operator does. */
async function makeKeys(engine: Engine, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push((await makeKey(engine, `Made ${made}`)).id);
  return ids;
}

async function ask({ http }: TestPortal, key: string, path = 'api/v1/jobs') {
  const { statusCode, body } = await http(path, { headers: { authorization: `Bearer ${key}` } });
  return { statusCode, code: (JSON.parse(body) as { error?: { code: string } }).error?.code };
}

onSqlite('a key is created, shown once, used, and revoked at once', async (t, portal) => {
  const visitor = await portal.signedIn();
  t.match(await visitor.read('/portal/keys'), /0 of 20 keys in use/);
  t.match(visitor.text, /No active keys/, 'the empty list says what to do');
  const key = await createOnPage(visitor, 'Ledger export', ['invoices:read', 'jobs:read']);
  t.match(key, KEY);
  t.ok(
    visitor.text.includes(`curl -H 'Authorization: Bearer ${key}' 'http://127.0.0.1/api/v1/jobs?limit=2'`),
  );
  t.match(visitor.text, /1 of 20 keys in use/);
  const [, , id = '', secret = ''] = key.split('.');
  t.ok(visitor.text.includes(`${KEY_PREFIX}.${COMPANY}.${id}.…`));
  t.match(visitor.text, /jobs:read invoices:read 20 Nov 2026, 12:00 by Aoife Brennan never Change/);

  t.strictSame(await ask(portal, key), { statusCode: 200, code: undefined });
  t.strictSame(await ask(portal, key, 'api/v1/people'), { statusCode: 403, code: 'missing_scope' });
  t.notOk((await visitor.visit('/portal/keys')).body.includes(secret), 'loaded again, it is gone');

  t.match(await visitor.act(`/portal/keys/${id}/revoke`), /“Ledger export” is revoked/);
  t.match(visitor.text, /0 of 20 keys in use/);
  t.strictSame(await ask(portal, key), { statusCode: 401, code: 'revoked_key' });

  const trail = await listAuditRows(portal.engine, COMPANY, { limit: 10 });
  const details = { name: 'Ledger export', 'key id': id, scopes: 'jobs:read, invoices:read' };
  t.match(trail.slice(0, 2), [
    { action: 'key.revoked', administratorName: 'Aoife Brennan', subject: id, details },
    { action: 'key.created', administratorName: 'Aoife Brennan', subject: id, details },
  ]);
});

onSqlite('a refused form says so in its title, and begins at its first fault', async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/keys/new');
  t.match(visitor.shown, '<title>Create a key');
  t.notMatch(visitor.shown, /aria-invalid|autofocus/);
  await visitor.refused('/portal/keys/new', { name: '' });
  t.match(visitor.shown, '<title>Error: Create a key');
  const fields = [...visitor.shown.matchAll(/<input(?! type="hidden")[^>]*>/g)].map(([field]) => field);
  t.equal(fields.length, 1 + scopes.length + 1);
  t.match(fields[0], /name="name"[^>]*aria-invalid="true" autofocus/);
  for (const field of fields.slice(1, -1))
    t.match(field, /aria-invalid="true"\s*\/?>/, 'and each choice is marked');
  const guest = portal.visitor();
  await guest.visit('/portal/sign-in');
  await guest.refused('/portal/sign-in', { email: EMAIL, password: 'not this one' });
  t.match(guest.shown, /<p class="error" role="alert" tabindex="-1" autofocus>/, 'or at the reason');
  await visitor.visit('/portal/documents?kind=bill&from=yesterday');
  t.match(visitor.shown, /<title>Error: [^]*<select id="kind"[^>]* aria-invalid="true" autofocus>/);
});

onSqlite('the limit is explained before it is reached, and then', async (t, { engine, signedIn }) => {
  const visitor = await signedIn();
  await makeKeys(engine, ACTIVE_KEYS_MAX - 2);
  const left = /18 of 20 keys in use\. You can create 2 more; after that, revoke one first/;
  t.match(await visitor.read('/portal/keys'), left);
  await visitor.visit('/portal/keys/new');
  await makeKeys(engine, 2);
  const ALL = /You have 20 active keys, the most a company can have\. Revoke one/;
  t.match(await visitor.refused('/portal/keys/new', { name: 'a', scopes: 'jobs:read' }), ALL);
  t.match(await visitor.read('/portal/keys'), ALL);
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
  t.match(visitor.text, /Inactive keys Name Scopes Created Last used Ended Made 14 /);
  t.ok(await visitor.turnPage());
  const second = idsShown();
  t.equal(second.length, 5);
  t.equal(new Set([...first, ...second]).size, 25, 'each once');
  t.notMatch(visitor.shown, 'rel="next"');
});

onSqlite('an administrator sees, with the reason, and can’t give what they don’t have', async (t, portal) => {
  const { visitor } = await portal.join({ scopes: ['jobs:read'] });
  t.match(
    await visitor.read('/portal/keys/new'),
    /Quotes \(quotes:read\) You can’t give access that you don’t have yourself\. Ask somebody who has it: Aoife Brennan\./,
  );
  t.equal(visitor.shown.match(/<input[^>]*type="checkbox"[^>]*disabled/g)?.length, 5);
  const { id } = await makeKey(portal.engine, 'All', { scopes: ['jobs:read', 'quotes:read'] });
  const given = { name: 'By hand', scopes: ['jobs:read', 'invoices:read'] };
  t.match(
    await visitor.refused('/portal/keys/new', given),
    /"invoices:read" is not a scope that you can give; you have jobs:read/,
  );
  t.match(visitor.shown, 'value="By hand"', 'what was typed stays');
  t.match(visitor.shown, /value="jobs:read"\s+checked/);
  await visitor.visit('/portal/keys');
  const change = { name: 'Mine', 'last-day': '2099-12-31' };
  t.match(
    await visitor.refused(`/portal/keys/${id}/change`, change),
    /"quotes:read" is not a scope that you can give; you have jobs:read/,
  );
  t.match(await listKeys(portal.engine, COMPANY), [{ name: 'All', endsAt: null }]);
  const key = await createOnPage(visitor, 'Mine', ['jobs:read']);
  t.strictSame(await ask(portal, key), { statusCode: 200, code: undefined });
});

onSqlite('the page says why a key would give nothing', async (t, { engine, signedIn }) => {
  const visitor = await signedIn();
  await engine.run(`UPDATE companies SET modules = '["jobs"]' WHERE id = '${COMPANY}'`);
  t.match(
    await visitor.read('/portal/keys/new'),
    /Customers \(customers:read\) No data yet: Your plan does not include it\./,
  );
});

onSqlite('a key is renamed, and has a last day', async (t, portal) => {
  const { engine } = portal;
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/keys/new');
  const made = { name: 'Ledger', scopes: 'jobs:read', 'last-day': '2026-11-19' };
  await visitor.refused('/portal/keys/new', made);
  t.match(visitor.shown, /id="last-day-problem" role="alert">The last day &quot;2026-11-19&quot; is over/);
  t.match(visitor.shown, 'value="2026-11-19"');
  await visitor.submitAndFollow('/portal/keys/new', { ...made, 'last-day': '2027-01-31' });
  t.match(visitor.text, /Until 31 Jan 2027/);
  const [key = ''] = KEY.exec(visitor.shown) ?? [];
  const [, , id = ''] = key.split('.');
  const [creation] = await listAuditRows(engine, COMPANY, { limit: 1 });
  t.match(creation, { action: 'key.created', subject: id, details: { 'last day': '2027-01-31' } });
  const change = `/portal/keys/${id}/change`;
  for (const [fields, problem] of [
    [{ name: ' ', 'last-day': '' }, /id="name-\w+-problem" role="alert">Enter the name of a key\./],
    [
      { name: 'Ledger', 'last-day': '2026-11-19' },
      /id="last-day-\w+-problem" role="alert">The last day .* is over/,
    ],
  ] as const) {
    await visitor.refused(change, fields);
    t.match(visitor.shown, problem);
    t.match(visitor.shown, /<details class="confirm" open/, 'the form stays open');
  }
  const fields = { name: ' <b>Ledger</b> ', 'last-day': '2099-12-31' };
  t.match(await visitor.act(change, fields), /The key “<b>Ledger<\/b>” is changed\. .*Until 31 Dec 2099/);
  t.notMatch(visitor.shown, '<b>');
  const [entry] = await listAuditRows(engine, COMPANY, { limit: 1 });
  t.match(entry, { action: 'key.changed', subject: id, details: { 'last day': '2099-12-31' } });
  t.strictSame(await ask(portal, key), { statusCode: 200, code: undefined });
});

onSqlite('keys are listed from the newest on, and filtered', async (t, { engine, signedIn }) => {
  const gone = await addAdministrator(engine, { email: 'gone@brennan.example', name: 'Gone' });
  const names = ['Used', 'Unused', 'Left'];
  for (const [index, name] of names.entries()) {
    const now = new Date(STORY_NOW.getTime() + index * 1_000);
    await makeKey(engine, name, { now });
  }
  await engine.run(`UPDATE api_keys SET made_by = '${gone.id}' WHERE name = 'Left'`);
  await engine.run(`UPDATE administrators SET disabled_at = '2026-11-20' WHERE id = '${gone.id}'`);
  await engine.run(
    `INSERT INTO key_uses SELECT company, id, '2026-11-20T12:00:00.000Z' FROM api_keys WHERE name <> 'Unused'`,
  );
  const visitor = await signedIn();
  const shown = async (query: string) => {
    await visitor.visit(`/portal/keys${query}`);
    return [...visitor.shown.matchAll(/<strong>(Used|Unused|Left)<\/strong>/g)].map(([, name]) => name);
  };
  t.strictSame(await shown(''), names.toReversed());
  t.match(visitor.text, /All \(3\) Never used \(1\) Created by somebody who left \(1\)/);
  t.strictSame(await shown('?show=never-used'), ['Unused']);
  t.strictSame(await shown('?show=left'), ['Left']);
  t.strictSame(await shown('?show=__proto__'), names.toReversed());
  t.match(visitor.text, /“__proto__” isn’t one of these/);
});
