/**
 * Keeps a copy of a company's records, of any list or of all, as the contract documents it ("Staying in sync"). It needs
 * nothing but web standards.
 * @module
 */
import '../supported-node.js';
import type { ErrorCode } from '../../contract/operations.ts';
import type { Client } from '../create-client.ts';
import { ApiError } from '../errors.ts';
import type { CallOptions } from '../operations.ts';
import { type Changes, type Complete, queryOf, readChanges } from './changes.ts';
import { completeDocuments, findDiscarded, findExpiredDocuments } from './documents.ts';
import { accessOf, type AnyRecord, type ListAccess } from './lists.ts';
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

/** The parts that are copied, and the place of the copy. */
export interface SyncOptions {
  /** The resources to copy; unless named, all that the key may read. */
  resources?: readonly Resource[];
  /** The place where the copy is kept: a sink, or a function that keeps one batch. */
  sink: Sink | Sink['commit'];
  /** The progress of the copy, where the sink can't load it. */
  state?: SyncState | undefined;
  /** Whether each quote and each invoice is read with its details, which takes a request for each; on unless told. */
  details?: boolean;
  /** Ends the sync. What was kept until then stays valid. */
  signal?: AbortSignal;
  /** Is told how far a sync is. It then counts the details first, with a request for each hundred of them. */
  onProgress?: (progress: SyncProgress) => void;
}

/** The progress of a sync. */
export interface SyncProgress {
  /** The resource that is being read. */
  resource: Resource;
  /** The records that were put so far. */
  recordCount: number;
  /** The quotes and invoices whose details were read so far, and of how many. */
  details: { done: number; total: number };
}

/** The work that a sync has done. */
export interface SyncResult {
  /** The progress of the copy. */
  state: SyncState;
  /** The records that were put into the copy and removed from it, by resource. */
  counts: Partial<Record<Resource, { put: number; removed: number }>>;
  /** The resources that the key may not read, with the reason. */
  left: { resource: Resource; code: ErrorCode }[];
  /** Whether the copy was begun anew, because the service was restored from a backup or moved. */
  isAnew: boolean;
}

/** Reasons why a key can read some resources, but not this one. */
const LEFT_CODES: readonly (ErrorCode | undefined)[] = [
  'missing_scope',
  'module_not_licensed',
  'invoicing_not_enabled',
];

/**
 * Brings a copy of a company's records up to date: everything the first time, and what has changed every time after.
 * A sync may end at any moment, and the next one goes on from the last batch that was kept.
 * @throws ApiError or NoAnswerError where the client gives up, the reason of the signal, and whatever the sink throws.
 * CopyError when the service shows one store and then another. TypeError for a resource that there isn't.
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
  // A key that may read nothing is probably a mistake.
  if (first && run.left.length === allResources.length) throw first.error;
  const left = run.left.map(({ resource, error }) => ({ resource, code: error.code as ErrorCode }));
  return { state: structuredClone(run.state), counts: run.counts, left, isAnew };
}

/** A page comes from another store than the copy. If it happens twice, two services answer at one address. */
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
  access: ReturnType<typeof accessOf>;
  call: CallOptions;
  state: SyncState;
  progress: Omit<SyncProgress, 'resource'>;
  counts: SyncResult['counts'];
  left: { resource: Resource; error: ApiError }[];
  /** Keeps changes together with the state. */
  keep: (resource: Resource, changes: Changes) => Promise<void>;
  tell: (resource: Resource) => void;
}

async function beginRun(client: Client, options: SyncOptions): Promise<Run> {
  const sink: Sink = typeof options.sink === 'function' ? { commit: options.sink } : options.sink;
  const state = structuredClone(options.state ?? (await sink.load?.()) ?? {});
  const counts: SyncResult['counts'] = {};
  const progress = { recordCount: 0, details: { done: 0, total: 0 } };
  const checkStore = ({ generation }: { generation: string | undefined }) => {
    // A service of version 1.0.0 doesn't tell, and neither does a copy of its time.
    if (generation === undefined) return;
    state.generation ??= generation;
    if (generation !== state.generation) throw new OtherStore(generation);
  };
  return {
    access: accessOf(client, 'all', checkStore),
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
      // The resource says what its records are.
      await sink.commit({ resource, ...(clear && { clear }), ...changes } as unknown as Batch);
      const count = (counts[resource] ??= { put: 0, removed: 0 });
      count.put += put.length;
      count.removed += remove.length;
      progress.recordCount += put.length;
    },
    tell: (resource) => options.onProgress?.({ resource, ...structuredClone(progress) }),
  };
}

/** Reads one resource, unless the key may not read it and nobody has asked for it by its name. */
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
  complete: Complete = asTheyAre,
): Promise<void> {
  for await (const changes of readChanges(access, state, complete, run.call)) {
    await run.keep(resource, changes);
    run.tell(resource);
  }
}

/** People have no time of change, and those who leave are just missing, so the list is read whole and compared. */
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

/** The submissions of each form are a list of their own. */
async function readSubmissions(run: Run): Promise<void> {
  const states = (run.state.submissions ??= {});
  for await (const { data } of run.access.forms.pages({}, run.call))
    for (const { id } of data) {
      // An id may be the name of an inherited property.
      if (!Object.hasOwn(states, id)) states[id] = {};
      await keepChanges(run, 'submissions', run.access.submissionsOf(id), states[id] ?? {});
    }
  // Without forms there is no page that would clear the records of the former store.
  if (run.state.outdated?.includes('submissions')) await run.keep('submissions', { put: [], remove: [] });
}

async function readDocuments(run: Run, resource: 'quotes' | 'invoices', details: boolean): Promise<void> {
  const [access, state] = [run.access[resource], documentsState(run.state, resource, details)];
  const complete = completeDocuments(access, state, run.call, () => {
    run.progress.details.done += 1;
    run.tell(resource);
  });
  await keepChanges(run, resource, access, state, complete);
  const discarded = await findDiscarded(access, state, run.call);
  if (discarded.remove.length > 0) await run.keep(resource, discarded);
  for await (const expired of findExpiredDocuments(access, state, run.call))
    await run.keep(resource, expired);
}

/** The state of a list with details. A copy that is to have them from now on, or no longer, is read anew. */
function documentsState(state: SyncState, resource: 'quotes' | 'invoices', details: boolean): DocumentsState {
  const known = state[resource];
  if (known?.details === details) return known;
  const { drafts = {}, validUntil = {} } = known ?? {};
  return (state[resource] = { details, drafts, validUntil });
}

/** Counts the quotes and invoices that this sync will read the details of. */
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
      // Reading it reports the error later.
      if (!(error instanceof ApiError)) throw error;
    }
  }
}
