// Long: real processes load the demo at once and are killed.
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

import { resources } from '../../src/contract/records.ts';
import type { ApiKey } from '../../src/server/features/keys/stored-keys.ts';
import { openEngine } from '../../src/server/store/engines/open-engine.ts';
import { openWorkplace, until } from '../_command.ts';
import { exampleRecords } from '../_records.ts';
import { engineNames } from '../_server.ts';

interface Loaded {
  company: string;
  key: string;
  isNew: boolean;
}

/** How many records a company has, of all kinds. */
async function countRecords(databaseUrl: string, company: string): Promise<number> {
  await using engine = await openEngine(databaseUrl);
  const counts = resources.map((table) => `(SELECT COUNT(*) FROM ${table} WHERE company = '${company}')`);
  const [row] = await engine.run(`SELECT ${counts.join(' + ')} AS records`);
  return Number(row?.records);
}

t.test('the demo is loaded once, and shows the same key again', async (t) => {
  await using workplace = await openWorkplace();
  const first = await workplace.call(['demo', '--records', '100']);
  t.equal(first.exitCode, 0);
  const [example = '', larger = '', ...rest] = first.stdout.split('\n');
  t.match(example, /^brennan {2}fl\.brennan\.[0-9a-f]{12}\.[\w-]{43}$/);
  t.match(larger, /^demo-100 {2}fl\.demo-100\.[0-9a-f]{12}\.[\w-]{43}$/);
  t.strictSame(rest, ['']);
  t.equal(await countRecords(workplace.databaseUrl, 'demo-100'), 100);

  const again = await workplace.json<Loaded[]>(['demo', '--records', '100']);
  const [ofExample, ofLarger] = [example, larger].map((line) => line.split('  ')[1]);
  t.strictSame(again, [
    { company: 'brennan', key: ofExample, isNew: false },
    { company: 'demo-100', key: ofLarger, isNew: false },
  ]);
  t.equal(await countRecords(workplace.databaseUrl, 'demo-100'), 100);
  for (const { company } of again) {
    const keys = await workplace.json<ApiKey[]>(['key', 'list', company]);
    t.strictSame(
      keys.map(({ name, revokedAt }) => ({ name, revokedAt })),
      [{ name: 'Demo', revokedAt: null }],
    );
    const { mode } = statSync(join(workplace.folder, 'data', `work.db.${company}.key`));
    t.equal(mode & 0o777, 0o600, 'only its owner can read the key that is kept');
  }
});

t.test('a demo key that was revoked, lost or changed is replaced by one that works', async (t) => {
  await using workplace = await openWorkplace();
  const load = async () => (await workplace.json<[Loaded]>(['demo']))[0];
  const { key: first } = await load();
  const [, , id = ''] = first.split('.');
  await workplace.json(['key', 'revoke', 'brennan', id]);
  const { key: second } = await load();
  t.not(second, first);
  writeFileSync(join(workplace.folder, 'data', 'work.db.brennan.key'), 'something else\n');
  const { key: third } = await load();
  t.not(third, second);
  t.equal((await load()).key, third);
});

for (const engine of engineNames) {
  t.test(`${engine}: a demo that two processes load at once is made once`, async (t) => {
    await using workplace = await openWorkplace(engine);
    const outcomes = await Promise.all([1, 2].map(() => workplace.run(['demo', '--records', '100'])));
    // There is no progress bar where nobody looks at one.
    for (const { exitCode, stderr } of outcomes)
      t.strictSame({ exitCode, stderr }, { exitCode: 0, stderr: '' });
    t.equal(await countRecords(workplace.databaseUrl, 'demo-100'), 100);
    t.equal(await countRecords(workplace.databaseUrl, 'brennan'), exampleRecords().length);
    const again = await workplace.run(['demo', '--records', '100', '--json']);
    t.match(JSON.parse(again.stdout), [{ isNew: false }, { isNew: false }]);
  });
}

t.test('a load that was killed is completed, to the company that this number always gives', async (t) => {
  const args = ['demo', '--records', '1200'];
  const company = 'demo-1200';
  await using workplace = await openWorkplace();
  const broken = workplace.start(args);
  await until(async () => (await stored(workplace.databaseUrl, company)) > 0);
  await broken.end('SIGKILL');
  const half = await countRecords(workplace.databaseUrl, company);
  t.ok(half > 0 && half < 1_200, `${half} records were stored`);

  const [, larger] = await workplace.json<[Loaded, Loaded]>(args);
  t.match(larger, { company, isNew: true });
  t.equal(await countRecords(workplace.databaseUrl, company), 1_200);
  const [, again] = await workplace.json<[Loaded, Loaded]>(args);
  t.match(again, { company, isNew: false, key: larger.key });

  await using other = await openWorkplace();
  await other.json(args);
  t.ok((await textsOf(workplace.databaseUrl, company)) === (await textsOf(other.databaseUrl, company)));
});

/** Everything that is stored of a company's records. */
async function textsOf(databaseUrl: string, company: string): Promise<string> {
  await using engine = await openEngine(databaseUrl);
  const rows = resources.map((table) =>
    engine.run(`SELECT * FROM ${table} WHERE company = '${company}' ORDER BY id`),
  );
  return JSON.stringify(await Promise.all(rows));
}

/** The records of a company so far, none while there is no database. */
async function stored(databaseUrl: string, company: string): Promise<number> {
  try {
    return await countRecords(databaseUrl, company);
  } catch {
    return 0;
  }
}
