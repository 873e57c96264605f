import { hash, randomBytes, randomUUIDv7, scryptSync } from 'node:crypto';

import got, { type Response } from 'got';
import t, { type Test } from 'tap';

import { grantedScopes } from '../../../src/server/access/checked-input.ts';
import { createCompany } from '../../../src/server/access/companies.ts';
import { beginSession } from '../../../src/server/access/sessions.ts';
import { createSignInLimits } from '../../../src/server/access/sign-in-limits.ts';
import { scopes } from '../../../src/contract/scopes.ts';
import { exampleCompany } from '../../../src/demo/example-company.ts';
import { createLogger } from '../../../src/server/log.ts';
import type { Services } from '../../../src/server/portal/options.ts';
import {
  type AccountKey,
  type Administrator,
  insertAdministrator,
} from '../../../src/server/store/accounts/administrator-rows.ts';
import type { SignedIn } from '../../../src/server/store/accounts/authorised-transaction.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { listSessionRows } from '../../../src/server/store/accounts/session-rows.ts';
import {
  type EngineName,
  engineNames,
  NO_LOOK,
  openTestDatabase,
  PORTAL_SETTINGS,
  startTestServer,
  STORY_NOW,
  type TestServer,
  type TestServerOptions,
} from '../../_server.ts';

/** The example company, whose administrator the tests are. */
export const COMPANY = 'brennan';
export const EMAIL = 'aoife@brennan.example';
export const PASSWORD = 'copper kettles whistle softly';

export interface TestPortal extends TestServer {
  engine: Engine;
  /** The company's administrator: sees everything and may invite. */
  administrator: Administrator;
  /** A browser without a cookie. */
  visitor: () => Visitor;
  /** A browser in which an administrator has just signed in: the company's own unless told. */
  signedIn: (who?: { email: string; password: string }) => Promise<Visitor>;
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
  return {
    ...server,
    administrator,
    visitor,
    async signedIn(who = { email: EMAIL, password: PASSWORD }) {
      const browser = visitor();
      await browser.visit('/portal/sign-in');
      const answer = await browser.submit('/portal/sign-in', who);
      if (answer.statusCode !== 303) throw new Error(`Signing in was answered with ${answer.statusCode}.`);
      return browser;
    },
  };
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

/**
 * Adds an administrator who has a session. Their password is stored at a lower cost, which its stored form tells: each of
 * the many times that the tests sign in would take a quarter of a second.
 */
export async function addAdministrator(
  engine: Engine,
  options: {
    email: string;
    password?: string;
    company?: string;
    name?: string;
    scopes?: readonly string[];
    mayInvite?: boolean;
  },
): Promise<Administrator> {
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

/** The authority of an administrator who was added, in the session that began then. */
export async function signedInAs(engine: Engine, account: AccountKey): Promise<SignedIn> {
  const session = (await listSessionRows(engine, account)).at(-1);
  if (!session) throw new Error('They have no session.');
  return { administrator: account.id, session: session.id, address: '192.0.2.1', client: 'Test' };
}

/**
 * The form in which a password is stored (src/server/access/passwords.ts), made in a few milliseconds. All accounts of an
 * address have the same salt.
 */
function hashQuickly(password: string, email: string): string {
  const salt = hash('sha256', email, 'buffer').subarray(0, 16);
  const key = scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 });
  return `scrypt$1024$8$1$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

export type Answer = Response<string>;
type Fields = Readonly<Record<string, string | readonly string[]>>;

/** A browser as far as the portal needs one: it keeps cookies, and sends the forms that it was shown. */
export class Visitor {
  readonly url: string;
  readonly cookies = new Map<string, string>();
  /** The page that it shows. */
  shown: string = '';

  constructor(url: string) {
    this.url = url;
  }

  /** Opens a page; it doesn't follow a redirect. */
  async visit(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#ask('GET', path, { headers });
  }

  /** Fills in a form of the page that is shown, by its action, and sends it as a browser does. */
  async submit(action: string, fields: Fields = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send(action, { ...hiddenFields(this.shown, action), ...fields }, headers);
  }

  /** Sends fields to an action, whatever page is shown. */
  async send(action: string, fields: Fields, headers: Record<string, string> = {}): Promise<Answer> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(fields))
      for (const one of typeof value === 'string' ? [value] : value) body.append(name, one);
    return this.#ask('POST', action, {
      body: body.toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        origin: this.url,
        'sec-fetch-site': 'same-origin',
        ...headers,
      },
    });
  }

  /** Submits a form and opens the page that it leads to. */
  async submitAndFollow(action: string, fields: Fields = {}): Promise<Answer> {
    const { statusCode, headers } = await this.submit(action, fields);
    if (statusCode !== 303) throw new Error(`${action} was answered with ${statusCode}: ${this.text}`);
    return this.visit(headers.location ?? '');
  }

  /** A copy with the same cookies: somebody who has stolen them, or another tab. */
  copy(): Visitor {
    const copy = new Visitor(this.url);
    for (const [name, value] of this.cookies) copy.cookies.set(name, value);
    return copy;
  }

  /** The words of the page that is shown. */
  get text(): string {
    return textOf(this.shown);
  }

  async #ask(
    method: 'GET' | 'POST',
    path: string,
    options: { body?: string; headers: Record<string, string> },
  ): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await got(new URL(path, this.url), {
      method,
      ...options,
      headers: { ...options.headers, ...(cookie !== '' && { cookie }) },
      followRedirect: false,
      throwHttpErrors: false,
      retry: { limit: 0 },
    });
    for (const line of answer.headers['set-cookie'] ?? []) this.#keep(line);
    this.shown = answer.body;
    return answer;
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split('; ');
    const name = pair.slice(0, pair.indexOf('='));
    const isRemoved = attributes.some((attribute) => /^Expires=Thu, 01 Jan 1970/.test(attribute));
    if (isRemoved) this.cookies.delete(name);
    else this.cookies.set(name, pair.slice(pair.indexOf('=') + 1));
  }
}

export function hiddenFields(page: string, action: string): Record<string, string> {
  const form = [...page.matchAll(/<form[^>]*action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)].find(
    ([, leadsTo]) => leadsTo === action,
  );
  if (!form) throw new Error(`The page has no form for ${action}: ${textOf(page)}`);
  const hidden = (form[2] ?? '').matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries([...hidden].map(([, name = '', value = '']) => [name, value]));
}

/** The words of a page, without its tags. */
export function textOf(page: string): string {
  return page
    .replace(/<title>[\s\S]*?<\/title>/g, '')
    .replaceAll('<wbr />', '')
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();
}
