import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import pg from 'pg';

import { openEngine } from '../src/server/store/engines/open-engine.ts';
import { distribute } from '../src/server/store/distribute.ts';
import { migrate } from '../src/server/store/migrations/migrate.ts';
import { createDatabase } from './_postgres.ts';

const DUPLICATE_DATABASE = '42P04';
const UNKNOWN_DATABASE = '3D000';

const root = join(import.meta.dirname, '..');
const KEPT = join(root, 'node_modules', '.cache', 'kept-for-tests');

/** All that decides what a database holds when a test gets it: the schema alone, or the example company too. */
const SOURCES = {
  migrated: ['src/server/store/migrations', 'src/server/store/tables', 'src/contract', 'generated'],
  example: ['src', 'generated'],
};
export type Contents = keyof typeof SOURCES;

/**
 * Creates a database on a server that many tests use, and gives its address. It is a copy of the one that was made
 * first, which takes a quarter of the time; PostgreSQL lets several be copied at once.
 */
export async function createFilledDatabase(serverUrl: string, contents: Contents): Promise<string> {
  const workers = process.env.TEST_CITUS_WORKERS;
  if (workers !== undefined) return createSpreadDatabase(serverUrl, workers.split(','), contents);
  const template = nameOf(contents, SOURCES[contents]);
  try {
    return await createDatabase(serverUrl, template);
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNKNOWN_DATABASE) throw error;
  }
  await createTemplate(serverUrl, template, contents);
  return createDatabase(serverUrl, template);
}

/** Creates a database in a SQLite file, as a copy of the one that was made first: all test files share that. */
export async function createFilledFile(path: string, contents: Contents): Promise<void> {
  const kept = await keptFile(contents, SOURCES[contents], (draft) => fill(`sqlite:${draft}`, contents));
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  copyFileSync(kept, path);
}

/**
 * The path of a file that takes long to make, and that all test files share: it is made anew when a source has changed.
 * @param folders the sources of all that decides what is in it, from the root of the repository.
 */
export async function keptFile(
  what: string,
  folders: readonly string[],
  make: (path: string) => Promise<void>,
): Promise<string> {
  const name = nameOf(what, folders);
  const kept = join(KEPT, name);
  if (existsSync(kept)) return kept;
  mkdirSync(KEPT, { recursive: true, mode: 0o700 });
  const draft = join(KEPT, `draft-${randomBytes(6).toString('hex')}`);
  await make(draft);
  for (const other of readdirSync(KEPT))
    if (other.startsWith(`${what}_`) && other !== name) rmSync(join(KEPT, other), { force: true });
  // Another test may have made the same one at this moment.
  renameSync(draft, kept);
  return kept;
}

async function fill(url: string, contents: Contents): Promise<void> {
  await using engine = await openEngine(url);
  await migrate(engine);
  if (contents === 'migrated') return;
  const { loadExampleCompany } = await import('../src/demo/load.ts');
  await loadExampleCompany(engine);
}

/** Creates a migrated database that Citus spreads over machines: the coordinator's address, and those of its workers. */
async function createSpreadDatabase(
  serverUrl: string,
  workers: readonly string[],
  contents: Contents,
): Promise<string> {
  const url = new URL(await createDatabase(serverUrl));
  const at = async (address: string, ...statements: string[]) => {
    const client = new pg.Client({ connectionString: address });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };
  const hosts: string[] = [];
  for (const worker of workers) {
    await at(worker, `CREATE DATABASE ${url.pathname.slice(1)}`);
    const its = new URL(worker);
    its.pathname = url.pathname;
    await at(its.href, 'CREATE EXTENSION citus');
    hosts.push(`'${its.hostname}', ${its.port}`);
  }
  const nodes = [
    `citus_set_coordinator_host('${url.hostname}', ${url.port})`,
    ...hosts.map((host) => `citus_add_node(${host})`),
  ];
  await at(url.href, 'CREATE EXTENSION citus', ...nodes.map((call) => `SELECT ${call}`));
  {
    await using engine = await openEngine(url.href);
    await migrate(engine);
    await distribute(engine);
  }
  await fill(url.href, contents);
  return url.href;
}

const names = new Map<string, string>();

/** Sources of another text make another database or file: a server, and the folder of the files, outlive them. */
function nameOf(what: string, folders: readonly string[]): string {
  const known = names.get(what);
  if (known !== undefined) return known;
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const folder of folders.map((path) => join(root, path)))
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
      if (/\.(?:ts|json|yaml|typ)$/.test(name)) hash.update(readFileSync(join(folder, name)));
  const name = `${what}_${hash.digest('hex').slice(0, 16)}`;
  names.set(what, name);
  return name;
}

/** It gets its name when it is complete. Of several that are made at once, the first one counts. */
async function createTemplate(serverUrl: string, name: string, contents: Contents): Promise<void> {
  const url = await createDatabase(serverUrl);
  await fill(url, contents);
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} RENAME TO ${name}`);
  } catch (error) {
    if ((error as { code?: unknown }).code !== DUPLICATE_DATABASE) throw error;
  } finally {
    await client.end();
  }
}
