/**
 * Keeps a copy of some or all of a company's records, as the contract describes ("Staying in sync"). It uses only web
 * standards.
 * @module
 */
import '../supported-node.js';
import type { ErrorCode } from '../../contract/operations.ts';
import type { Client } from '../create-client.ts';
import { ApiError } from '../errors.ts';
import type { CallOptions } from '../operations.ts';
import { type Changes, type ReadDetails, queryOf, readChanges } from './changes.ts';
import { createDetailReader, readDiscardedDrafts, findExpiredQuotes } from './documents.ts';
import { listAccesses, type AnyRecord, type ListAccess } from './lists.ts';
import {
  type Batch,
  CopyError,
  type DocumentsState,
  type ListState,
  type Sink,
  type Resource,
  resources as allResources,
  type SyncState,
} from './sink.ts';

export { CopyError } from './sink.ts';
export type { Batch, DocumentsState, ListState, Resource, Sink, SyncedRecord, SyncState } from './sink.ts';

/** Options for `sync`. */
export interface SyncOptions {
  /** The resources to copy; by default, all that the key may read. */
  resources?: readonly Resource[];
  /** Storage for the copy: a sink, or a function that stores one batch. */
  sink: Sink | Sink['commit'];
  /** The progress of the copy, if the sink can't load it. */
  state?: SyncState | undefined;
  /** Whether to read the details of quotes and invoices, with one request for each; true by default. */
  details?: boolean;
  /** A signal that aborts the sync. Batches that have been stored stay valid. */
  signal?: AbortSignal;
  /** Called with the progress. If given, a sync first counts the details to read, with one request for each hundred. */
  onProgress?: (progress: SyncProgress) => void;
}

/** The progress of a sync. */
export interface SyncProgress {
  /** The resource being read. */
  resource: Resource;
  /** The number of records put so far. */
  recordCount: number;
  /** The number of quotes and invoices whose details have been read so far, and the total number to read. */
  details: { done: number; total: number };
}

/** The result of a sync. */
export interface SyncResult {
  /** The new progress of the copy. */
  state: SyncState;
  /** The number of records put into the copy and removed from it, by resource. */
  counts: Partial<Record<Resource, { put: number; removed: number }>>;
  /** The resources that were skipped because the key isn't allowed to read them, each with the error code. */
  left: { resource: Resource; code: ErrorCode }[];
  /** Whether the copy was rebuilt from scratch, because the service was restored from a backup or moved. */
  isAnew: boolean;
}

/** Error codes that concern one resource only: the key may be allowed to read others. */
const LEFT_CODES: readonly (ErrorCode | undefined)[] = [
  'missing_scope',
  'module_not_licensed',
  'invoicing_not_enabled',
];

/**
 * Brings a copy of a company's records up to date: all records the first time, then only the changes. A sync can be
 * interrupted at any time; the next one continues after the last stored batch.
 * @throws ApiError or NoAnswerError if the client gives up, the signal's abort reason, or any error of the sink. CopyError if
 * responses keep coming from different stores. TypeError for an unknown resource.
 */
export async function sync(client: Client, options: SyncOptions): Promise<SyncResult> {
  checkResources(options.resources ?? []);
  let run = await beginRun(client, options);
  let isAnew = false;
  try {
    await readAll(run, options);
  } catch (error) {
    if (!(error instanceof OtherStore)) throw error;
    isAnew = true;
    const state = { generation: error.generation, outdated: [...allResources] };
    run = await beginRun(client, { ...options, state });
    await readAll(run, options);
  }
  const [first] = run.left;
  // A key that isn't allowed to read anything is probably a mistake.
  if (first && run.left.length === allResources.length) throw first.error;
  const left = run.left.map(({ resource, error }) => ({ resource, code: error.code as ErrorCode }));
  return { state: structuredClone(run.state), counts: run.counts, left, isAnew };
}

/** The error for a page from a store other than the copy's. A second one means that two services share one address. */
class OtherStore extends CopyError {
  readonly generation: string;

  constructor(generation: string) {
    super('The service changed its store while it was read (Store-Generation). Start again.');
    this.generation = generation;
  }
}

async function readAll(run: Run, options: SyncOptions): Promise<void> {
  if (options.onProgress) await countDetails(run, options);
  for (const resource of options.resources ?? allResources) await read(run, resource, options);
}

function checkResources(resources: readonly Resource[]): void {
  for (const resource of resources)
    if (!allResources.includes(resource))
      throw new TypeError(
        `resources must be among ${allResources.join(', ')}, not ${JSON.stringify(resource)}.`,
      );
}

interface Run {
  access: ReturnType<typeof listAccesses>;
  call: CallOptions;
  state: SyncState;
  progress: Omit<SyncProgress, 'resource'>;
  counts: SyncResult['counts'];
  left: { resource: Resource; error: ApiError }[];
  /** Stores changes to a resource together with the run's state. */
  keep: (resource: Resource, changes: Changes) => Promise<void>;
  tell: (resource: Resource) => void;
}

async function beginRun(client: Client, options: SyncOptions): Promise<Run> {
  const sink: Sink = typeof options.sink === 'function' ? { commit: options.sink } : options.sink;
  const state = structuredClone(options.state ?? (await sink.load?.()) ?? {});
  const counts: SyncResult['counts'] = {};
  const progress = { recordCount: 0, details: { done: 0, total: 0 } };
  const checkStore = ({ generation }: { generation: string | undefined }) => {
    // Version 1.0.0 of the service sends no generation, and copies from its time have none.
    if (generation === undefined) return;
    state.generation ??= generation;
    if (generation !== state.generation) throw new OtherStore(generation);
  };
  return {
    access: listAccesses(client, 'all', checkStore),
    call: { signal: options.signal },
    state,
    progress,
    counts,
    left: [],
    async keep(resource, { put, remove }) {
      options.signal?.throwIfAborted();
      const { outdated } = state;
      if (outdated) state.outdated = outdated.filter((other) => other !== resource);
      const clear = outdated?.includes(resource) === true;
      const changes = { put, remove, state: structuredClone(state) };
      // `resource` determines the type of the records.
      await sink.commit({ resource, ...(clear && { clear }), ...changes } as unknown as Batch);
      const count = (counts[resource] ??= { put: 0, removed: 0 });
      count.put += put.length;
      count.removed += remove.length;
      progress.recordCount += put.length;
    },
    tell: (resource) => options.onProgress?.({ resource, ...structuredClone(progress) }),
  };
}

/** Reads one resource into the copy. One that the key isn't allowed to read is skipped, unless the caller named it. */
async function read(run: Run, resource: Resource, { resources, details = true }: SyncOptions): Promise<void> {
  run.tell(resource);
  try {
    if (resource === 'people') await readPeople(run);
    else if (resource === 'submissions') await readSubmissions(run);
    else if (resource === 'quotes' || resource === 'invoices') await readDocuments(run, resource, details);
    else await keepChanges(run, resource, run.access[resource], (run.state[resource] ??= {}));
  } catch (error) {
    if (resources || !(error instanceof ApiError) || !LEFT_CODES.includes(error.code)) throw error;
    run.left.push({ resource, error });
  }
}

const asTheyAre = async (put: AnyRecord[]): Promise<Changes> => ({ put, remove: [] });

async function keepChanges(
  run: Run,
  resource: Resource,
  access: ListAccess,
  state: ListState,
  complete: ReadDetails = asTheyAre,
): Promise<void> {
  for await (const changes of readChanges(access, state, complete, run.call)) {
    await run.keep(resource, changes);
    run.tell(resource);
  }
}

/** Reads the list of people and compares it with the copy: people have no `updatedAt`, and those who leave are missing. */
async function readPeople({ access, call, state, keep }: Run): Promise<void> {
  const known = state.people ?? {};
  const digests: Record<string, string> = {};
  const put: AnyRecord[] = [];
  for await (const { data } of access.people.pages({}, call))
    for (const person of data) {
      const digest = (digests[person.id] = await digestOf(person));
      if (known[person.id] !== digest) put.push(person);
    }
  state.people = digests;
  await keep('people', { put, remove: Object.keys(known).filter((id) => !Object.hasOwn(digests, id)) });
}

async function digestOf(value: unknown): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(value)));
  return Array.from(new Uint8Array(bytes, 0, 12), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Reads the new submissions of every form; each form has a list of its own. */
async function readSubmissions(run: Run): Promise<void> {
  const states = (run.state.submissions ??= {});
  for await (const { data } of run.access.forms.pages({}, run.call))
    for (const { id } of data) {
      // An id could be the name of an inherited property.
      if (!Object.hasOwn(states, id)) states[id] = {};
      await keepChanges(run, 'submissions', run.access.submissionsOf(id), states[id] ?? {});
    }
  // Without forms there is no page whose batch would clear the records of the former store.
  if (run.state.outdated?.includes('submissions')) await run.keep('submissions', { put: [], remove: [] });
}

async function readDocuments(run: Run, resource: 'quotes' | 'invoices', details: boolean): Promise<void> {
  const [access, state] = [run.access[resource], documentsState(run.state, resource, details)];
  const complete = createDetailReader(access, state, run.call, () => {
    run.progress.details.done += 1;
    run.tell(resource);
  });
  await keepChanges(run, resource, access, state, complete);
  const discarded = await readDiscardedDrafts(access, state, run.call);
  if (discarded.remove.length > 0) await run.keep(resource, discarded);
  for await (const expired of findExpiredQuotes(access, state, run.call)) await run.keep(resource, expired);
}

/** Returns the state of reading quotes or invoices. If `details` changed it has no checkpoint, so that all are read again. */
function documentsState(state: SyncState, resource: 'quotes' | 'invoices', details: boolean): DocumentsState {
  const known = state[resource];
  if (known?.details === details) return known;
  const { drafts = {}, validUntil = {} } = known ?? {};
  return (state[resource] = { details, drafts, validUntil });
}

/** Counts the quotes and invoices whose details this sync will read, for its progress. */
async function countDetails(run: Run, { resources, details = true }: SyncOptions): Promise<void> {
  for (const resource of ['quotes', 'invoices'] as const) {
    if (!details || (resources && !resources.includes(resource))) continue;
    const query = queryOf(documentsState(run.state, resource, details));
    try {
      for await (const { data } of run.access[resource].pages(query, run.call)) {
        run.progress.details.total += data.length;
        run.tell(resource);
      }
    } catch (error) {
      // The error is reported later, when the resource is read.
      if (!(error instanceof ApiError)) throw error;
    }
  }
}
