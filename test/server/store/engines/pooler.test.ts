import pg from 'pg';
import t from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { loadExampleCompany } from '../../../../src/demo/load.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { migrate } from '../../../../src/server/store/migrations/migrate.ts';
import { callCommand, until } from '../../../_command.ts';
import { createDatabase, startPostgres } from '../../../_postgres.ts';
import { keyFor, startTestServer, STORY_NOW } from '../../../_server.ts';
import { jobCreate, openStaffedCompany } from '../../backoffice/_changes.ts';
import { feedOf } from '../../backoffice/_feed.ts';
import { createTestBackoffice } from '../../backoffice/_backoffice.ts';
import { addAdministrator, EMAIL, PASSWORD, Visitor } from '../../portal/_portal.ts';
import {
  answer,
  scriptedSender,
  settled,
  startLoop,
} from '../../features/webhooks/deliveries/_delivery-loop.ts';
import { fillDeliveries } from '../../features/webhooks/deliveries/_deliveries.ts';
import { startPooler } from './_pooler.ts';

const given = process.env.TEST_POSTGRES_URL;
const postgres = given === undefined ? await startPostgres() : undefined;
t.teardown(() => postgres?.[Symbol.asyncDispose]());
const newDatabase = () => createDatabase(given ?? postgres?.url ?? '');

t.test('the pooler of these tests refuses what PgBouncer refuses', async (t) => {
  await using pooler = await startPooler(await newDatabase());
  const withTimeout = new pg.Client({ connectionString: pooler.url, statement_timeout: 1_000 });
  await t.rejects(withTimeout.connect(), /unsupported startup parameter: statement_timeout/);
  const clients = [1, 2].map(() => new pg.Client({ connectionString: pooler.url }));
  try {
    for (const client of clients) await client.connect();
    const named = { name: 'one', text: 'SELECT 1 AS one' };
    const asked = async () => {
      for (let round = 0; round < 4; round += 1) for (const client of clients) await client.query(named);
    };
    await t.rejects(asked(), /prepared statement "one" (already exists|does not exist)/);
  } finally {
    for (const client of clients) await client.end();
  }
});

t.test('everything works through a pooler in transaction mode', async (t) => {
  await using pooler = await startPooler(await newDatabase());
  await using engine = await openEngine(pooler.url);
  t.ok((await migrate(engine)).applied.length > 0, 'the schema is made');
  await loadExampleCompany(engine);
  await using server = await startTestServer({ engine, databaseUrl: pooler.url });
  const headers = { authorization: `Bearer ${await keyFor(engine, 'brennan')}` };
  const ask = (path: string) => server.http(`api/v1/${path}`, { headers });

  await t.test('the API serves, many requests at once', async (t) => {
    const lists = ['jobs', 'people', 'customers', 'forms', 'invoices', 'quotes'];
    const ranges = ['jobs?updatedSince=2026-01-01T00:00:00Z', 'invoices?issuedFrom=2026-01-01&status=all'];
    const paths = Array.from({ length: 12 }, () => [...lists, ...ranges]).flat();
    const answers = await Promise.all(paths.map(ask));
    for (const { statusCode, body } of answers) if (statusCode !== 200) t.fail(body);
    const [counted] = await engine.run('SELECT MAX(points) AS points FROM key_counts');
    t.equal(Number(counted?.points), answers.length, 'and each is counted in the database');
  });

  await t.test('an administrator signs in to the portal', async (t) => {
    await addAdministrator(engine, { email: EMAIL, password: PASSWORD });
    const visitor = new Visitor(server.url);
    await visitor.visit('/portal/sign-in');
    await visitor.submitAndFollow('/portal/sign-in', { email: EMAIL, password: PASSWORD });
    t.equal((await visitor.visit('/portal/people')).statusCode, 200);
    t.match(visitor.text, /These people are administrators/);
  });

  await t.test('a feed is applied, and its deliveries go out', async (t) => {
    const acme = await openStaffedCompany(createTestBackoffice({ engine, url: pooler.url }).openCompany);
    const sender = scriptedSender(() => answer(200));
    await using loop = startLoop(engine, sender);
    const change = { id: 'change 1', company: acme.id, ...jobCreate({ id: 'job_1' }) };
    const folder = t.testdir({ 'feed.jsonl': feedOf([change]) });
    const applied = await callCommand(['apply', `${folder}/feed.jsonl`], { DATABASE_URL: pooler.url });
    t.equal(applied.exitCode, 0, applied.stdout);
    await settled(engine, 'delivered');
    await loop.idle();
    const sent = sender.sent.map(({ body }) => JSON.parse(body) as unknown);
    t.match(sent, [{ event: 'job.created', data: { id: 'job_1' } }]);
  });
});

t.test('a worker hears of new deliveries by the direct address, and looks for itself without', async (t) => {
  const url = await newDatabase();
  await using pooler = await startPooler(url);
  await using writer = await openEngine(pooler.url);
  await migrate(writer);
  const nowhere = 'postgres://nobody@127.0.0.1:1/nothing';
  for (const [company, directUrl] of Object.entries({ direct: url, pooled: undefined, failing: nowhere })) {
    await using engine = await openEngine(pooler.url, { directUrl });
    const sender = scriptedSender(() => answer(200));
    await using loop = startLoop(engine, sender);
    let newsCount = 0;
    const watch = engine.watchDeliveries(() => (newsCount += 1));
    if (directUrl === url) await until(() => newsCount === 1);
    await loop.idle();
    await createCompany(writer, company, {}, STORY_NOW);
    await fillDeliveries(writer, { [company]: { whk_a: 3 } });
    if (directUrl === url) await until(() => newsCount > 1);
    await settled(engine, 'delivered');
    t.equal(sender.sent.length, 3, company);
    await watch[Symbol.asyncDispose]();
  }
});
