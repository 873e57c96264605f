import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import got from 'got';
import pg from 'pg';
import t, { type Test } from 'tap';

import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { migrations as steps } from '../../../src/server/store/migrations/migrate.ts';
import { purge } from '../../../src/server/commands/purge.ts';
import { openWorkplace, type Workplace } from '../../_command.ts';
import { freePort } from '../../_postgres.ts';

const migrations = steps.map(({ name }) => name);

/** Commands that open the database, each in a form that needs nothing in it; the first three make a missing file. */
const COMMANDS = ['serve', 'migrate', 'demo', 'company list', 'company create acme', 'key list acme'];
const MAKING = COMMANDS.slice(0, 3);

t.test('a mistyped path of a database is told, and no file is made', async (t) => {
  await using workplace = await openWorkplace('sqlite', { isEmpty: true });
  for (const command of COMMANDS.slice(3)) {
    t.strictSame(await workplace.call(command), {
      exitCode: 1,
      stdout: '',
      stderr: `fieldledger: There is no database ${workplace.databaseUrl}: DATABASE_URL may be mistyped. "fieldledger migrate" makes a new one.\n`,
    });
  }
  t.notOk(existsSync(join(workplace.folder, 'data')));
});

t.test('every command names the database file that cannot be used, and why', async (t) => {
  await using workplace = await openWorkplace('sqlite', { isEmpty: true });
  const path = (name: string) => join(workplace.folder, name);
  mkdirSync(path('folder.db'));
  const text = 'Not a database, but a text that is long enough to be read as one.';
  writeFileSync(path('text.db'), text.repeat(100));
  const reasons: [file: string, reason: string][] = [
    [path('folder.db'), 'unable to open database file'],
    [path('text.db'), 'file is not a database'],
    [join(path('text.db'), 'inside.db'), `EEXIST: file already exists, mkdir '${path('text.db')}'`],
  ];
  for (const [file, reason] of reasons) {
    const stderr = `fieldledger: The database sqlite:${file} can't be used: ${reason}\n`;
    // The others don't make a file, so that what is in its way doesn't concern them.
    for (const command of existsSync(file) ? COMMANDS : MAKING) {
      const refused = await workplace.call(command, { DATABASE_URL: `sqlite:${file}` });
      t.strictSame(refused, { exitCode: 1, stdout: '', stderr }, `${command}: ${reason}`);
    }
  }
});

t.test('a PostgreSQL that does not let the command in is named without its password', async (t) => {
  await using workplace = await openWorkplace('postgres', { isEmpty: true });
  const [refusing, silent] = [new URL(workplace.databaseUrl), new URL(workplace.databaseUrl)];
  silent.port = String(await freePort());
  for (const [url, reason] of [
    [refusing, 'password authentication failed for user "postgres"'],
    [silent, `connect ECONNREFUSED 127.0.0.1:${silent.port}`],
  ] as const) {
    url.password = 'hunter2';
    const refused = await workplace.call('migrate --json', { DATABASE_URL: url.href });
    url.password = '***';
    const message = `The database ${url.href} can't be used: ${reason}`;
    t.strictSame(refused, {
      exitCode: 1,
      stdout: `${JSON.stringify({ error: { message } })}\n`,
      stderr: `fieldledger: ${message}\n`,
    });
  }
});

t.test('config lists every setting when some are wrong, names those, and fails', async (t) => {
  await using workplace = await openWorkplace('sqlite', { isEmpty: true });
  const wrong = { PORT: '99999', WEBHOOK_SECRET_KEY: 'hunter2', SMTP_URL: 'smtp://mail.example' };
  const { stdout, stderr, exitCode } = await workplace.call('config', wrong);
  t.equal(exitCode, 1);
  t.match(
    stdout,
    /^HOST=127.0.0.1 .*\n {4}address .*\nPORT=99999\n {4}WRONG: PORT must be an integer from 0 to 65535/m,
  );
  t.match(stdout, /^WEBHOOK_SECRET_KEY=\n {4}WRONG: WEBHOOK_SECRET_KEY must be 32 bytes in base64\./m);
  t.match(stdout, /^SMTP_URL=.*\n {4}WRONG: SMTP_URL needs MAIL_FROM and BASE_URL/m);
  t.match(stdout, /^PORTAL_SESSION_HOURS=12 /m, 'to the last');
  t.notMatch(stdout, /hunter2/);
  t.equal(stderr, 'fieldledger: These settings are wrong: PORT, WEBHOOK_SECRET_KEY, SMTP_URL.\n');
  const json = await workplace.call('config --json', wrong);
  const settings = JSON.parse(json.stdout) as { name: string; problem: string | null }[];
  t.match(settings.find(({ name }) => name === 'PORT')?.problem, /not "99999"/);
  t.equal(settings.find(({ name }) => name === 'HOST')?.problem, null);
});

t.test('a wrong configuration is told before the database is touched', async (t) => {
  await using workplace = await openWorkplace('sqlite', { isEmpty: true });
  for (const command of COMMANDS) {
    const { exitCode, stderr } = await workplace.call(command, { PORT: 'x', LOG_LEVEL: 'y' });
    t.equal(exitCode, 1);
    t.match(stderr, /^fieldledger: The configuration is wrong:\n {2}PORT .*\n {2}LOG_LEVEL .*\n$/);
  }
  t.notOk(existsSync(join(workplace.folder, 'data')));
});

t.test('the schema is made once, and the command tells what it did', async (t) => {
  await using workplace = await openWorkplace('sqlite', { isEmpty: true });
  t.strictSame(await workplace.json('migrate'), { applied: migrations, rendered: 0 });
  t.strictSame(await workplace.json('migrate'), { applied: [], rendered: 0 });
  const done = { exitCode: 0, stdout: 'The database is up to date.\n', stderr: '' };
  t.strictSame(await workplace.call('migrate'), done);
});

t.test('a database of a later version is refused in one sentence, and left alone', async (t) => {
  await using workplace = await openWorkplace();
  await using engine = await openEngine(workplace.databaseUrl);
  await engine.run("INSERT INTO migrations (name) VALUES ('0999-later')");
  const message =
    "The database has the migration 0999-later, which this version of Fieldledger doesn't know; run a later one.";
  for (const command of COMMANDS) {
    const refused = { exitCode: 1, stdout: '', stderr: `fieldledger: ${message}\n` };
    t.strictSame(await workplace.call(command), refused, command);
  }
  const rows = [...migrations, '0999-later'].map((name) => ({ name }));
  t.strictSame(await engine.run('SELECT name FROM migrations ORDER BY name'), rows);
});

/** Every command that writes, as the server's role; the audit trail is only added to. */
async function seeRoleAtWork(
  t: Test,
  { workplace, owner, asRole }: { workplace: Workplace; owner: pg.Client; asRole: Record<string, string> },
): Promise<void> {
  const json = <T>(line: string) => workplace.json<T>(line, asRole);
  await json('company create acme --api --invoicing');
  const old = "'2024-01-01T00:00:00.000Z', 'A', 'key.created', '{}'";
  await owner.query(
    `INSERT INTO audit_entries (company, id, at, administrator_name, action, details)
     VALUES ('acme', '0', ${old}), ('acme', '1', ${old})`,
  );
  const { id: key } = await json<{ id: string }>('key create acme --scopes all');
  const { id: webhook } = await json<{ id: string }>('webhook create acme https://hooks.example.com/');
  for (const line of [
    `key revoke acme ${key}`,
    ...['ping', 'pause', 'resume'].map((change) => `webhook ${change} acme ${webhook}`),
    `webhook delete acme ${webhook} --confirm ${webhook}`,
    'webhook seal',
    'feed-token create --name erp --companies all --changes all',
    'admin create acme jane@acme.example --scopes all',
    'numbering set acme invoice --last 5',
    'company set acme --name Acme',
    'verify',
    ...['key', 'webhook', 'admin'].map((subject) => `${subject} list acme`),
    'feed-token list',
    `company export acme ${join(workplace.folder, 'acme')}`,
  ])
    await json(line);
  {
    await using engine = await openEngine(asRole.DATABASE_URL ?? '');
    await purge(engine, () => new Date());
  }
  const { rows } = await owner.query<{ at: string }>("SELECT at FROM audit_entries WHERE company = 'acme'");
  const isRecent = rows.every(({ at }) => at > '2026');
  t.ok(isRecent, 'what is older than two years goes also under this role');
  const role = new pg.Client({ connectionString: asRole.DATABASE_URL });
  await role.connect();
  for (const sql of [
    'UPDATE audit_entries SET action = action',
    'DELETE FROM audit_entries',
    'TRUNCATE audit_entries',
    'ALTER TABLE audit_entries DISABLE TRIGGER ALL',
  ])
    await t.rejects(role.query(sql), { code: '42501' }, sql);
  // Neither a time to come nor one of today makes the function remove more.
  await role.query("SELECT forget_old_audit_entries('acme', '9999')");
  await role.end();
  const erase = 'company erase acme --confirm acme';
  t.match(await workplace.call(erase, asRole), {
    exitCode: 1,
    stderr:
      /This role may not remove entries of the audit trail\. Erase the company as the role that owns the tables\./,
  });
  const left = await owner.query("SELECT 1 FROM audit_entries WHERE company = 'acme'");
  t.equal(left.rowCount, rows.length);
  t.match(await workplace.call(erase), { exitCode: 0 });
}

t.test('postgres: the owner migrates, and a role that writes rows runs everything else', async (t) => {
  await using workplace = await openWorkplace('postgres', { isEmpty: true });
  const role = `app_${randomBytes(4).toString('hex')}`;
  const owner = new pg.Client({ connectionString: workplace.databaseUrl });
  await owner.connect();
  // Before the server of the test ends, which would cut the connection off.
  await using cleaning = new AsyncDisposableStack();
  cleaning.defer(async () => {
    await owner.query(`DROP OWNED BY ${role}`);
    await owner.query(`DROP ROLE ${role}`);
    await owner.end();
  });
  await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
  await owner.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  // As src/server/operating/README.md lists them.
  await owner.query(`GRANT USAGE ON SCHEMA public TO ${role}`);
  await owner.query(
    `ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${role}`,
  );
  const url = new URL(workplace.databaseUrl);
  url.username = role;
  url.password = 'x';
  const asRole = { DATABASE_URL: url.href };

  t.match(await workplace.call('company list', asRole), {
    exitCode: 1,
    stderr:
      /is not up to date, or this role may not use it .* Run "fieldledger migrate" as the role that owns it\.\n$/,
  });
  await workplace.json('migrate');
  const served = await workplace.serve(['--demo'], asRole);
  t.equal((await got(`${served.greeting.address}/readyz`)).statusCode, 200);
  const headers = { authorization: `Bearer ${served.greeting.demo?.key}` };
  t.equal((await got(`${served.greeting.address}/api/v1/jobs`, { headers })).statusCode, 200);
  t.strictSame(await served.end('SIGTERM'), { exitCode: 0, signal: null });
  t.equal(served.logs().filter(({ level }) => Number(level) > 30).length, 0, 'nothing was refused');
  await seeRoleAtWork(t, { workplace, owner, asRole });
});
