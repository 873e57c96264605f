import { createCompany, type CompanySettings, setCompany } from '../../src/server/backoffice/companies.ts';
import { createKey, revokeKey } from '../../src/server/features/keys/keys.ts';
import type { ResourceRecord } from '../../src/contract/records.ts';
import { renderRecord } from '../../src/contract/render.ts';
import { type Module, modules, type Scope, scopes } from '../../src/contract/scopes.ts';
import { exampleCompany } from '../../src/demo/example-company.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';
import { withQueriesThrough } from '../server/store/_queries.ts';
import { exampleRecords, putRecords } from '../_records.ts';
import {
  type EngineName,
  KEY_PREFIX,
  keyFor,
  startExampleServer,
  startTestServer,
  STORY_NOW,
} from '../_server.ts';
import { fillLargeCompany } from './_large-company.ts';
import { startMock } from './_mock.ts';
import { exampleLists, readLists, type WholeList } from './_lists.ts';

/** The servers of a party: each is in another state, so that a question needs no preparation. */
export type ServerName = 'normal' | 'busy' | 'short window' | 'without records' | 'without keys';

/** A caller of the API. */
export type Asker =
  | 'reader'
  | 'nobody'
  | 'wrong'
  | 'revoked'
  | 'neighbour'
  /** Reads a company with more than a hundred records in each list, and documents of each kind and state. */
  | 'large'
  | 'cut off'
  | 'unpaid'
  | 'uninvoiced'
  /** Of a company, and with a key, with two things amiss. */
  | (typeof doublyRefused)[number]
  | `without ${Scope}`
  | `with ${Scope} alone`
  | `unlicensed for ${Scope}`
  | `licensed for ${Scope} alone`
  | Spender;

const doublyRefused = [
  'unpaid and cut off',
  'cut off and unlicensed for invoices:read',
  'unlicensed for and without invoices:read',
  'uninvoiced and without invoices:read',
] as const;

/** Keys whose allowance is used up, each by its own question, on the servers that count as the contract says. */
export type Spender = 'spender' | 'counting spender' | 'spender of short windows' | 'colleague of spenders';
const spenders: readonly Spender[] = [
  'spender',
  'counting spender',
  'spender of short windows',
  'colleague of spenders',
];

/** Everybody who may be given a key. */
export const askers: readonly Asker[] = [
  ...(['reader', 'wrong', 'revoked', 'neighbour', 'large', 'cut off', 'unpaid', 'uninvoiced'] as const),
  ...doublyRefused,
  ...scopes.flatMap(
    (scope) =>
      [
        `without ${scope}`,
        `with ${scope} alone`,
        `unlicensed for ${scope}`,
        `licensed for ${scope} alone`,
      ] as const,
  ),
];

/** A step needs something that the suite wasn't given, or that the company doesn't have. */
export class NotGiven extends Error {}

/** One of those whom the suite asks. */
export interface Party {
  name: 'mock' | EngineName;
  /** Whether the reader's company is the one of the contract's examples. */
  isExample: boolean;
  /** The lists that an asker may read, and what they hold. */
  lists: (asker: Asker) => Promise<readonly WholeList[]>;
  urls: Readonly<Record<ServerName, string>>;
  authorization: (asker: Asker) => string | undefined;
  /** Sets what the party takes for the present. */
  setNow: (now: Date) => void;
  /** Has the team of the reader's company edit a draft of an invoice, or take that back; gives its id. */
  editDraft: (isEdited: boolean) => Promise<string>;
}

export type StartedParty = Party & AsyncDisposable;

/** The allowance of the busy server: the contract's own. */
const REQUESTS_PER_MINUTE = 120;
/**
 * An allowance that ends soon and comes back soon; a second is the least that `t` can fall by. A machine with much else
 * to do still sends so few requests within the window.
 */
const SHORT_WINDOW = { rateLimitPerMinute: 5, windowSeconds: 2 };

export async function startParty(name: Party['name']): Promise<StartedParty> {
  return name === 'mock' ? startMockParty() : startServerParty(name);
}

/** The headers that let someone in. */
export function headersOf(party: Party, asker: Asker): Record<string, string> {
  const authorization = party.authorization(asker);
  return authorization === undefined ? {} : { authorization };
}

async function startMockParty(): Promise<StartedParty> {
  const mock = await startMock();
  const { url } = mock;
  return {
    name: 'mock',
    isExample: true,
    lists: async () => exampleLists(),
    urls: { normal: url, busy: url, 'short window': url, 'without records': url, 'without keys': url },
    authorization: (asker) => (asker === 'nobody' ? undefined : 'Bearer fl.brennan.any.key'),
    setNow: () => {
      throw new Error('The mock has no clock.');
    },
    editDraft: async () => {
      throw new Error('The mock has no team.');
    },
    [Symbol.asyncDispose]: () => mock[Symbol.asyncDispose](),
  };
}

async function startServerParty(name: EngineName): Promise<StartedParty> {
  await using started = new AsyncDisposableStack();
  const normal = started.use(await startExampleServer(name));
  const { engine } = normal;
  const busy = started.use(await startTestServer({ engine, rateLimitPerMinute: REQUESTS_PER_MINUTE }));
  const shortWindow = started.use(await startTestServer({ engine, ...SHORT_WINDOW }));
  const withoutRecords = started.use(await startTestServer({ engine: failing(engine, 'records') }));
  const withoutKeys = started.use(await startTestServer({ engine: failing(engine, 'keys') }));
  const keys = await createAskers(engine, normal.key);
  const servers = started.move();
  const party: Party = {
    name,
    isExample: true,
    lists: async (asker) => read.get(asker) ?? exampleLists(),
    urls: {
      normal: normal.url,
      busy: busy.url,
      'short window': shortWindow.url,
      'without records': withoutRecords.url,
      'without keys': withoutKeys.url,
    },
    authorization: (asker) => {
      if (asker === 'nobody') return undefined;
      const key = keys.get(asker);
      if (key === undefined) throw new Error(`There is no key for ${asker}.`);
      return `Bearer ${key}`;
    },
    setNow: normal.setNow,
    editDraft: (isEdited) => editDraft(engine, isEdited),
  };
  const read = new Map<Asker, WholeList[]>();
  for (const asker of ['neighbour', 'large'] as const) read.set(asker, await readLists(party, asker));
  return { ...party, [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose]() };
}

/** Writes a draft of the example company anew, with another note or with its own. */
async function editDraft(engine: Engine, isEdited: boolean): Promise<string> {
  const [draft] = exampleRecords().flatMap(({ resource, record }) =>
    resource === 'invoices' && record.status === 'draft' ? [record] : [],
  );
  if (!draft) throw new Error('The example company has no draft.');
  const record = isEdited ? { ...draft, note: 'Edited' } : draft;
  await putRecords(engine, 'brennan', [renderRecord({ resource: 'invoices', record })]);
  return draft.id;
}

/** An engine whose reads of keys, or of everything else, fail as those of a broken disk do. */
function failing(engine: Engine, what: 'keys' | 'records'): Engine {
  return withQueriesThrough(engine, (query, run) => {
    const isOfServer = /\bstore_generation\b/.test(query.sql);
    if (isOfServer || /\bapi_keys\b/.test(query.sql) !== (what === 'keys')) return run();
    throw new Error('The disk cannot be read: /var/lib/secret-path');
  });
}

/** Of whom a company is switched otherwise than the reader's, and which scopes their key has if not all. */
const switched: readonly [Asker, Partial<CompanySettings>, without?: Scope][] = [
  ['neighbour', {}],
  ['large', {}],
  ['cut off', { apiEnabled: false }],
  ['unpaid', { subscriptionActive: false }],
  ['uninvoiced', { invoicingEnabled: false }],
  ['unpaid and cut off', { subscriptionActive: false, apiEnabled: false }],
  ['cut off and unlicensed for invoices:read', { apiEnabled: false, modules: modulesBut('invoices') }],
  ['unlicensed for and without invoices:read', { modules: modulesBut('invoices') }, 'invoices:read'],
  ['uninvoiced and without invoices:read', { invoicingEnabled: false }, 'invoices:read'],
  ...modules.flatMap((module): [Asker, Partial<CompanySettings>][] => [
    [`unlicensed for ${module}:read`, { modules: modulesBut(module) }],
    [`licensed for ${module}:read alone`, { modules: [module] }],
  ]),
];

function modulesBut(left: Module): Module[] {
  return modules.filter((module) => module !== left);
}

/** The id of an asker's company. */
const companyOf = (asker: Asker) => asker.replaceAll(/[^a-z]+/g, '-');

async function createAskers(engine: Engine, reader: string): Promise<ReadonlyMap<Asker, string>> {
  const wrong = reader.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  const keys = new Map<Asker, string>([
    ['reader', reader],
    ['wrong', wrong],
    ['revoked', await revokedKey(engine)],
  ]);
  for (const spender of spenders) keys.set(spender, await keyFor(engine, exampleCompany.id));
  for (const scope of scopes) {
    keys.set(`without ${scope}`, await keyFor(engine, exampleCompany.id, scopesBut(scope)));
    keys.set(`with ${scope} alone`, await keyFor(engine, exampleCompany.id, [scope]));
  }
  for (const [asker, settings, without] of switched) {
    const id = companyOf(asker);
    // Without a supplier's name and VAT number no document would be issued.
    await createCompany(engine, id, { profile: exampleCompany.profile }, STORY_NOW);
    keys.set(asker, await keyFor(engine, id, scopesBut(without)));
    await setCompany(engine, id, settings);
  }
  await putRecords(engine, companyOf('neighbour'), neighbourRecords().map(renderRecord));
  await fillLargeCompany(engine, companyOf('large'));
  return keys;
}

function scopesBut(left: Scope | undefined): Scope[] {
  return scopes.filter((scope) => scope !== left);
}

async function revokedKey(engine: Engine): Promise<string> {
  const options = { prefix: KEY_PREFIX, company: 'brennan', name: 'Test', scopes, now: STORY_NOW };
  const { key, record } = await createKey(engine, options);
  await revokeKey(engine, 'brennan', record.id, STORY_NOW);
  return key;
}

/** The id of a record that only the neighbour has, made from the id of the example company's record. */
function neighbourId(id: string): string {
  return id.replace(/^./, (first) => (first === '0' ? '1' : 'n'));
}

/**
 * The records of another company: the first of each kind under an id of its own, and that of a job and a customer
 * also under the example company's own id, with other contents.
 */
function neighbourRecords(): ResourceRecord[] {
  const ofEach = Map.groupBy(exampleRecords(), ({ resource }) => resource);
  const others = [...ofEach.values()].flatMap(([first]) => (first ? [renamed(first)] : []));
  return [...others.flatMap(withNewerDraft), ...exampleRecords().flatMap(withOtherWords)];
}

/** A quote with a newer version that its customer hasn't seen yet. */
function withNewerDraft(record: ResourceRecord): ResourceRecord[] {
  if (record.resource !== 'quotes') return [record];
  const older = record.record;
  const id = older.id.replace(/...$/, 'fff');
  const newer: typeof older = {
    ...older,
    ...{
      id,
      links: { self: `/api/v1/quotes/${id}` },
      version: older.version + 1,
      supersedesQuoteId: older.id,
    },
    ...{ status: 'draft', sentDate: null, respondedAt: null, convertedJobId: null, convertedInvoiceId: null },
  };
  return [
    { resource: 'quotes', record: { ...older, status: 'revised' } },
    { resource: 'quotes', record: newer },
  ];
}

function renamed({ resource, record }: ResourceRecord): ResourceRecord {
  const text = JSON.stringify({ resource, record })
    .replaceAll(record.id, neighbourId(record.id))
    .replace(/(?<="formId":")[^"]+/, neighbourId);
  // Only ids have changed, into others of their form.
  return JSON.parse(text) as ResourceRecord;
}

function withOtherWords(record: ResourceRecord): ResourceRecord[] {
  if (record.resource === 'jobs') return [{ ...record, record: { ...record.record, title: 'A secret' } }];
  if (record.resource === 'customers') return [{ ...record, record: { ...record.record, name: 'A secret' } }];
  return [];
}
