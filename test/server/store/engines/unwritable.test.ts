import t from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { describeError } from '../../../../src/command-line/terminal.ts';
import { AppError } from '../../../../src/errors.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { openGeneration } from '../../../../src/server/store/records/generation.ts';
import { until } from '../../../_command.ts';
import { openTestDatabase, startTestServer, STORY_NOW } from '../../../_server.ts';

t.test('sqlite: a full disk is told as a full disk, and readyz says 503 until there is room', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await using server = await startTestServer({ engine });
  t.equal((await server.http('readyz')).statusCode, 200);
  // SQLite refuses pages beyond the limit as it does on a full disk.
  const [size] = await engine.run('PRAGMA page_count');
  await engine.run(`PRAGMA max_page_count = ${Number(size?.page_count)}`);
  await engine.run('CREATE TABLE filler (x BLOB)').catch(() => undefined);
  let error: unknown;
  for (let n = 0; n < 500 && error === undefined; n += 1) {
    const profile = { website: 'x'.repeat(5_000) };
    const made = createCompany(engine, `company-${n}`, { profile }, STORY_NOW);
    error = await made.then(() => undefined).catch((thrown: unknown) => thrown);
  }
  t.ok(error instanceof AppError);
  t.equal(describeError(error), 'database or disk is full');
  // The served time needs no new page; a trigger that stores something has it want one.
  await engine.run('PRAGMA max_page_count = 1000000');
  await engine.run('CREATE TABLE ballast (x BLOB)');
  await engine.run(
    'CREATE TRIGGER heavy AFTER UPDATE ON served_clock BEGIN INSERT INTO ballast VALUES (randomblob(100000)); END',
  );
  const [grown] = await engine.run('PRAGMA page_count');
  await engine.run(`PRAGMA max_page_count = ${Number(grown?.page_count)}`);
  const refused = await server.http('readyz');
  t.strictSame([refused.statusCode, refused.body], [503, '{"status":"not ready"}']);
  await engine.run('PRAGMA max_page_count = 1000000');
  await until(async () => (await server.http('readyz')).statusCode === 200);
});

t.test('postgres: readyz says 503 where nothing may be written', async (t) => {
  await using database = await openTestDatabase('postgres');
  // As a store that was served before.
  await openGeneration(database.engine);
  const url = new URL(database.url);
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  await using engine = await openEngine(url.href);
  await using server = await startTestServer({ engine, databaseUrl: database.url });
  t.equal((await server.http('readyz')).statusCode, 503);
  const error = await createCompany(engine, 'acme', {}, STORY_NOW).catch((thrown: unknown) => thrown);
  t.equal(describeError(error), 'cannot execute INSERT in a read-only transaction');
});
