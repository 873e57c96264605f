// Long: it upgrades a filled database on each engine and kills that.
// It takes longer than others: upgrades of some thousand records run as processes, and are killed.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import got from 'got';
import t from 'tap';

import { createCompany } from '../../../../src/server/backoffice/companies.ts';
import { openEngine } from '../../../../src/server/store/engines/open-engine.ts';
import { version } from '../../../../src/contract/version.ts';
import {
  openWorkplace,
  type Outcome,
  type Running,
  SECRET_KEY,
  until,
  type Workplace,
} from '../../../_command.ts';
import { fillLargeCompany } from '../../../contract/_large-company.ts';
import { createDatabase } from '../../../_postgres.ts';
import { type EngineName, engineNames, STORY_NOW } from '../../../_server.ts';
import {
  differences,
  makeNextVersion,
  NEXT_CONTRACT,
  readStored,
  type Stored,
  type StoredRow,
} from './_versions.ts';

/** How often an upgrade is killed on each engine, and how many records the store has; `make upgrades` asks for more. */
const KILLS = Number(process.env.UPGRADE_KILLS ?? 2);
const RECORDS = process.env.UPGRADE_RECORDS;
/** How long after its first batch an upgrade is killed at the latest: it outlives several kills. */
const LIFE_MS_MAX = RECORDS === undefined ? 60 : 500;

const next = makeNextVersion();
const hasty = makeNextVersion({ hasUpgrades: false });
t.teardown(() => {
  next[Symbol.dispose]();
  hasty[Symbol.dispose]();
});

/** Stores as the release leaves them, of which each test gets a copy. */
const stores: Record<EngineName, Workplace> = {
  sqlite: await releasedStore('sqlite'),
  postgres: await releasedStore('postgres'),
};
t.teardown(async () => {
  for (const store of Object.values(stores)) await store[Symbol.asyncDispose]();
});

/** Several companies with all kinds of records: some thousands, and in the long form a demo of as many as are asked for. */
async function releasedStore(name: EngineName): Promise<Workplace> {
  const store = await openWorkplace(name, { isEmpty: true });
  await store.json(['demo', ...(RECORDS === undefined ? [] : ['--records', RECORDS])]);
  await using engine = await openEngine(store.databaseUrl);
  for (const company of ['acme', 'zenith']) {
    await createCompany(engine, company, {}, STORY_NOW);
    await fillLargeCompany(engine, company);
  }
  return store;
}

interface Place extends AsyncDisposable {
  url: string;
  release: Workplace;
  /** Runs commands of the next version, and of one that doesn't know how to upgrade a record. */
  next: (args: string[]) => Promise<Outcome>;
  hasty: (args: string[]) => Promise<Outcome>;
  /** Starts a command of the next version as a process of its own. */
  startNext: (args: string[]) => Running;
}

/** A copy of the store of the release, with the programs of three versions. */
async function openPlace(name: EngineName): Promise<Place> {
  const release = await openWorkplace('sqlite', { isEmpty: true });
  const url = name === 'sqlite' ? copyFile(stores[name], release) : await copyDatabase(stores[name]);
  const environment = { DATABASE_URL: url, WEBHOOK_SECRET_KEY: SECRET_KEY };
  const later = await openWorkplace('sqlite', { isEmpty: true, program: next.program });
  return {
    url,
    release: {
      ...release,
      call: (args) => release.call(args, environment),
      start: (args, _environment, stdin) => release.start(args, environment, stdin),
      serve: () => release.serve([], { ...environment, RATE_LIMIT_PER_MINUTE: '100000' }),
    },
    next: (args) => next.call(args, environment),
    hasty: (args) => hasty.call(args, environment),
    startNext: (args) => later.start(args, { ...environment, NODE_COMPILE_CACHE: next.compiled }),
    async [Symbol.asyncDispose]() {
      await release[Symbol.asyncDispose]();
      await later[Symbol.asyncDispose]();
    },
  };
}

/** Copies the file alone: the last to close it has emptied the log beside it. */
function copyFile(store: Workplace, { folder, databaseUrl }: Workplace): string {
  mkdirSync(join(folder, 'data'), { recursive: true });
  copyFileSync(store.databaseUrl.slice('sqlite:'.length), databaseUrl.slice('sqlite:'.length));
  return databaseUrl;
}

async function copyDatabase({ databaseUrl }: Workplace): Promise<string> {
  const url = new URL(databaseUrl);
  const template = url.pathname.slice(1);
  url.pathname = '/postgres';
  return createDatabase(url.href, template);
}

const ADDED: Record<string, object> = { jobs: { standIn: 'normal' }, quotes: { standIn: null } };

function upgradeProblem(table: string, before: StoredRow, after: StoredRow): string | undefined {
  const [was, is] = [before, after].map(
    ({ body, detail = '{}' }) => ({ ...JSON.parse(body), ...JSON.parse(detail) }) as Record<string, unknown>,
  );
  const added = ADDED[table];
  const members = Object.keys(was ?? {});
  const wanted = { ...was, ...added };
  const [name = ''] = Object.keys(added ?? {});
  const others = Object.keys(is ?? {}).filter((member) => member !== name);
  const isOrdered =
    added === undefined
      ? before.body === after.body && before.digest === after.digest
      : others.join() === members.join();
  const stored = `${after.body}${after.detail ?? ''}`;
  const digest = createHash('sha1').update(stored).digest('base64url');
  const isSame = Object.entries(wanted).every(
    ([key, value]) => JSON.stringify(is?.[key]) === JSON.stringify(value),
  );
  return isOrdered && isSame && digest === after.digest ? undefined : JSON.stringify({ before, after });
}

for (const name of engineNames) {
  t.test(`${name}: an upgrade renders every record by the new contract, and says so before`, async (t) => {
    await using place = await openPlace(name);
    const before = await readStored(place.url);
    const counts = ['customers', 'jobs', 'quotes', 'invoices'].map((resource) => ({
      resource,
      records: before[resource]?.length,
    }));
    const check = await place.next(['migrate', '--check', '--json']);
    t.strictSame(JSON.parse(check.stdout), { migrations: [], render: counts });
    t.equal(check.exitCode, 0);
    t.strictSame(differences(await readStored(place.url), before), [], 'a check changes nothing');

    const { stdout, stderr } = await place.next(['migrate', '--json']);
    const changed = (before.jobs?.length ?? 0) + (before.quotes?.length ?? 0);
    t.equal(stdout, `${JSON.stringify({ applied: [], rendered: changed })}\n`, stderr);
    const after = await readStored(place.url);
    const problems = Object.entries(before).flatMap(([table, rows]) =>
      table === 'contracts' || table === 'migrations'
        ? []
        : rows.flatMap((row, index) => {
            const found = after[table]?.[index];
            return (found ? upgradeProblem(table, row, found) : 'a record is missing') ?? [];
          }),
    );
    t.strictSame(problems.slice(0, 3), []);
    t.match(after.jobs?.[0]?.body, /^\{"id":"[^"]+","standIn":"normal","title":/, 'in the contract’s order');
    t.match(after.quotes?.[0]?.detail, '"standIn":null');
    const { stdout: nothing } = await place.next(['migrate', '--check']);
    t.equal(nothing, 'Nothing to do: the database is up to date.\n');
    await t.test('and the release refuses to go back, and says what to do', async (t) => {
      const sentence = `The database has records of the contract ${NEXT_CONTRACT}, and this version of Fieldledger has the contract ${version}; run a later one, or go back to a backup.`;
      for (const args of [['migrate', '--check'], ['migrate'], ['serve'], ['company', 'list']]) {
        const { exitCode, stderr } = await place.release.call(args);
        t.equal(stderr, `fieldledger: ${sentence}\n`, args.join(' '));
        t.equal(exitCode, 1);
      }
      t.strictSame(differences(await readStored(place.url), after), []);
    });
  });

  t.test(`${name}: an upgrade that is killed and started again ends as an undisturbed one`, async (t) => {
    await using undisturbed = await openPlace(name);
    await undisturbed.next(['migrate']);
    const wanted = await readStored(undisturbed.url);
    let killCount = 0;
    while (killCount < KILLS) {
      const killed = await upgradeWithKills(name, KILLS - killCount);
      t.strictSame(differences(killed.state, wanted), []);
      killCount += killed.killCount;
    }
  });

  t.test(`${name}: two that upgrade at once share the work`, async (t) => {
    await using place = await openPlace(name);
    const { jobs = [], quotes = [] } = await readStored(place.url);
    const upgrades = [1, 2].map(() => place.startNext(['migrate', '--json']));
    const rendered: number[] = [];
    for (const { ended, output } of upgrades) {
      t.equal((await ended).exitCode, 0, output.stderr);
      rendered.push((JSON.parse(output.stdout) as { rendered: number }).rendered);
    }
    const sum = rendered.reduce((one, other) => one + other);
    t.equal(sum, jobs.length + quotes.length, `each record once: ${rendered.join(' and ')}`);
  });
}

t.test("records that a contract can't render stop its upgrade before it has begun", async (t) => {
  await using place = await openPlace('sqlite');
  const before = await readStored(place.url);
  const unrenderable = (before.jobs?.length ?? 0) + (before.quotes?.length ?? 0);
  for (const args of [['migrate', '--check'], ['migrate']]) {
    const { exitCode, stdout, stderr } = await place.hasty(args);
    t.equal(exitCode, 1);
    t.equal(stdout, '');
    const sentence = `fieldledger: The contract ${NEXT_CONTRACT} of this version of Fieldledger can't render ${unrenderable.toLocaleString('en')} of the stored records, so nothing was changed; go on with the earlier version. They are: jobs "`;
    t.ok(stderr.startsWith(sentence), stderr);
    t.equal(stderr.match(/ must have required property 'standIn' \(company "/g)?.length, 20);
    t.match(stderr, new RegExp(`; and ${(unrenderable - 20).toLocaleString('en')} more\\.\\n$`));
  }
  t.strictSame(differences(await readStored(place.url), before), []);
  t.equal((await place.release.call(['migrate'])).stdout, 'The database is up to date.\n');
});

t.test('the release goes on serving beside an upgrade, and stores nothing after it', async (t) => {
  await using place = await openPlace('postgres');
  const server = await place.release.serve();
  const feed = place.release.start(['apply'], undefined, 'pipe');
  const send = (id: string) =>
    feed.child.stdin?.write(
      `${JSON.stringify({ company: 'brennan', change: 'job.complete', with: { id } })}\n`,
    );
  send('job_0002');
  await until(() => feed.output.stdout.includes('"status":"applied"') || feed.child.exitCode !== null);
  const key = await keyOf(place);
  const upgrade = place.startNext(['migrate']);
  const statuses = new Map<number, number>();
  do {
    const { statusCode } = await got(`${server.greeting.address}/api/v1/jobs?limit=50`, {
      headers: { authorization: `Bearer ${key}` },
      throwHttpErrors: false,
      retry: { limit: 0 },
    });
    statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    await pause(20);
  } while (upgrade.child.exitCode === null);
  t.equal((await upgrade.ended).exitCode, 0, upgrade.output.stderr);
  t.strictSame([...statuses.keys()], [200], `${statuses.get(200)} answers`);
  const after = await readStored(place.url);
  send('job_0001');
  t.equal((await feed.ended).exitCode, 1);
  const reason = `its records are of the contract ${NEXT_CONTRACT}, which this version of Fieldledger`;
  t.match(feed.output.stdout, reason);
  t.match(feed.output.stdout, 'Send this line again');
  t.strictSame(differences(await readStored(place.url), after), [], 'nothing is stored by the old contract');
  t.equal((await server.end('SIGTERM')).exitCode, 0);
});

/** Upgrades a store with as many kills as are asked for, or as it lasts for. */
async function upgradeWithKills(
  name: EngineName,
  killsMax: number,
): Promise<{ killCount: number; state: Stored }> {
  await using place = await openPlace(name);
  await using engine = await openEngine(place.url);
  const progress = async () => JSON.stringify(await engine.run('SELECT * FROM record_contracts'));
  let killCount = 0;
  for (;;) {
    const before = await progress();
    const upgrade = place.startNext(['migrate']);
    if (killCount < killsMax) {
      // One in five is killed while it starts or checks, the others once they have rendered something.
      const isEarly = Math.random() < 0.2;
      await until(async () => isEarly || upgrade.child.exitCode !== null || (await progress()) !== before);
      await Promise.race([pause(Math.random() * (isEarly ? 1_000 : LIFE_MS_MAX)), upgrade.ended]);
      await upgrade.end('SIGKILL');
    }
    const { exitCode, signal } = await upgrade.ended;
    if (signal === null) {
      if (exitCode !== 0) throw new Error(upgrade.output.stderr);
      return { killCount, state: await readStored(place.url) };
    }
    killCount += 1;
  }
}

/** The demo's key stands in a file beside the first store; a copy gets one of its own. */
async function keyOf({ release }: Place): Promise<string> {
  const { stdout } = await release.call(['key', 'create', 'brennan', '--scopes', 'jobs:read', '--json']);
  return (JSON.parse(stdout) as { key: string }).key;
}
