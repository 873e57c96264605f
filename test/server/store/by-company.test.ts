import t, { type Test } from 'tap';

import { createFeedToken } from '../../../src/server/features/feed-tokens/feed-tokens.ts';
import { makePortalLink } from '../../../src/server/features/people/portal-links.ts';
import { acceptLink, invite } from '../../../src/server/features/people/invitations.ts';
import { askForReset } from '../../../src/server/features/people/mailed-links.ts';
import { createSignInLimits } from '../../../src/server/access/sign-in-limits.ts';
import { loadExampleCompany } from '../../../src/demo/load.ts';
import { eraseCompany } from '../../../src/server/features/companies/erase.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { stopMails } from '../../../src/server/features/notices/stopping.ts';
import { tellKeyEnds } from '../../../src/server/features/keys/key-ends.ts';
import { tellLosses, tellOutages } from '../../../src/server/features/webhooks/webhook-outages.ts';
import { distribution } from '../../../src/server/store/distribute.ts';
import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../../src/server/backoffice/backoffice.ts';
import { openGeneration } from '../../../src/server/store/records/generation.ts';
import { purge, purgeChangeIds } from '../../../src/server/commands/purge.ts';
import { resources } from '../../../src/contract/records.ts';
import { keyFor, openTestDatabase, startTestServer, STORY_NOW } from '../../_server.ts';
import { addAdministrator, COMPANY, EMAIL, PASSWORD, Visitor } from '../portal/_portal.ts';
import { handOverOnce, pointAt } from '../features/hand-over/_hand-over.ts';
import { mailOnce } from '../features/notices/_mail-server.ts';
import { answer, scriptedSender, startLoop } from '../features/webhooks/deliveries/_delivery-loop.ts';
import { withQueriesThrough } from './_queries.ts';

/** The tables that Citus spreads by company, with the column that says of which one a row is. */
const SPREAD = new Map(
  distribution().flatMap((statement) => {
    const [, name, column] = /distributed_table\('(\w+)', '(company|id)'/.exec(statement) ?? [];
    return name === undefined || column === undefined ? [] : [[name, column] as const];
  }),
);

/** Selections of all companies, which no row lock and no change is part of; see machines.ts. */
const OF_ALL = [
  /^select \* from administrators where email = \$1 and disabled_at is null/,
  /^select distinct company from \( ?select company from (?:\w+) where /,
  /^select company from applied_changes where applied_at is null/,
  /^select company, webhook, id, state, due_at as dueat, lease/,
  /^select due_at from deliveries where/,
  /^select w\.company, w\.id as webhook(?:, w\.[\w. ]+)* from webhooks as w where/,
  /^select k\.company, k\.id, .* from api_keys as k join companies as c on c\.id = k\.company where k\.revoked_at is null/,
  /^select company, id, created_at from events where id > \$1/,
  /^select company, id from webhooks where deleted_at is not null/,
  /^select \* from \( select w\.company, w\.id as webhook, .* from webhooks as w where w\.failing_since is not null/,
  /^select company, id from (?:\( select company, id, due_at from )?(?:notices|hand_overs) where (?:state in|attempts <>)/,
];

/** The tables of a statement, each by its alias, that no value binds to a company. */
function unbound(text: string): string[] {
  const statement = text.replaceAll('"', '').replaceAll(/\s+/g, ' ').trim();
  if (OF_ALL.some((pattern) => pattern.test(statement.toLowerCase()))) return [];
  const named = statement.matchAll(/\b(from|join|update|into) (\w+)(?: as (\w+))?/gi);
  return [...named].flatMap(([, verb = '', table = '', alias]) => {
    const column = SPREAD.get(table);
    // The rows of an INSERT bring their company.
    if (column === undefined || verb.toLowerCase() === 'into') return [];
    const before = alias === undefined ? `(?:${table}\\.)?` : `${alias}\\.`;
    const isBound = new RegExp(`(?:^|[^.\\w])${before}${column} = \\$\\d`).test(statement);
    return isBound ? [] : [`${alias ?? table}: ${statement}`];
  });
}

t.test('the rule finds what breaks it', async (t) => {
  for (const text of [
    'SELECT 1 FROM events AS e JOIN deliveries AS d ON e.company = d.company WHERE e.company = $1',
    'UPDATE "deliveries" SET state = $1 WHERE (company, id) IN (SELECT value FROM x)',
    'DELETE FROM events WHERE company = $1 AND NOT EXISTS (SELECT 1 FROM deliveries AS d WHERE d.event = id)',
    'SELECT id FROM companies FOR UPDATE',
  ])
    t.equal(unbound(text).length, 1, text);
  t.equal(SPREAD.size, 24 + resources.length);
});

/** Changes a key, comes in by a portal link twice, and changes somebody's access. */
async function changeThings(visitor: Visitor, engine: Engine): Promise<void> {
  const fields = { name: 'Ledger', 'last-day': '2099-12-31', scopes: 'jobs:read' };
  await visitor.visit('/portal/keys/new');
  await visitor.submitAndFollow('/portal/keys/new', fields);
  const [, keyId] = /\/keys\/(\w+)\/change/.exec(visitor.shown) ?? [];
  await visitor.submitAndFollow(`/portal/keys/${keyId}/change`, fields);
  const { record: feed } = await createFeedToken(engine, {
    ...{ keyPrefix: 'fl', name: 'erp', portalLinks: ['jobs:read'], now: STORY_NOW },
  });
  const person = { company: COMPANY, email: 'l@brennan.example', name: 'L', scopes: ['jobs:read' as const] };
  for (let visits = 0; visits < 2; visits += 1) {
    const { code } = await makePortalLink(engine, feed, { ...person, now: STORY_NOW });
    const linked = new Visitor(visitor.url);
    await linked.visit('/portal/invitation');
    await linked.submitAndFollow('/portal/invitation', { code });
  }
  await visitor.visit('/portal/people');
  const [, personId] = /\/people\/(\w[\w-]+)\/access/.exec(visitor.shown) ?? [];
  await visitor.submitAndFollow(`/portal/people/${personId}/access`, fields);
}

/** Issues an invoice, hands it over to a folder that isn't there, and again in the portal. */
async function handOverAll(t: Test, visitor: Visitor, engine: Engine): Promise<void> {
  const backoffice = openBackoffice(engine);
  const id = '01a1ef7b-a420-7b42-8594-7b990f1a8c5f';
  for (const change of [
    { change: 'company.switch', with: { handOver: true } },
    { change: 'invoice.issue', with: { id } },
  ] as const)
    await applyChange(backoffice, { company: COMPANY, ...change });
  await handOverOnce(engine, pointAt(t, '/nowhere'), new Date());
  await engine.run("UPDATE hand_overs SET state = 'failed'");
  await visitor.visit('/portal/hand-overs');
  await visitor.submitAndFollow('/portal/hand-overs/again');
  await visitor.visit(`/portal/documents/${id}`);
  await visitor.submitAndFollow(`/portal/documents/${id}/hand-over`);
}

t.test('requests, changes and deliveries stay within one company, table by table', async (t) => {
  await using database = await openTestDatabase('postgres');
  const seen = new Set<string>();
  // As if Citus had the tables: PostgreSQL makes the same statements.
  database.engine.dialect.isDistributed = true;
  const engine = {
    ...withQueriesThrough(database.engine, ({ sql: text }, run) => {
      seen.add(text);
      return run();
    }),
    isDistributed: async () => true,
  };
  const { dialect } = database.engine;
  t.teardown(() => (dialect.isDistributed = false));
  await loadExampleCompany(engine);
  await openGeneration(engine);
  await using server = await startTestServer({ engine, databaseUrl: database.url });
  const headers = { authorization: `Bearer ${await keyFor(engine, COMPANY)}` };
  for (const path of resources.flatMap((name) => [name, `${name}?updatedSince=2026-01-01T00:00:00Z`])) {
    const { statusCode, body } = await server.http(`api/v1/${path}`, { headers });
    if (statusCode !== 200) continue;
    const [first] = (JSON.parse(body) as { data: { id: string }[] }).data;
    await server.http(`api/v1/${path.split('?')[0]}/${first?.id}`, { headers });
  }
  await server.usage.flush();

  await addAdministrator(engine, { email: EMAIL, password: PASSWORD });
  const visitor = new Visitor(server.url);
  await visitor.visit('/portal/sign-in');
  await visitor.submit('/portal/sign-in', { email: EMAIL, password: PASSWORD });
  await visitor.visit('/portal/webhooks/new');
  const hearing = { url: 'https://hooks.example.com/', events: 'job.completed' };
  await visitor.submitAndFollow('/portal/webhooks', hearing);
  const [webhook] = await database.engine.db.selectFrom('webhooks').select('id').execute();
  t.ok(webhook, visitor.text);
  await visitor.submitAndFollow(`/portal/webhooks/${webhook?.id}/ping`);
  const completed = { company: COMPANY, change: 'job.complete', with: { id: 'job_0002' } } as const;
  await applyChange(openBackoffice(engine), completed);
  await changeThings(visitor, engine);
  for (const page of [
    '',
    '/keys',
    '/webhooks',
    `/webhooks/${webhook?.id}`,
    '/people',
    '/audit',
    '/requests?before=2026-11-20',
  ])
    await visitor.visit(`/portal${page}`);
  await visitor.visit(`/portal/webhooks/${webhook?.id}?event=job.created&state=delivered`);

  for (const [status, afterMs] of [
    [500, 0],
    [200, 120_000],
  ] as const) {
    const sender = scriptedSender(() => answer(status));
    await using loop = startLoop(engine, sender, { now: () => new Date(Date.now() + afterMs) });
    await loop.idle();
    await loop[Symbol.asyncDispose]();
    await tellOutages(engine, new Date(Date.now() + (status === 500 ? 3_600_000 : 0)));
  }
  await tellLosses(engine, new Date());
  await engine.run(`UPDATE api_keys SET ends_at = '${new Date(Date.now() + 86_400_000).toISOString()}'`);
  await tellKeyEnds(engine, new Date());
  await askForReset(engine, { email: EMAIL, address: '192.0.2.1', client: 'Test', now: new Date() });
  await visitor.visit('/portal/notices');
  t.match(visitor.text, /is failing.*was registered/);
  await mailOnce(engine, 'smtp://127.0.0.1:1', new Date());
  await handOverAll(t, visitor, engine);
  await stopMails(engine, `${COMPANY}.none.none`);
  await visitor.visit('/portal/account');
  const [made] = await database.engine.db.selectFrom('deliveries').select('state').execute();
  t.equal(made?.state, 'delivered');
  await visitor.visit(`/portal/webhooks/${webhook?.id}`);
  await visitor.submitAndFollow(`/portal/webhooks/${webhook?.id}/delete`);

  const next = () => new Date(Date.now() + 400 * 86_400_000);
  await purge(engine, next);
  await purgeChangeIds(engine, { now: next, days: 1 });
  const invited = { company: COMPANY, email: 'new@example.com', scopes: ['jobs:read'], mayInvite: false };
  const { token } = await invite(engine, { ...invited, by: 'operator', now: STORY_NOW });
  await acceptLink(engine, createSignInLimits(engine), {
    ...{ token, name: 'New', password: 'correct horse battery', serviceName: 'Fieldledger' },
    ...{ address: '192.0.2.1', client: 'Test', now: STORY_NOW },
    lengths: { idleMinutes: 30, hoursMax: 12 },
  });
  const { signal } = new AbortController();
  await eraseCompany(engine, COMPANY, { now: STORY_NOW, signal, onProgress: () => undefined });
  t.strictSame([...seen].flatMap(unbound), []);
  t.ok(seen.size > 150, `${seen.size} statements`);
});
