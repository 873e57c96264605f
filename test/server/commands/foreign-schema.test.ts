import { join } from 'node:path';

import pg from 'pg';
import t from 'tap';

import { openWorkplace } from '../../_command.ts';
import { execute } from './_backups.ts';

const PROBLEM = /^fieldledger: .* has been changed by something else: (.*)\.\n$/;

/** Changes of a schema that a reader would not see, and what is said of each. */
const ON_SQLITE: [string, string][] = [
  [
    'CREATE TRIGGER t AFTER UPDATE OF revoked_at ON api_keys BEGIN UPDATE api_keys SET revoked_at = NULL; END',
    "the trigger t isn't Fieldledger's",
  ],
  ['CREATE VIEW v AS SELECT secret FROM webhooks', "the view v isn't Fieldledger's"],
  ['CREATE TABLE notes (text TEXT)', "the table notes isn't Fieldledger's"],
  ['CREATE INDEX more ON api_keys (name)', "the index more isn't Fieldledger's"],
  ['DROP INDEX invoices_numbered', 'the index invoices_numbered is missing'],
  ['ALTER TABLE api_keys ADD COLUMN note TEXT', "the table api_keys isn't as Fieldledger makes it"],
  [
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (api_enabled IN (0, 1))', '') WHERE name = 'companies'",
    "the table companies isn't as Fieldledger makes it",
  ],
];

t.test('a backup whose schema was changed is refused by restore, backup, verify and copy', async (t) => {
  for (const [sql, problem] of ON_SQLITE) {
    await using workplace = await openWorkplace('sqlite');
    const path = workplace.databaseUrl.slice('sqlite:'.length);
    const at = (name: string) => join(workplace.folder, name);
    const file = at('backup.db');
    await workplace.json(`backup ${file}`);
    execute(file, sql);
    execute(path, sql);
    for (const [line, environment] of [
      [`restore ${file}`, { DATABASE_URL: `sqlite:${at('restored.db')}` }],
      [`backup ${at('changed.db')}`],
      [`copy --from ${workplace.databaseUrl} --to sqlite:${at('to.db')}`],
    ] as const) {
      const { exitCode, stderr } = await workplace.call(line, environment);
      t.strictSame([exitCode, PROBLEM.exec(stderr)?.[1]], [1, problem], line);
    }
    const { exitCode, stdout } = await workplace.call('verify --json');
    t.equal(exitCode, 1);
    t.match(JSON.parse(stdout), { problems: [{ in: 'schema', company: null, id: null, problem }] });
  }
});

t.test("what SQLite's ANALYZE and Litestream add is nothing wrong", async (t) => {
  await using workplace = await openWorkplace('sqlite');
  execute(
    workplace.databaseUrl.slice('sqlite:'.length),
    `ANALYZE; CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER); CREATE TABLE _litestream_lock (id INTEGER)`,
  );
  for (const line of ['verify', `backup ${join(workplace.folder, 'backup.db')}`])
    t.match(await workplace.call(line), { exitCode: 0 }, line);
});

const ON_POSTGRES: [string, string][] = [
  [
    `CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.revoked_at := NULL; RETURN NEW; END $$;
     CREATE TRIGGER undo BEFORE UPDATE ON api_keys FOR EACH ROW EXECUTE FUNCTION undo()`,
    "the function undo isn't Fieldledger's; the trigger undo on api_keys isn't Fieldledger's",
  ],
  ['CREATE VIEW v AS SELECT secret FROM webhooks', "the view v isn't Fieldledger's"],
  ['CREATE TABLE notes (text TEXT)', "the table notes isn't Fieldledger's"],
  [
    'CREATE RULE kept AS ON DELETE TO api_keys DO INSTEAD NOTHING',
    "the rule kept on api_keys isn't Fieldledger's",
  ],
  [
    'CREATE POLICY hidden ON api_keys USING (revoked_at IS NULL); ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY',
    "the policy hidden on api_keys isn't Fieldledger's; the table api_keys isn't as Fieldledger makes it",
  ],
  [
    'CREATE OR REPLACE FUNCTION forget_old_audit_entries(of_company TEXT, before TEXT) RETURNS void LANGUAGE sql AS $$ $$',
    "the function forget_old_audit_entries isn't as Fieldledger makes it",
  ],
  ['DROP FUNCTION forget_old_audit_entries', 'the function forget_old_audit_entries is missing'],
  [
    'ALTER TABLE api_keys RENAME TO hidden; CREATE VIEW api_keys AS SELECT * FROM hidden',
    "the table api_keys is missing; the table hidden isn't Fieldledger's; the view api_keys isn't Fieldledger's",
  ],
];

t.test('a PostgreSQL whose schema was changed is told by verify, and refused by copy', async (t) => {
  await using unchanged = await openWorkplace('postgres');
  t.match(await unchanged.call('verify'), { exitCode: 0, stdout: /nothing is wrong/ });
  for (const [sql, problem] of ON_POSTGRES) {
    await using workplace = await openWorkplace('postgres');
    const { call, databaseUrl, folder } = workplace;
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query(sql);
    await client.end();
    const { exitCode, stdout } = await call('verify --json');
    t.equal(exitCode, 1, sql);
    const { problems } = JSON.parse(stdout) as { problems: { in: string; problem: string }[] };
    t.equal(problems.flatMap((one) => (one.in === 'schema' ? [one.problem] : [])).join('; '), problem);
    const from = new URL(databaseUrl);
    const { password: PGPASSWORD } = from;
    from.password = '';
    const copied = await call(`copy --from ${from.href} --to sqlite:${join(folder, 'to.db')}`, {
      PGPASSWORD,
    });
    t.equal(PROBLEM.exec(copied.stderr)?.[1], problem);
  }
});
