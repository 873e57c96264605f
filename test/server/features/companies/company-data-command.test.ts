// Long: it exports and erases companies of thousands of records, and kills that.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import got from 'got';
import t from 'tap';

import { resources } from '../../../../src/contract/records.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { isOfCompanies, STORED_TABLES } from '../../../../src/server/store/stored-tables.ts';
import { openWorkplace, until, type Workplace } from '../../../_command.ts';
import { type EngineName, engineNames } from '../../../_server.ts';
import { fillLargeCompany } from '../../../contract/_large-company.ts';
import { COMPANY, openFullStore } from '../../commands/_full-store.ts';

/** Some of what must be gone when the company of the demo is erased. */
const TRACES = [COMPANY, 'brennan.example', 'jane@brennan.example', 'hooks.example.com', 'adm_1'];
const ERASE = `company erase ${COMPANY} --confirm ${COMPANY}`;

/** Every table of the database, and every row as text; no order but that of the texts is promised. */
async function tablesOf(workplace: Workplace, engineName: EngineName): Promise<Map<string, string[]>> {
  await using engine = await openEngine(workplace.databaseUrl);
  const names = await engine.run(
    engineName === 'sqlite'
      ? "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1"
      : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema() ORDER BY 1',
  );
  const tables = new Map<string, string[]>();
  for (const { name } of names) {
    const rows = await engine.run(`SELECT * FROM ${String(name)}`);
    tables.set(String(name), rows.map((row) => JSON.stringify(row)).sort());
  }
  return tables;
}

for (const engineName of engineNames) {
  t.test(`${engineName}: an erased company is gone from every table, and others stay`, async (t) => {
    await using workplace = await openFullStore(engineName);
    const { call, json, key } = workplace;
    const before = await tablesOf(workplace, engineName);
    const others = (tables: Map<string, string[]>) =>
      [...tables].map(([name, rows]) => [name, rows.filter((row) => row.includes('"zenith"'))]);
    for (const { name } of STORED_TABLES.filter(isOfCompanies))
      t.ok((before.get(name) ?? []).length > 0, `${name} had rows`);

    for (const [args, exitCode, stderr] of [
      [COMPANY, 2, '--confirm'],
      [`${COMPANY} --confirm zenith`, 1, '--confirm is "zenith", and the company is "brennan".'],
      ['nobody --confirm nobody', 1, 'There is no company "nobody".'],
    ] as const)
      t.match(await call(`company erase ${args}`), { exitCode, stderr });

    // A server that still has the company's key in memory, and its uses to write down.
    const { greeting, stop } = await workplace.serveHere([], { DELIVER_WEBHOOKS: 'off' });
    const asked = { headers: { authorization: `Bearer ${key}` }, throwHttpErrors: false };
    const jobs = `${greeting.address}/api/v1/jobs`;
    t.equal((await got(jobs, asked)).statusCode, 200);
    const erased = await json<{ erasure: string; rowCount: number }>(ERASE);
    t.equal((await got(jobs, asked)).statusCode, 401, 'its key is no key any more');
    await stop();

    const after = await tablesOf(workplace, engineName);
    for (const [name, rows] of after)
      for (const trace of TRACES)
        t.strictSame(
          // The other company is of the same example.
          rows.filter((row) => !row.includes('"zenith"') && row.includes(trace)),
          [],
          `${name} has no ${trace}`,
        );
    t.strictSame(others(after), others(before), 'the other company has all that it had');
    t.match(after.get('erasures'), [new RegExp(`"${erased.erasure}".*"row_count":${erased.rowCount}`)]);
    t.match(await call(ERASE), {
      exitCode: 1,
      stderr: /There is no company "brennan": it was erased on \d{4}-\d{2}-\d{2}\./,
    });
  });

  t.test(`${engineName}: an erasure that is killed goes on when it is asked for again`, async (t) => {
    await using workplace = await openFullStore(engineName);
    const { call, start } = workplace;
    {
      await using engine = await openEngine(workplace.databaseUrl);
      await fillLargeCompany(engine, COMPANY);
    }
    const erasing = start(ERASE);
    await using engine = await openEngine(workplace.databaseUrl);
    await until(async () => (await engine.run('SELECT * FROM erasures')).length > 0);
    await erasing.end('SIGKILL');
    const refused = await call(`key create ${COMPANY} --scopes jobs:read`);
    t.match(refused, { exitCode: 1, stderr: 'There is no company "brennan"' }, 'nobody adds to it meanwhile');
    t.match(await call(ERASE), { exitCode: /0|1/, stderr: /^$|it was erased on/ });
    t.equal((await engine.run('SELECT * FROM erasures WHERE ended_at IS NOT NULL')).length, 1);
    const after = await tablesOf(workplace, engineName);
    for (const [name, rows] of after)
      t.notOk(
        rows.some((row) => row.includes(COMPANY) && !row.includes('"zenith"')),
        name,
      );
  });
}

t.test("an erased company is gone from SQLite's file too, wherever its rows have been", async (t) => {
  await using workplace = await openWorkplace();
  await workplace.call('demo --records 1000');
  const path = workplace.databaseUrl.slice('sqlite:'.length);
  const hits = (name: string) => readFileSync(name, 'latin1').split('demo-1000').length - 1;
  t.ok(hits(path) > 1000);
  await workplace.serve();
  await workplace.json('company erase demo-1000 --confirm demo-1000');
  t.equal(hits(path), 0);
  t.equal(hits(`${path}-wal`), 0, 'nor has the log what was written before, beside a server that keeps it');
});

t.test('an export that is told to stop leaves nothing', async (t) => {
  await using workplace = await openWorkplace();
  await workplace.call('demo --records 3000');
  const place = join(workplace.folder, 'takeout');
  const running = workplace.start(`company export demo-3000 ${place}`);
  const unfinished = () =>
    readdirSync(workplace.folder).filter((name) => name.startsWith('takeout.unfinished-'));
  await until(() => unfinished().length > 0);
  t.strictSame(await running.end('SIGINT'), { exitCode: 1, signal: null });
  t.equal(running.output.stderr, 'fieldledger: Stopped by SIGINT. Nothing was written.\n');
  t.strictSame(unfinished(), []);
  t.notOk(existsSync(place));
});

t.test('an export has all that a company has, and no secret', async (t) => {
  await using workplace = await openFullStore();
  const { call, folder, json, key } = workplace;
  const place = join(folder, 'takeout');
  await using engine = await openEngine(workplace.databaseUrl);
  const kept = await engine.run('SELECT company, invoice FROM documents');
  const exported = await json<{ pdfCount: number }>(`company export ${COMPANY} ${place}`);
  t.strictSame(await engine.run('SELECT company, invoice FROM documents'), kept, 'made PDFs are not kept');
  const read = (name: string) =>
    readFileSync(join(place, `${name}.jsonl`), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const { greeting, stop } = await workplace.serveHere([], { DELIVER_WEBHOOKS: 'off' });
  const headers = { authorization: `Bearer ${key}` };
  const api = `${greeting.address}/api/v1`;
  for (const resource of resources)
    for (const record of read(resource).slice(0, 3)) {
      const path = `${resource}/${String(record.id)}`;
      const shown = await got(`${api}/${path}`, { headers, throwHttpErrors: false });
      // Discarded drafts and the like are stored, and not shown.
      if (shown.statusCode === 200) t.match(record, (JSON.parse(shown.body) as { data: object }).data, path);
    }
  const issued = read('invoices').filter(({ status }) => status === 'issued');
  t.equal(exported.pdfCount, issued.length, 'a PDF that nobody asked for yet is made');
  t.ok(kept.filter(({ company }) => company === COMPANY).length < issued.length);
  t.strictSame(
    read('documents')
      .map(({ invoice }) => invoice)
      .sort(),
    issued.map(({ id }) => id).sort(),
  );
  for (const { invoice, number, file } of read('documents')) {
    const pdf = await got(`${api}/invoices/${String(invoice)}/pdf`, { headers }).buffer();
    t.equal(file, `documents/${String(number)}_${String(invoice)}.pdf`);
    t.equal(Buffer.compare(pdf, readFileSync(join(place, String(file)))), 0, `the PDF of ${String(number)}`);
  }
  await stop();
  const lists = { modules: ['jobs'], issuedElsewhere: [] };
  t.match(read('companies'), [{ id: COMPANY, profile: { countryCode: 'IE' }, ...lists }]);
  t.match(read('administrators'), [{ email: 'aoife@brennan.example', mayInvite: 1, scopes: [] }]);
  const names = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) => /\./.test(name));
  const all = names.map((name) => readFileSync(join(place, name), 'latin1')).join('\n');
  const secrets = ['hashed-password', 'sha-of-token', 'secret_sha256', 'secretSha256', '"secret"'];
  for (const secret of secrets) t.notOk(all.includes(secret), `no ${secret}`);
  t.equal(statSync(place).mode & 0o777, 0o700);
  t.equal(statSync(join(place, 'invoices.jsonl')).mode & 0o777, 0o600);

  writeFileSync(join(folder, 'file'), '');
  for (const [args, stderr] of [
    [`${COMPANY} ${place}`, `${place} already exists. Name a new folder.`],
    [`nobody ${join(folder, 'none')}`, 'There is no company "nobody".'],
    [`${COMPANY} ${join(folder, 'file', 'x')}`, /can't be written: ENOTDIR.* Nothing was written\./],
  ] as const)
    t.match(await call(`company export ${args}`), { exitCode: 1, stderr });
  const left = join(folder, `other.unfinished-${spawnSync('true').pid}-0123abcd`);
  mkdirSync(left);
  await json(`company export ${COMPANY} ${join(folder, 'other')}`);
  t.notOk(existsSync(left), 'the rest of a killed one is removed');
});

t.test("SQLite's file is written anew later when that is asked for, once for all companies", async (t) => {
  await using workplace = await openWorkplace();
  const path = workplace.databaseUrl.slice('sqlite:'.length);
  for (const id of ['acme', 'zenith'])
    await workplace.json(`company create ${id} --name 'Vanishing ${id} of Galway'`);
  const erase = (id: string, options = '') =>
    workplace.call(`company erase ${id} --confirm ${id} ${options}`);
  const ended = async () => {
    await using engine = await openEngine(workplace.databaseUrl);
    const rows = await engine.run('SELECT ended_at FROM erasures ORDER BY started_at');
    return rows.map(({ ended_at: at }) => at !== null);
  };
  t.match(await erase('acme', '--vacuum someday'), { exitCode: 2 });
  for (const id of ['acme', 'zenith'])
    t.match(await erase(id, '--vacuum later'), {
      exitCode: 0,
      stdout: /repeat the command without "--vacuum later"\.\n$/,
    });
  t.strictSame(await ended(), [false, false]);
  t.match(await workplace.call('company list'), { stdout: /No companies/ });
  const { size } = statSync(path);
  t.match(await erase('acme'), {
    exitCode: 0,
    stdout: /^acme is erased: [^]*Backups still have the company\.\n$/,
  });
  t.strictSame(await ended(), [true, true], 'the file was written anew for both');
  t.ok(statSync(path).size <= size);
  t.notMatch(readFileSync(path, 'latin1'), /Vanishing/);
  t.match(await erase('zenith'), { exitCode: 1, stderr: /it was erased on/ });
});
