import { hash, randomBytes, randomUUIDv7, scryptSync } from 'node:crypto';

import t, { type Test } from 'tap';

import { grantedScopes } from '../../../src/server/access/checked-input.ts';
import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { invite } from '../../../src/server/features/people/invitations.ts';
import { createKey } from '../../../src/server/features/keys/keys.ts';
import { beginSession } from '../../../src/server/features/sign-in/sessions.ts';
import { createSignInLimits } from '../../../src/server/access/sign-in-limits.ts';
import { scopes } from '../../../src/contract/scopes.ts';
import { exampleCompany } from '../../../src/demo/example-company.ts';
import { createLogger } from '../../../src/server/process/log.ts';
import type { Services } from '../../../src/server/views/services.ts';
import {
  type AccountKey,
  type Administrator,
  insertAdministrator,
} from '../../../src/server/store/accounts/administrator-rows.ts';
import type { SignedIn } from '../../../src/server/store/accounts/authorised-transaction.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import type { ApiKey } from '../../../src/server/features/keys/stored-keys.ts';
import { listSessionRows } from '../../../src/server/store/accounts/session-rows.ts';
import {
  type EngineName,
  engineNames,
  KEY_PREFIX,
  NO_LOOK,
  openTestDatabase,
  PORTAL_SETTINGS,
  startTestServer,
  STORY_NOW,
  type TestServer,
  type TestServerOptions,
} from '../../_server.ts';
import { Visitor } from './_visitor.ts';

export { hiddenFields, textOf, typedTwice, Visitor } from './_visitor.ts';

/** The example company, whose administrator the tests are. */
export const COMPANY = 'brennan';
export const EMAIL = 'aoife@brennan.example';
export const PASSWORD = 'copper kettles whistle softly';
/** Another administrator of it. */
export const COLLEAGUE = {
  email: 'conor@brennan.example',
  password: 'seven quiet harbour bells',
  name: 'Conor',
};
/** A password that nobody has yet. */
export const NEW_PASSWORD = 'granite lanterns drift north';

export interface TestPortal extends TestServer {
  engine: Engine;
  /** The company's administrator: sees everything and may invite. */
  administrator: Administrator;
  /** A browser without a cookie. */
  visitor: () => Visitor;
  /** A browser in which an administrator has just signed in: the company's own unless told. */
  signedIn: (who?: { email: string; password: string }) => Promise<Visitor>;
  /** Adds an administrator beside the first, `COLLEAGUE` unless told, and signs them in. */
  join: (who?: Partial<NewAdministrator>) => Promise<{ administrator: Administrator; visitor: Visitor }>;
}

/**
 * Starts a real server with the example company and an administrator of it, until the test ends.
 * @param options.hasRecords whether the company has its records too.
 */
export async function startPortal(
  t: Test,
  name: EngineName = 'sqlite',
  { hasRecords = false, ...options }: Omit<TestServerOptions, 'engine'> & { hasRecords?: boolean } = {},
): Promise<TestPortal> {
  const database = await openTestDatabase(name, hasRecords ? 'example' : 'migrated');
  if (!hasRecords) await addCompany(database.engine);
  const server = await startTestServer({ ...options, engine: database.engine });
  const administrator = await addAdministrator(database.engine, { email: EMAIL, password: PASSWORD });
  t.teardown(async () => {
    await server[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  const visitor = () => new Visitor(server.url);
  const signedIn = async (who = { email: EMAIL, password: PASSWORD }) => {
    const browser = visitor();
    const { statusCode } = await browser.signIn(who.email, who.password);
    if (statusCode !== 303) throw new Error(`Signing in was answered with ${statusCode}.`);
    return browser;
  };
  const join = async (who: Partial<NewAdministrator> = {}) => {
    const joining = { ...COLLEAGUE, ...who };
    const joined = await addAdministrator(database.engine, joining);
    return { administrator: joined, visitor: await signedIn(joining) };
  };
  return { ...server, administrator, visitor, signedIn, join };
}

type PortalOptions = NonNullable<Parameters<typeof startPortal>[2]>;
type Body = (t: Test, portal: TestPortal, name: EngineName) => Promise<void>;

/** Runs a test with a portal of its own on each engine. */
export function onEachEngine(title: string, ...rest: [Body] | [PortalOptions, Body]): void {
  const [body, options] = rest.toReversed() as [Body, PortalOptions?];
  for (const name of engineNames)
    t.test(`${title} (${name})`, async (t) => body(t, await startPortal(t, name, options), name));
}

/** Runs a test of what the engines have no part in. */
export function onSqlite(title: string, ...rest: [Body] | [PortalOptions, Body]): void {
  const [body, options] = rest.toReversed() as [Body, PortalOptions?];
  t.test(title, async (t) => body(t, await startPortal(t, 'sqlite', options), 'sqlite'));
}

export async function addCompany(engine: Engine): Promise<void> {
  const { id, ...settings } = exampleCompany;
  await createCompany(engine, id, settings, STORY_NOW);
}

/** A database with the example company and its administrator, who has one session, until the test ends. */
export async function openCompany(t: Test, name: EngineName = 'sqlite') {
  const database = await openTestDatabase(name);
  t.teardown(() => database[Symbol.asyncDispose]());
  const { engine, url } = database;
  await addCompany(engine);
  return { engine, url, administrator: await addAdministrator(engine, { email: EMAIL, password: PASSWORD }) };
}

interface NewAdministrator {
  email: string;
  password?: string;
  company?: string;
  name?: string;
  scopes?: readonly string[];
  mayInvite?: boolean;
}

/**
 * Adds an administrator who has a session. Their password is stored at a lower cost, which its stored form tells: each of
 * the many times that the tests sign in would take a quarter of a second.
 */
export async function addAdministrator(engine: Engine, options: NewAdministrator): Promise<Administrator> {
  const { company = COMPANY, name = 'Aoife Brennan', mayInvite = true } = options;
  const { password = randomBytes(12).toString('hex') } = options;
  const administrator: Administrator = {
    id: `adm_${randomUUIDv7()}`,
    company,
    email: options.email,
    name,
    scopes: grantedScopes(options.scopes ?? scopes, 'operator'),
    mayInvite,
    madeBy: null,
    createdAt: STORY_NOW.toISOString(),
    signedInAt: null,
    disabledAt: null,
    hasPassword: true,
    hasSecondFactor: false,
  };
  await engine.transaction(async (transaction) => {
    await insertAdministrator(transaction, administrator, hashQuickly(password, options.email));
    await beginSession(transaction, {
      administrator,
      address: '192.0.2.1',
      client: 'Test',
      now: STORY_NOW,
      lengths: { idleMinutes: 30, hoursMax: 12 },
    });
  });
  return administrator;
}

/** Makes a key for the company, as an operator does unless told, and gives its record. */
export async function makeKey(
  engine: Engine,
  name = 'Made',
  options: Partial<Parameters<typeof createKey>[1]> = {},
): Promise<ApiKey> {
  const made = {
    prefix: KEY_PREFIX,
    company: COMPANY,
    name,
    scopes: ['jobs:read'],
    now: STORY_NOW,
    ...options,
  };
  return (await createKey(engine, made)).record;
}

/** Invites somebody, as an operator does. */
export function inviteAs(engine: Engine, email: string, company = COMPANY): ReturnType<typeof invite> {
  const access = { scopes: ['jobs:read'], mayInvite: false };
  return invite(engine, { company, email, ...access, by: 'operator', now: STORY_NOW });
}

/** The services of pages, for a test that asks them without a server. */
export function servicesOf({ engine, url }: TestPortal): Services {
  return {
    engine,
    limits: createSignInLimits(engine),
    documents: {
      find: async () => undefined,
      prepare: async () => undefined,
      prepareStatement: async () => undefined,
    },
    log: createLogger('silent'),
    now: () => STORY_NOW,
    baseUrl: () => url,
    serviceName: 'Fieldledger',
    look: NO_LOOK,
    supportUrl: undefined,
    keyPrefix: 'fl',
    rateLimitPerMinute: 120,
    ...PORTAL_SETTINGS,
  };
}

/** The authority of an administrator who was added, in the session that began then, or another client's. */
export async function signedInAs(engine: Engine, account: AccountKey, client = 'Test'): Promise<SignedIn> {
  const sessions = await listSessionRows(engine, account);
  const session = sessions.findLast((one) => one.client === client);
  if (!session) throw new Error('They have no session.');
  return { administrator: account.id, session: session.id, address: '192.0.2.1', client: 'Test' };
}

/**
 * The form in which a password is stored (src/server/features/sign-in/passwords.ts), made in a few milliseconds. All accounts of an
 * address have the same salt.
 */
function hashQuickly(password: string, email: string): string {
  const salt = hash('sha256', email, 'buffer').subarray(0, 16);
  const key = scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 });
  return `scrypt$1024$8$1$${salt.toString('base64url')}$${key.toString('base64url')}`;
}
