import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import got, { type Got } from 'got';
import type { Test } from 'tap';

import { createKey } from '../src/server/features/keys/keys.ts';
import type { VendorLook } from '../src/server/process/vendor-look.ts';
import { scopes } from '../src/contract/scopes.ts';
import { type Documents, openDocuments } from '../src/server/invoice-pdf/documents.ts';
import { listen } from '../src/server/connections/listen.ts';
import { createLogger } from '../src/server/process/log.ts';
import { createMetrics, type Metrics } from '../src/server/process/metrics.ts';
import type { PortalSettings } from '../src/server/views/services.ts';
import { createServer } from '../src/server/server.ts';
import type { Engine } from '../src/server/store/engines/engine.ts';
import { openEngine } from '../src/server/store/engines/open-engine.ts';
import { type KeyUsage, openKeyUsage } from '../src/server/features/usage/key-usage.ts';
import { createSecretBox } from '../src/server/process/secret-box.ts';
import { type Contents, createFilledDatabase, createFilledFile } from './_migrated.ts';
import { startPostgres } from './_postgres.ts';

export type EngineName = Engine['dialect']['name'];
export const engineNames: readonly EngineName[] = ['sqlite', 'postgres'];

/** The moment at which the story of the contract's examples is told; the tests' servers live in it. */
export const STORY_NOW = new Date('2026-11-20T12:00:00.000Z');
export const KEY_PREFIX = 'fl';

/** Where the engines of this file's databases are: documents are printed by processes of their own. */
const urls = new WeakMap<Engine, string>();

export interface TestDatabase extends AsyncDisposable {
  engine: Engine;
  url: string;
}

/**
 * Opens a migrated database of its own, empty unless told. PostgreSQL is the server that TEST_POSTGRES_URL names (the test
 * command starts one for all files), or one that is started now and stopped at the end.
 */
export async function openTestDatabase(
  name: EngineName,
  contents: Contents = 'migrated',
): Promise<TestDatabase> {
  const given = process.env.TEST_POSTGRES_URL;
  const folder = mkdtempSync(join(tmpdir(), 'fieldledger-test-'));
  const server = name === 'postgres' && !given ? await startPostgres() : undefined;
  const file = join(folder, 'test.db');
  if (name === 'sqlite') await createFilledFile(file, contents);
  const url =
    name === 'sqlite' ? `sqlite:${file}` : await createFilledDatabase(given ?? server?.url ?? '', contents);
  const engine = await openEngine(url);
  urls.set(engine, url);
  return {
    engine,
    url,
    async [Symbol.asyncDispose]() {
      await engine[Symbol.asyncDispose]();
      await server?.[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface TestServer extends AsyncDisposable {
  engine: Engine;
  url: string;
  usage: KeyUsage;
  metrics: Metrics;
  documents: Documents;
  /** Sets what the server takes for the present. */
  setNow: (now: Date) => void;
  /** A client that never retries, never throws for a status, and asks without a key unless told. */
  http: Got;
}

export interface TestServerOptions {
  engine: Engine;
  /** The URL of the engine's database, unless `openTestDatabase` has opened it. */
  databaseUrl?: string;
  rateLimitPerMinute?: number;
  wrongKeysPerMinute?: number;
  windowSeconds?: number;
  logLevel?: string;
  trustedProxies?: number;
  connectionsMax?: number;
  baseUrl?: string;
  serviceName?: string;
  supportUrl?: string;
  look?: VendorLook;
  hstsSubdomains?: boolean;
  securityContact?: string;
  usage?: KeyUsage;
  portal?: PortalSettings | undefined;
}

/** The settings of a server without a loop that would answer a ping. */
export const PORTAL_SETTINGS: PortalSettings = {
  sessionLengths: { idleMinutes: 30, hoursMax: 12 },
  secrets: createSecretBox(Buffer.alloc(32, 7).toString('base64')),
  pingWaitMs: 0,
};

/** The look of a server whose operator has set none. */
export const NO_LOOK: VendorLook = { accent: undefined, logo: undefined };

/** Starts the real server on a free port of this machine. */
export async function startTestServer(options: TestServerOptions): Promise<TestServer> {
  let now = STORY_NOW;
  let isReady = true;
  const log = createLogger(options.logLevel ?? 'silent');
  const metrics = createMetrics();
  const { engine, databaseUrl = urls.get(engine) ?? 'sqlite:nowhere/nothing.db' } = options;
  const documents = openDocuments({ engine, databaseUrl, log, metrics: metrics.documents });
  const onError = (error: unknown) => log.warn({ err: error }, 'usage.not-written');
  const usage = options.usage ?? openKeyUsage(engine, { now: () => now, onError });
  const server = await createServer({
    rateLimitPerMinute: 1_000_000,
    wrongKeysPerMinute: 1_000_000,
    trustedProxies: 0,
    hstsSubdomains: false,
    securityContact: undefined,
    portal: PORTAL_SETTINGS,
    ...options,
    documents,
    log,
    metrics,
    usage,
    now: () => now,
    baseUrl: () => options.baseUrl ?? 'http://127.0.0.1',
    serviceName: options.serviceName ?? 'Fieldledger',
    supportUrl: options.supportUrl,
    look: options.look ?? NO_LOOK,
    keyPrefix: KEY_PREFIX,
    isReady: () => isReady,
  });
  await listen(server, { ...options, host: '127.0.0.1', port: 0 });
  // A server that listens on a port has an address of this shape.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    engine: options.engine,
    url,
    usage,
    metrics,
    documents,
    setNow: (moment) => {
      now = moment;
    },
    http: got.extend({
      prefixUrl: url,
      retry: { limit: 0 },
      throwHttpErrors: false,
      decompress: true,
      followRedirect: false,
    }),
    async [Symbol.asyncDispose]() {
      isReady = false;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await usage[Symbol.asyncDispose]();
      await documents[Symbol.asyncDispose]();
    },
  };
}

/** A server on an empty database of its own; both end with the test. */
export async function startEmptyServer(
  t: Test,
  name: EngineName,
  options: Omit<TestServerOptions, 'engine'> = {},
): Promise<{ database: TestDatabase; server: TestServer; engine: Engine }> {
  const database = await openTestDatabase(name);
  const server = await startTestServer({ ...options, engine: database.engine });
  t.teardown(async () => {
    await server[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  return { database, server, engine: database.engine };
}

/** Creates a key with the given scopes, all of them unless told. */
export async function keyFor(
  engine: Engine,
  company: string,
  held: readonly string[] = scopes,
): Promise<string> {
  const { key } = await createKey(engine, {
    prefix: KEY_PREFIX,
    company,
    name: 'Test',
    scopes: held,
    now: STORY_NOW,
  });
  return key;
}

export interface ExampleServer extends TestServer {
  /** A key of the example company that reads everything. */
  key: string;
}

/** A server with the contract's example company, on a database of its own. */
export async function startExampleServer(
  name: EngineName,
  options: Omit<TestServerOptions, 'engine'> = {},
): Promise<ExampleServer> {
  const database = await openTestDatabase(name, 'example');
  const server = await startTestServer({ ...options, engine: database.engine });
  const key = await keyFor(database.engine, 'brennan');
  return {
    ...server,
    key,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
