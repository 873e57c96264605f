import pg from 'pg';
import t from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { machinesAway, ofAllCompanies } from '../../../../src/server/store/machines.ts';
import { listCompanies } from '../../../../src/server/store/records/companies.ts';
import { listCompanyStatus } from '../../../../src/server/features/companies/company-status.ts';
import { sql } from 'kysely';
import { until } from '../../../_command.ts';
import { openTestDatabase, STORY_NOW } from '../../../_server.ts';

/**
 * What Citus's coordinator answers about its machines (docs.citusdata.com, "Metadata Tables Reference" and "Citus Utility
 * Functions"): the companies whose ids begin with "far" are on the second machine, which answers unless `silent` has a row.
 */
const COORDINATOR = `
  CREATE TABLE silent (why TEXT);
  CREATE TABLE pg_dist_partition (logicalrelid REGCLASS);
  INSERT INTO pg_dist_partition VALUES ('companies');
  CREATE TABLE pg_dist_shard (logicalrelid REGCLASS, shardid BIGINT);
  INSERT INTO pg_dist_shard VALUES ('companies', 1), ('companies', 2);
  CREATE TABLE pg_dist_placement (shardid BIGINT, groupid INTEGER);
  INSERT INTO pg_dist_placement VALUES (1, 1), (2, 2);
  CREATE TABLE pg_dist_node (groupid INTEGER, nodename TEXT, nodeport INTEGER);
  INSERT INTO pg_dist_node VALUES (1, 'one', 5432), (2, 'two', 5432);
  CREATE FUNCTION get_shard_id_for_distribution_column(REGCLASS, TEXT) RETURNS BIGINT LANGUAGE SQL
    AS $$ SELECT CASE WHEN $2 LIKE 'far%' THEN 2 ELSE 1 END::BIGINT $$;
  CREATE FUNCTION run_command_on_workers(TEXT) RETURNS TABLE (nodename TEXT, nodeport INTEGER, success BOOLEAN) LANGUAGE SQL
    AS $$ SELECT nodename, nodeport, groupid = 1 OR NOT EXISTS (SELECT 1 FROM silent) FROM pg_dist_node $$;
  CREATE FUNCTION shard_name(REGCLASS, BIGINT) RETURNS TEXT LANGUAGE SQL AS $$ SELECT $2::TEXT $$;
  CREATE FUNCTION master_run_on_worker(TEXT[], INTEGER[], TEXT[], BOOLEAN)
    RETURNS TABLE (node_name TEXT, node_port INTEGER, result TEXT) LANGUAGE SQL
    AS $$ SELECT nodename, nodeport, (SELECT COALESCE(json_agg(id), '[]')::TEXT FROM companies
        WHERE get_shard_id_for_distribution_column('companies', id) = groupid)
      FROM pg_dist_node WHERE nodename = ANY ($1) $$;`;

t.test('a machine that is silent costs its own companies alone', async (t) => {
  await using database = await openTestDatabase('postgres');
  for (const id of ['far1', 'far2', 'near1', 'near2'])
    await createCompany(database.engine, id, {}, STORY_NOW);
  await database.engine.run(COORDINATOR);
  await using engine = await openEngine(database.url, { poolMax: 2 });
  t.ok(await engine.isDistributed());
  const touch = (company: string) =>
    engine.transaction((transaction) =>
      transaction.updateTable('companies').set({ name: company }).where('id', '=', company).execute(),
    );
  const nameOf = (company: string) =>
    engine.db.selectFrom('company_clocks').select('company').where('company', '=', company).execute();
  await touch('far1');
  t.equal(machinesAway(engine), undefined);
  // The look that this has begun is over before the machine freezes.
  await engine.machines?.reached();

  // A change of a company on the second machine now waits, as for a machine that is frozen.
  const machine = new pg.Client(database.url);
  await using connection = new AsyncDisposableStack();
  connection.defer(() => machine.end());
  await machine.connect();
  await machine.query("BEGIN; SELECT 1 FROM companies WHERE id LIKE 'far%' FOR UPDATE");
  await database.engine.run("INSERT INTO silent VALUES ('frozen')");
  const waiting = Array.from({ length: 6 }, (_, index) => touch(`far${1 + (index % 2)}`));
  const refused = Promise.allSettled(waiting);
  const near = (async () => {
    for (let round = 0; round < 3; round += 1)
      await Promise.all([touch('near1'), nameOf('near2'), nameOf('near1')]);
    return 'near';
  })();
  t.equal(await Promise.race([near, refused]), 'near', 'the others do not wait');
  const away = { code: 'unavailable', cause: { message: "A machine doesn't answer." } };
  for (const outcome of await refused) t.match(outcome, { status: 'rejected', reason: away });
  t.match(machinesAway(engine), /two:5432/);
  await t.rejects(
    nameOf('far1'),
    { cause: { message: "two:5432 doesn't answer." } },
    'others are refused at once',
  );
  await until(() =>
    engine.answers().then(
      () => true,
      () => false,
    ),
  );
  const found = [await listCompanies(engine), await listCompanyStatus(engine, STORY_NOW)];
  for (const companies of found)
    t.strictSame(
      companies.map(({ id }) => id),
      ['near1', 'near2'],
    );
  await connection.disposeAsync();
  await database.engine.run('DELETE FROM silent');
  await until(async () => machinesAway(engine) === undefined);
  await touch('far2');
  const ids = await ofAllCompanies(engine, () => sql<{ id: string }>`SELECT id FROM companies`);
  t.equal(ids.length, 4, 'once it answers, it is asked again');
});
