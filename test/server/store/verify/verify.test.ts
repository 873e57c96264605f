import { hash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';

import t from 'tap';

import { loadExampleCompany } from '../../../../src/demo/load.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import type { Finding } from '../../../../src/server/store/verify/findings.ts';
import { searchWordsOf } from '../../../../src/server/store/search-columns.ts';
import { verifyStore } from '../../../../src/server/store/verify/verify.ts';
import { callCommand } from '../../../_command.ts';
import { openTestDatabase } from '../../../_server.ts';
import { onEachStore } from '../_stores.ts';

/** The problems that are found, as lines in the order of the alphabet. */
async function findingsIn(engine: Engine): Promise<string[]> {
  const findings: Finding[] = [];
  await verifyStore(engine, {
    signal: new AbortController().signal,
    onProgress: () => undefined,
    onFinding: (finding) => findings.push(finding),
  });
  return findings
    .map(({ in: where, company, id, problem }) => `${where} ${company} ${id}: ${problem}`)
    .sort();
}

const AT = "'2026-11-20T12:00:00.000Z'";
const webhook = (id: string) =>
  `INSERT INTO webhooks (company, id, url, events, secret, created_at)
    VALUES ('brennan', '${id}', 'https://hooks.example', '[]', 'whsec_test', ${AT})`;
const event = (id: string, kind = 'ping', data = '{}') =>
  `INSERT INTO events (id, company, kind, created_at, data) VALUES ('${id}', 'brennan', '${kind}', ${AT}, '${data}')`;
const delivery = (id: string, of: string, state = 'waiting', hook = 'whk_1') =>
  `INSERT INTO deliveries (company, webhook, id, event, state, due_at)
    VALUES ('brennan', '${hook}', '${id}', '${of}', '${state}', ${AT})`;
const attempt = (of: string, number: number) =>
  `INSERT INTO delivery_attempts (company, webhook, delivery, number, attempted_at, status, total_ms)
    VALUES ('brennan', 'whk_1', '${of}', ${number}, ${AT}, 200, 5)`;

/** Data that is right, and stays so. */
const SOUND = [
  webhook('whk_1'),
  event('evt_1'),
  delivery('dlv_1', 'evt_1'),
  "UPDATE deliveries SET state = 'delivered', attempt_count = 1 WHERE id = 'dlv_1'",
  attempt('dlv_1', 1),
];

/** Statements that put something wrong, with the lines that tell it. */
const WRONGS: [statement: (json: string) => string, ...lines: string[]][] = [
  [
    (json) =>
      `UPDATE customers SET body = CAST(replace(CAST(body AS TEXT), '"name":', '"nome":') AS ${json}) WHERE id = 'cus_0001'`,
    "customers brennan cus_0001: / must have required property 'name'",
  ],
  [
    () => "UPDATE jobs SET digest = 'of-another-text' WHERE id = 'job_0002'",
    'jobs brennan job_0002: the digest is of another text',
  ],
  [
    (json) =>
      `UPDATE quotes SET detail = CAST(replace(CAST(detail AS TEXT), '"lines":', '"line":') AS ${json})
        WHERE id = '01a0f755-f200-7cdf-a283-b145ef783384'`,
    "quotes brennan 01a0f755-f200-7cdf-a283-b145ef783384: / must have required property 'lines'",
  ],
  [
    () =>
      "UPDATE invoices SET paid_minor = 1, search_words = 'others' WHERE id = '01a0a486-e8e0-7076-ace5-e31611d48e0a'",
    ...['paid_minor', 'search_words'].map(
      (column) =>
        `invoices brennan 01a0a486-e8e0-7076-ace5-e31611d48e0a: ${column} is not that of the document`,
    ),
  ],
  [
    () => "UPDATE number_series SET last_number = 8 WHERE series = 'INV-2026-{number:4}'",
    'numbers brennan INV-2026-{number:4}: no document has the numbers 7 to 8',
  ],
  [
    () => "UPDATE number_series SET last_number = 1 WHERE series = 'CN-2026-{number:4}'",
    'numbers brennan CN-2026-0002: no series has given out this number',
  ],
  [
    () =>
      `INSERT INTO documents (company, invoice, number, sha256, byte_count, bytes)
        SELECT company, id, 'INV-2026-9999', 'none', 9, bytes FROM invoices, (SELECT 'x' AS bytes) AS one
        WHERE body ->> 'number' = 'INV-2026-0001'`,
    'documents brennan 01a0a486-e8e0-7076-ace5-e31611d48e0a: no issued document has its number INV-2026-9999',
    'documents brennan 01a0a486-e8e0-7076-ace5-e31611d48e0a: the PDF has 1 bytes, not 9',
    'documents brennan 01a0a486-e8e0-7076-ace5-e31611d48e0a: the PDF is not the one that its digest was made of',
  ],
  [() => event('evt_2', 'job.vanished'), 'events brennan evt_2: the kind job.vanished is unknown'],
  [() => event('evt_3', 'ping', '"text"'), 'events brennan evt_3: the data is not a JSON object'],
  [() => delivery('dlv_2', 'evt_none'), 'deliveries brennan dlv_2: the company has no event evt_none'],
  [
    () => delivery('dlv_3', 'evt_1', 'sending'),
    'deliveries brennan dlv_3: it is marked as being sent, but no worker has it',
  ],
  [() => attempt('dlv_none', 1), 'delivery_attempts brennan dlv_none: attempt 1 belongs to no delivery'],
  [() => attempt('dlv_1', 2), 'delivery_attempts brennan dlv_1: attempt 2 is one of 1'],
];

onEachStore('what is wrong in a store is found, and nothing else', async (t, { engine, name }) => {
  t.strictSame(await findingsIn(engine), [], 'an empty one');
  await loadExampleCompany(engine);
  for (const statement of SOUND) await engine.run(statement);
  t.strictSame(await findingsIn(engine), []);
  for (const [statement] of WRONGS) {
    const text = statement(name === 'sqlite' ? 'TEXT' : 'JSON');
    // Bytes are written as text here, which the engines take in different ways.
    await engine.run(
      name === 'sqlite' ? text.replace("'x' AS", "x'78' AS") : text.replace("'x' AS", "'x'::bytea AS"),
    );
  }
  t.strictSame(await findingsIn(engine), WRONGS.flatMap(([, ...lines]) => lines).sort());
});

t.test('a delivery without a webhook and a state that there is not are found', async (t) => {
  await using database = await openTestDatabase('sqlite', 'example');
  const { engine } = database;
  await engine.run(event('evt_1'));
  // The database refuses both, so what is stored has come about in another way.
  await engine.run('PRAGMA foreign_keys = OFF');
  await engine.run('PRAGMA ignore_check_constraints = ON');
  await engine.run(delivery('dlv_1', 'evt_1', 'lost', 'whk_none'));
  await engine.run('PRAGMA ignore_check_constraints = OFF');
  t.strictSame(await findingsIn(engine), [
    'deliveries brennan dlv_1: the state lost is unknown',
    'deliveries brennan dlv_1: there is no webhook whk_none',
    'file null null: CHECK constraint failed in deliveries',
  ]);
});

t.test('a number that is missing or given twice is found, and an earlier one is not missed', async (t) => {
  await using database = await openTestDatabase('sqlite', 'example');
  const { engine } = database;
  const renumber = async (from: string, to: string) => {
    const rows = await engine.run(
      `UPDATE invoices SET body = replace(body, '"number":"${from}"', '"number":"${to}"'),
        search_words = replace(search_words, '${searchWordsOf(from)}', '${searchWordsOf(to)}')
      WHERE body ->> 'number' = '${from}' RETURNING id, body || detail AS stored`,
    );
    for (const { id, stored } of rows)
      await engine.run('UPDATE invoices SET digest = ? WHERE id = ?', [
        hash('sha1', String(stored), 'base64url'),
        id,
      ]);
  };
  // The lowest is where the series began here.
  await renumber('INV-2026-0001', 'INV-2026-0007');
  await engine.run("UPDATE number_series SET last_number = 7 WHERE series = 'INV-2026-{number:4}'");
  t.strictSame(await findingsIn(engine), []);
  await engine.run('DROP INDEX invoices_numbered');
  await renumber('INV-2026-0004', 'INV-2026-0005');
  t.strictSame(await findingsIn(engine), [
    'numbers brennan INV-2026-0005: no document has the number 4',
    'numbers brennan INV-2026-0005: two documents have this number',
    'schema null null: the index invoices_numbered is missing',
  ]);
});

t.test('the command lists what is wrong, at most a hundred, and exits with 1', async (t) => {
  await using database = await openTestDatabase('sqlite', 'example');
  const verify = (...args: string[]) => callCommand(['verify', ...args], { DATABASE_URL: database.url });
  const sound = await verify();
  t.match(sound, { exitCode: 0, stderr: '' });
  t.match(sound.stdout, /^\d+ rows: nothing is wrong, in \d+\.\d s\n$/);
  for (let n = 0; n < 120; n += 1)
    await database.engine.run(event(`evt_${String(n).padStart(3, '0')}`, 'job.vanished'));
  const { exitCode, stdout } = await verify();
  t.equal(exitCode, 1);
  const lines = stdout.trimEnd().split('\n');
  t.equal(lines.length, 102);
  t.equal(lines[0], 'events brennan evt_000: the kind job.vanished is unknown');
  t.equal(lines[100], '... and 20 more');
  t.match(lines[101], /^\d+ rows: 120 problems, in /);
  const asked = await verify('--json');
  t.equal(asked.exitCode, 1);
  const told = JSON.parse(asked.stdout) as { problemCount: number; problems: Finding[] };
  t.strictSame([told.problemCount, told.problems.length], [120, 100]);
  const problem = 'the kind job.vanished is unknown';
  t.strictSame(told.problems[0], { in: 'events', company: 'brennan', id: 'evt_000', problem });
});

t.test('a damaged file is told, and what can still be read is looked at', async (t) => {
  await using database = await openTestDatabase('sqlite', 'example');
  const { engine, url } = database;
  const [root] = await engine.run("SELECT rootpage FROM sqlite_schema WHERE name = 'jobs'");
  // The last to close the file empties the log beside it.
  await engine[Symbol.asyncDispose]();
  const handle = openSync(url.slice('sqlite:'.length), 'r+');
  writeSync(handle, Buffer.alloc(4_096, 0xa5), 0, 4_096, (Number(root?.rootpage) - 1) * 4_096);
  closeSync(handle);
  const { exitCode, stdout, stderr } = await callCommand(['verify'], { DATABASE_URL: url });
  t.strictSame([exitCode, stderr], [1, '']);
  t.match(stdout, /^file: jobs can't be read: database disk image is malformed$/m);
  t.match(stdout, /\d+ rows: \d+ problems, in /);
});
