import t, { type Test } from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { listWebhookRows } from '../../../../src/server/features/webhooks/stored-webhooks.ts';
import {
  CREATE_MIGRATIONS,
  migrate,
  migrations,
  planMigration,
} from '../../../../src/server/store/migrations/migrate.ts';
import { schemaDifferences } from '../../../../src/server/store/migrations/schema-check.ts';
import { partOf, createTableStatements } from '../../../../src/server/store/tables/table.ts';
import { allTables } from '../../../../src/server/store/tables/tables.ts';
import type { Migration } from '../../../../src/server/store/migrations/migration.ts';
import { openWorkplace, type Workplace } from '../../../_command.ts';
import { engineNames, STORY_NOW } from '../../../_server.ts';
import { onEachStore, openSeveral, type Store } from '../_stores.ts';

const AT = STORY_NOW.toISOString();
const names = migrations.map(({ name }) => name);

/** Runs a test on each engine, with a database that has no tables. */
function onEmptyStore(
  title: string,
  body: (t: Test, store: Pick<Store, 'name' | 'engine'> & { workplace: Workplace }) => Promise<void>,
): void {
  for (const name of engineNames)
    t.test(`${name}: ${title}`, async (t) => {
      await using workplace = await openWorkplace(name, { isEmpty: true });
      await using engine = await openEngine(workplace.databaseUrl);
      await body(t, { name, engine, workplace });
    });
}

onEmptyStore('migrations are applied once and recorded', async (t, { engine }) => {
  t.strictSame((await migrate(engine)).applied, names);
  t.strictSame(
    await engine.run('SELECT name FROM migrations ORDER BY name'),
    names.map((name) => ({ name })),
  );
  t.strictSame((await migrate(engine)).applied, [], 'the second time there is nothing to do');
});

onEachStore('a resource without a table has no records to render yet', async (t, { engine }) => {
  await engine.run('DROP TABLE people');
  await engine.run("DELETE FROM record_contracts WHERE resource = 'people'");
  const outdated = [{ resource: 'people', records: 0, hasBegun: false }];
  t.strictSame(await planMigration(engine), { migrations: [], outdated });
});

onEmptyStore('a migration that fails leaves nothing behind', async (t, { engine, name }) => {
  // A view that is in the way of one of the first migration's tables.
  await engine.run('CREATE VIEW key_hours AS SELECT 1 AS id');
  await t.rejects(migrate(engine), /key_hours/);
  const tables =
    name === 'sqlite'
      ? "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
      : 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1';
  t.strictSame(await engine.run(tables), []);
  await engine.run('DROP VIEW key_hours');
  t.strictSame((await migrate(engine)).applied, names, 'and it can be tried again');
});

onEmptyStore('a database of another program is left as it is', async (t, { engine, workplace }) => {
  await engine.run('CREATE TABLE ledger (id INTEGER)');
  await engine.run('CREATE TABLE migrations (name TEXT)');
  for (const command of ['migrate', 'verify', 'company list'])
    t.match(await workplace.call(command.split(' ')), {
      exitCode: 1,
      stderr:
        "fieldledger: The database isn't one of Fieldledger: it has the table ledger. Name an empty one.\n",
    });
  await t.rejects(engine.run('SELECT * FROM companies'), 'it has no table more');
});

onEmptyStore('a database from before the history is refused', async (t, { engine, workplace }) => {
  await engine.run('CREATE TABLE migrations (name TEXT)');
  await engine.run("INSERT INTO migrations (name) VALUES ('0001-access'), ('0002-records')");
  t.match(await workplace.call('migrate'), { exitCode: 1, stderr: /was made before release 1\.0\.0/ });
});

onEachStore(
  'a later version changes a filled database, which this one refuses then',
  async (t, { engine }) => {
    await createCompany(engine, 'acme', {}, STORY_NOW);
    const statement = 'ALTER TABLE companies ADD COLUMN later INTEGER NOT NULL DEFAULT 7';
    const later = migrations as Migration[];
    later.push({ name: '0009-later', statements: () => [statement] });
    try {
      t.strictSame((await migrate(engine)).applied, ['0009-later']);
      t.strictSame(await engine.run('SELECT id, later FROM companies'), [{ id: 'acme', later: 7 }]);
    } finally {
      later.pop();
    }
    await t.rejects(migrate(engine), /^The database has the migration 0009-later, which this version/);
  },
);

onEmptyStore('a new database has all tables at once, and nothing to migrate', async (t, { engine }) => {
  const later = migrations as Migration[];
  later.push({ name: '0009-later', statements: () => ['CREATE TABLE key_hours (id INTEGER)'] });
  try {
    t.strictSame((await migrate(engine)).applied, [...names, '0009-later']);
    t.match(await planMigration(engine), { migrations: [] });
  } finally {
    later.pop();
  }
});

onEmptyStore(
  'a database of the first release is upgraded to the tables of today',
  async (t, { engine, name }) => {
    const adds = migrations.flatMap((migration) => migration.adds ?? []);
    const partsOf = (table: string) =>
      adds
        .filter((part) => part.name === table)
        .flatMap((part) => Object.keys({ ...part.columns, ...part.indexes }));
    const first = allTables
      .map((table) => partOf(table, (part) => !partsOf(table.name).includes(part)))
      .filter(({ columns }) => Object.keys(columns).length > 0);
    for (const statement of [
      CREATE_MIGRATIONS,
      ...first.flatMap((table) => createTableStatements(table, name)),
    ])
      await engine.run(statement);
    await engine.run("INSERT INTO migrations (name) VALUES ('0001-baseline')");
    t.strictSame(await schemaDifferences(engine), [], 'a backup of it can be restored');
    await createCompany(engine, 'acme', {}, STORY_NOW);
    await engine.run(
      `INSERT INTO webhooks (company, id, url, events, secret, created_at) VALUES ('acme', 'whk_1', '', '[]', '', '${AT}')`,
    );
    await engine.run(
      `INSERT INTO events (company, id, kind, created_at, data) VALUES ('acme', 'evt_1', 'ping', '${AT}', '{}')`,
    );
    t.strictSame((await migrate(engine)).applied, names.slice(1));
    t.strictSame(await schemaDifferences(engine), []);
    t.match(await listWebhookRows(engine, 'acme'), [
      { id: 'whk_1', description: '', pastEvents: [], replaces: null },
    ]);
  },
);

onEmptyStore('of several that migrate at once one applies each', async (t, { workplace }) => {
  await using processes = await openSeveral(workplace.databaseUrl, 5);
  const applied = await Promise.all(processes.engines.map((engine) => migrate(engine)));
  t.strictSame(applied.flatMap((each) => each.applied).sort(), names);
});

onEachStore('columns follow from the text, and rows without sense are refused', async (t, { engine }) => {
  const company = (id: string, flag: number) =>
    engine.run(
      `INSERT INTO companies (id, name, api_enabled, subscription_active, invoicing_enabled, modules, time_zone, currency, profile, created_at)
     VALUES ('${id}', 'x', ${flag}, 1, 1, '[]', 'UTC', 'EUR', '{}', '${AT}')`,
    );
  await company('acme', 1);
  await t.rejects(company('acme', 1), 'a company has its id for itself');
  await t.rejects(company('other', 2), 'a switch is on or off');
  const job = (owner: string, body: string) =>
    engine.run(`INSERT INTO jobs (company, digest, body) VALUES ('${owner}', '', '${body}')`);
  await job('acme', `{"id":"j1","updatedAt":"${AT}","title":"é"}`);
  t.strictSame(await engine.run('SELECT id, updated_at, body FROM jobs'), [
    { id: 'j1', updated_at: AT, body: `{"id":"j1","updatedAt":"${AT}","title":"é"}` },
  ]);
  await t.rejects(job('acme', `{"id":"j1","updatedAt":"${AT}"}`), 'an id is there once');
  await t.rejects(job('nobody', `{"id":"j2","updatedAt":"${AT}"}`), 'its company has to be there');
  await t.rejects(job('acme', `{"updatedAt":"${AT}"}`), 'a record has an id');
  await t.rejects(job('acme', 'nonsense'), 'and is JSON');
  await t.rejects(engine.run("UPDATE jobs SET id = 'j9'"), 'a column cannot disagree with its text');
});
