import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Test } from 'tap';
import t from 'tap';

import type { components } from '../../../generated/openapi.ts';
import { type CompanySettings, createCompany } from '../../../src/server/backoffice/companies.ts';
import { applyChange, type Outcome } from '../../../src/server/backoffice/apply.ts';
import { type Backoffice, openBackoffice } from '../../../src/server/backoffice/backoffice.ts';
import { Refusal } from '../../../src/server/backoffice/refusal.ts';
import type { SubscribableKind } from '../../../src/contract/events.ts';
import type { Change, ChangeName, ChangeContent } from '../../../src/contract/feed.ts';
import type { Invoice, RecordOf, Resource, Submission } from '../../../src/contract/records.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { findTexts } from '../../../src/server/store/records/record-writes.ts';
import { type EngineName, engineNames, openTestDatabase, STORY_NOW } from '../../_server.ts';
import { closed, eventBodyOf, events, strictAjv } from '../../contract/_contract.ts';
import { sealedSecret } from '../../_command.ts';

type Schemas = components['schemas'];

/** Every kind of event that moves send. */
export const moveEvents = events
  .map(({ kind }) => kind)
  .filter((kind) => kind !== 'ping') as SubscribableKind[];

/** A change of the company that makes it. */
export type Given<Name extends ChangeName = ChangeName> = {
  [N in Name]: { change: N; with: ChangeContent<N>; id?: string; at?: string };
}[Name];

/** The record that a change is answered with, parsed: the contract's schema of its subject, unless it is an exception. */
export type RecordAfter<Name extends ChangeName> = Name extends keyof Exceptions
  ? Exceptions[Name]
  : Name extends `${'credit_note' | 'payment' | 'refund'}.${string}`
    ? Invoice
    : Name extends `${infer Subject}.${string}`
      ? Schemas[Capitalize<Subject> & keyof Schemas]
      : never;

interface Exceptions {
  'company.save': null;
  'company.switch': null;
  'logo.set': null;
  'numbering.set': null;
  'person.deactivate': null;
  'form.submit': Submission;
  'invoice.discard': null;
}

/** An event as it is kept: `text` is its data as stored, `data` the same parsed. */
export interface KeptEvent {
  id: string;
  kind: SubscribableKind;
  createdAt: string;
  text: string;
  data: Record<string, unknown>;
}

/** A company whose team makes moves. */
export interface TestCompany {
  id: string;
  /** Makes a change and gives the record that answers it. @throws Refusal, or Error when it is skipped. */
  apply: <Name extends ChangeName>(change: Given<Name>) => Promise<RecordAfter<Name>>;
  /** Makes a change that has to be refused and to leave every table as it was. @throws Error when it isn't or doesn't. */
  refusal: (change: object) => Promise<Pick<Refusal, 'code' | 'path' | 'message'>>;
  /** The company's events in the order in which they happened. */
  events: () => Promise<KeptEvent[]>;
  record: <R extends Resource>(resource: R, id: string) => Promise<RecordOf[R] | undefined>;
  /** The texts of a record as stored; undefined when there is none. */
  texts: (resource: Resource, id: string) => Promise<{ body: string; detail?: string } | undefined>;
  /** Registers a webhook that hears of the given kinds. */
  addWebhook: (id: string, kinds?: readonly SubscribableKind[]) => Promise<void>;
}

export interface TestBackoffice {
  engine: Engine;
  /** The address of the database, for those who open it a second time. */
  url: string;
  backoffice: Backoffice;
  /** Sets what the back office takes for the present. */
  setNow: (now: Date | string) => void;
  /** Adds a company with a webhook for every event. */
  openCompany: (settings?: Partial<CompanySettings>) => Promise<TestCompany>;
}

type Body = (t: Test, backoffice: TestBackoffice) => Promise<void>;

/** Runs a test on each engine, with a back office on a database of its own in which it is 20 November 2026, noon. */
export function onEachEngine(title: string, body: Body): void {
  for (const name of engineNames) testOn(name, `${title} (${name})`, body);
}

/** The same for a rule in which the engines have no part. */
export function onSqlite(title: string, body: Body): void {
  testOn('sqlite', title, body);
}

function testOn(name: EngineName, title: string, body: Body): void {
  t.test(title, async (t) => {
    await using database = await openTestDatabase(name);
    await body(t, createTestBackoffice(database));
    t.strictSame(await deliveryProblems(database.engine), [], 'every delivery is as webhooks.yaml says');
  });
}

export function createTestBackoffice(
  { engine, url }: { engine: Engine; url: string },
  look: Partial<Pick<Backoffice, 'accent'>> = {},
): TestBackoffice {
  let now = STORY_NOW;
  let companyCount = 0;
  const backoffice = openBackoffice(engine, { now: () => now, ...look });
  return {
    engine,
    url,
    backoffice,
    setNow: (moment) => {
      now = new Date(moment);
    },
    async openCompany(settings = {}) {
      const id = `company-${++companyCount}`;
      await createCompany(engine, id, settings, now);
      const company = companyOf(backoffice, id);
      await company.addWebhook('whk_all');
      return company;
    },
  };
}

function companyOf(backoffice: Backoffice, id: string): TestCompany {
  const { engine } = backoffice;
  const texts = async (resource: Resource, recordId: string) =>
    engine.transaction((transaction) => findTexts(transaction, resource, id, recordId));
  return {
    id,
    apply: async (change) => recordIn(await applyChange(backoffice, { company: id, ...change } as Change)),
    refusal: (change) => refusalOf(backoffice, { company: id, ...change }),
    events: () => readEvents(engine, id),
    texts,
    async record(resource, recordId) {
      const found = await texts(resource, recordId);
      // Each stored text was rendered from a record of this type.
      return found && ({ ...JSON.parse(found.body), ...JSON.parse(found.detail ?? '{}') } as never);
    },
    addWebhook: (webhook, kinds) => addWebhook(engine, id, webhook, { kinds }),
  };
}

interface Hearing {
  kinds?: readonly SubscribableKind[] | undefined;
  url?: string;
  /** As it is stored. */
  secret?: string;
}

/** Registers a webhook that hears of all kinds, or of the given ones. */
export async function addWebhook(
  engine: Engine,
  company: string,
  id: string,
  { kinds = moveEvents, ...given }: Hearing = {},
): Promise<void> {
  const row = { company, id, url: 'https://hooks.customer.example', secret: sealedSecret(company, id) };
  const values = { ...row, ...given, events: JSON.stringify(kinds), created_at: STORY_NOW.toISOString() };
  await engine.transaction((transaction) => transaction.insertInto('webhooks').values(values).execute());
}

/** Back offices of other processes, as it were, on the same database; their clocks disagree by minutes. */
export async function openBackoffices({ url, engine }: Pick<TestBackoffice, 'url' | 'engine'>) {
  // A second process shares a SQLite file at most while it takes over; PostgreSQL serves many.
  const count = engine.dialect.name === 'sqlite' ? 2 : 4;
  const engines = await Promise.all(Array.from({ length: count }, () => openEngine(url, { poolMax: 4 })));
  const backoffices = engines.map((opened, index) =>
    openBackoffice(opened, { now: () => new Date(STORY_NOW.getTime() + (index % 3) * 60_000) }),
  );
  return {
    /** One of them, by turns. */
    backofficeOf: (index: number) => backoffices[index % count] as Backoffice,
    async [Symbol.asyncDispose]() {
      await Promise.all(engines.map((opened) => opened[Symbol.asyncDispose]()));
    },
  };
}

export function recordIn<T>(outcome: Outcome): T {
  if (outcome.status !== 'applied') throw new Error('The change was skipped.');
  return JSON.parse(outcome.record ?? 'null') as T;
}

/** Makes a change that is to be refused. */
export async function refusalOf(backoffice: Backoffice, change: unknown): ReturnType<TestCompany['refusal']> {
  let outcome: unknown;
  const changed = await tablesChangedBy(backoffice.engine, async () => {
    // A bad change has no type.
    outcome = await applyChange(backoffice, change as Change).catch((error: unknown) => error);
  });
  if (!(outcome instanceof Refusal)) {
    if (outcome instanceof Error) throw outcome;
    throw new Error(`Not refused: ${JSON.stringify(change).slice(0, 2_000)}`);
  }
  const { code, path, message } = outcome;
  if (changed.length > 0) throw new Error(`Refused, but ${changed.join(', ')} changed: ${message}`);
  return { code, path, message };
}

/** A refusal in short: its code and its place. */
export const inShort = ({ code, path }: Pick<Refusal, 'code' | 'path'>) => `${code} ${path}`;

/** The names of the tables in which something is otherwise after an act than before it. */
export async function tablesChangedBy(engine: Engine, act: () => Promise<unknown>): Promise<string[]> {
  const before = await readTables(engine);
  await act();
  const after = await readTables(engine);
  return Object.keys(after).filter((table) => after[table] !== before[table]);
}

async function readEvents(engine: Engine, company: string): Promise<KeptEvent[]> {
  const rows = await engine.db
    .selectFrom('events')
    .selectAll()
    .where('company', '=', company)
    .orderBy('id')
    .execute();
  return rows.map(({ id, kind, created_at: createdAt, data: text }) => {
    const data = JSON.parse(text) as KeptEvent['data'];
    return { ...{ id, createdAt, text, data }, kind: kind as SubscribableKind };
  });
}

/** Every row of every table, as one text for each table. */
export async function readTables(engine: Engine): Promise<Record<string, string>> {
  const tables = await engine.run(
    engine.dialect.name === 'sqlite'
      ? "SELECT name FROM sqlite_schema WHERE type = 'table'"
      : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  );
  const content: Record<string, string> = {};
  for (const { name } of tables as { name: string }[]) {
    const rows = await engine.run(`SELECT * FROM ${name}`);
    content[name] = rows
      .map((row) => JSON.stringify(row))
      .sort()
      .join('\n');
  }
  return content;
}

/** A delivery with the body that its webhook is sent. */
export interface KeptDelivery {
  webhook: string;
  state: string;
  attemptCount: number;
  dueAt: string;
  body: { id: string; event: string; createdAt: string; companyId: string; data: unknown };
}

/** Every delivery, in the order of the ids. */
export async function readDeliveries(engine: Engine): Promise<KeptDelivery[]> {
  const rows = await engine.db
    .selectFrom('deliveries')
    .innerJoin('events', (join) =>
      join.onRef('events.company', '=', 'deliveries.company').onRef('events.id', '=', 'deliveries.event'),
    )
    .selectAll('events')
    .select(['deliveries.id as delivery', 'webhook', 'state', 'attempt_count', 'due_at'])
    .orderBy('deliveries.id')
    .execute();
  return rows.map(({ delivery, kind, created_at: createdAt, company, webhook, state, ...row }) => ({
    ...{ webhook, state, attemptCount: row.attempt_count, dueAt: row.due_at },
    // The body of a delivery (openapi.yaml, "Delivery").
    body: { id: delivery, event: kind, createdAt, companyId: company, data: JSON.parse(row.data) as unknown },
  }));
}

const validators = new Map<string, ValidateFunction>();

async function deliveryProblems(engine: Engine): Promise<string[]> {
  return (await readDeliveries(engine)).flatMap(({ body }) => {
    const operation = events.find(({ kind }) => kind === body.event);
    if (!operation) return [`There is no event ${body.event}.`];
    const validate = validators.get(body.event) ?? strictAjv().compile(closed(eventBodyOf(operation).schema));
    validators.set(body.event, validate);
    return validate(body) ? [] : [`${JSON.stringify(body)}: ${JSON.stringify(validate.errors)}`];
  });
}
