import { randomBytes } from 'node:crypto';
import got from 'got';
import pg from 'pg';
import t from 'tap';

import { openWorkplace } from '../_command.ts';

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
    // As the README lists them.
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
