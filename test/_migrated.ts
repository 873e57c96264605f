import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import pg from 'pg';

import { openEngine } from '../src/server/store/engines/open-engine.ts';
import { distribute } from '../src/server/store/distribute.ts';
import { migrate } from '../src/server/store/migrations/migrate.ts';
import { createDatabase } from './_postgres.ts';

const DUPLICATE_DATABASE = '42P04';
const UNKNOWN_DATABASE = '3D000';

/**
 * Creates a migrated database on a server that many tests use, and gives its address. It is a copy of the one that was
 * migrated first, which takes a quarter of the time; PostgreSQL lets several be copied at once.
 */
export async function createMigratedDatabase(serverUrl: string): Promise<string> {
  const workers = process.env.TEST_CITUS_WORKERS;
  if (workers !== undefined) return createSpreadDatabase(serverUrl, workers.split(','));
  const template = `migrated_${schemaHash()}`;
  try {
    return await createDatabase(serverUrl, template);
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNKNOWN_DATABASE) throw error;
  }
  await createTemplate(serverUrl, template);
  return createDatabase(serverUrl, template);
}

/** Creates a migrated database that Citus spreads over machines: the coordinator's address, and those of its workers. */
async function createSpreadDatabase(serverUrl: string, workers: readonly string[]): Promise<string> {
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
  await using engine = await openEngine(url.href);
  await migrate(engine);
  await distribute(engine);
  return url.href;
}

/** Migrations of another text make another template: a server may outlive them. */
function schemaHash(): string {
  const folder = join(import.meta.dirname, '..', 'src', 'server', 'store', 'migrations');
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

/** It gets its name when it is complete. Of several that are made at once, the first one counts. */
async function createTemplate(serverUrl: string, name: string): Promise<void> {
  const url = await createDatabase(serverUrl);
  await migrateAt(url);
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

async function migrateAt(url: string): Promise<void> {
  await using engine = await openEngine(url);
  await migrate(engine);
}
