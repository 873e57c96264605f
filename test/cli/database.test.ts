import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';

import got from 'got';
import pg from 'pg';
import t from 'tap';

import { openEngine } from '../../src/store/engines/open-engine.ts';
import { openWorkplace } from '../_command.ts';
import { engineNames } from '../_server.ts';

/** The names of all migrations, in their order. */
const migrations = readdirSync(join(import.meta.dirname, '..', '..', 'src', 'store', 'migrations'))
  .filter((file) => /^\d/.test(file))
  .map((file) => file.replace(/\.ts$/, ''))
  .sort();

/** Commands that open the database, each in a form that needs nothing in it. */
const COMMANDS = [
  ['serve'],
  ['migrate'],
  ['company', 'list'],
  ['company', 'create', 'acme'],
  ['key', 'list', 'acme'],
  ['demo'],
];

const makesFile = (name = '') => ['serve', 'migrate', 'demo'].includes(name);

t.test('a mistyped path of a database is told, and no file is made', async (t) => {
  await using workplace = await openWorkplace('sqlite', { isEmpty: true });
  for (const command of COMMANDS.filter(([name]) => !makesFile(name))) {
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
  writeFileSync(
    path('text.db'),
    'Not a database, but a text that is long enough to be read as one.'.repeat(100),
  );
  const reasons: [string, string][] = [
    [path('folder.db'), 'unable to open database file'],
    [path('text.db'), 'file is not a database'],
    [join(path('text.db'), 'inside.db'), `EEXIST: file already exists, mkdir '${path('text.db')}'`],
  ];
  for (const [file, reason] of reasons) {
    // The others don't make a file, so that what is in its way doesn't concern them.
    for (const command of COMMANDS.filter(([name]) => makesFile(name) || existsSync(file))) {
      t.strictSame(
        await workplace.call(command, { DATABASE_URL: `sqlite:${file}` }),
        {
          exitCode: 1,
          stdout: '',
          stderr: `fieldledger: The database sqlite:${file} can't be used: ${reason}\n`,
        },
        `${command.join(' ')}: ${reason}`,
      );
    }
  }
});

t.test('a PostgreSQL that does not answer is named without its password', async (t) => {
  await using workplace = await openWorkplace('sqlite', { isEmpty: true });
  const port = await closedPort();
  const DATABASE_URL = `postgres://app:hunter2@127.0.0.1:${port}/ledger`;
  const { exitCode, stdout, stderr } = await workplace.run(['migrate', '--json'], { DATABASE_URL });
  const message = `The database postgres://app:***@127.0.0.1:${port}/ledger can't be used: connect ECONNREFUSED 127.0.0.1:${port}`;
  t.equal(exitCode, 1);
  t.strictSame(JSON.parse(stdout), { error: { message } });
  t.equal(stderr, `fieldledger: ${message}\n`);
});

t.test('a password that PostgreSQL refuses is not shown either', async (t) => {
  await using workplace = await openWorkplace('postgres');
  const url = new URL(workplace.databaseUrl);
  url.password = 'hunter2';
  const { exitCode, stderr } = await workplace.call(['migrate'], { DATABASE_URL: url.href });
  url.password = '***';
  t.equal(exitCode, 1);
  t.equal(
    stderr,
    `fieldledger: The database ${url.href} can't be used: password authentication failed for user "postgres"\n`,
  );
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

for (const name of engineNames) {
  t.test(`${name}: the schema is made once, and the command tells what it did`, async (t) => {
    await using workplace = await openWorkplace(name, { isEmpty: true });
    t.strictSame(await workplace.json(['migrate']), { applied: migrations, rendered: 0 });
    t.strictSame(await workplace.json(['migrate']), { applied: [], rendered: 0 });
    t.strictSame(await workplace.call(['migrate']), {
      exitCode: 0,
      stdout: 'The database is up to date.\n',
      stderr: '',
    });
  });

  t.test(`${name}: a database of a later version is refused in one sentence, and left alone`, async (t) => {
    await using workplace = await openWorkplace(name, { isEmpty: true });
    await workplace.json(['migrate']);
    await using engine = await openEngine(workplace.databaseUrl);
    await engine.run("INSERT INTO migrations (name) VALUES ('0999-later')");
    const message =
      "The database has the migration 0999-later, which this version of Fieldledger doesn't know; run a later one.";
    for (const command of COMMANDS) {
      t.strictSame(
        await workplace.call(command),
        { exitCode: 1, stdout: '', stderr: `fieldledger: ${message}\n` },
        command.join(' '),
      );
    }
    t.strictSame(await engine.run('SELECT name FROM migrations ORDER BY name'), [
      ...migrations.map((migration) => ({ name: migration })),
      { name: '0999-later' },
    ]);
  });

  t.test(`${name}: processes that start at once on an empty database share the work`, async (t) => {
    await using workplace = await openWorkplace(name, { isEmpty: true });
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => workplace.run(['migrate'])));
    t.strictSame(
      outcomes.map(({ exitCode, stderr }) => ({ exitCode, stderr })),
      outcomes.map(() => ({ exitCode: 0, stderr: '' })),
    );
    // Each makes the next step when its turn comes, so any of them may have made any.
    const told = outcomes.flatMap(({ stdout }) => stdout.match(/\d{4}-[a-z-]+/g) ?? []).sort();
    t.strictSame(told, migrations, 'each step is made once');
  });
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A server that listens on a port has an address of this shape.
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

t.test(
  'postgres: the owner migrates, and a role that reads and writes rows runs everything else',
  async (t) => {
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
    // As src/operating/README.md lists them.
    await owner.query(`GRANT USAGE ON SCHEMA public TO ${role}`);
    await owner.query(
      `ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${role}`,
    );
    const url = new URL(workplace.databaseUrl);
    url.username = role;
    url.password = 'x';
    const asRole = { DATABASE_URL: url.href };

    const early = await workplace.call(['company', 'list'], asRole);
    t.equal(early.exitCode, 1);
    t.match(
      early.stderr,
      /is not up to date, or this role may not use it .* Run "fieldledger migrate" as the role that owns it\.\n$/,
    );

    await workplace.json(['migrate']);
    const demo = await workplace.call(['demo'], asRole);
    t.equal(demo.exitCode, 0, demo.stderr);
    const served = await workplace.serve(['--demo'], asRole);
    t.equal((await got(`${served.greeting.address}/readyz`)).statusCode, 200);
    const headers = { authorization: `Bearer ${served.greeting.demo?.key}` };
    t.equal((await got(`${served.greeting.address}/api/v1/jobs`, { headers })).statusCode, 200);
    t.strictSame(await served.end('SIGTERM'), { exitCode: 0, signal: null });
    t.equal(served.logs().filter(({ level }) => Number(level) > 30).length, 0, 'nothing was refused');
  },
);
