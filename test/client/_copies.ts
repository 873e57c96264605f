/** The source and its copies in one form: the records of each resource by id. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import Database from 'better-sqlite3';
import got from 'got';

import { schemaNames } from '../../src/contract/records.ts';
import { readColumns } from '../../src/client/sync/columns.ts';
import {
  type Batch,
  type Resource,
  resources,
  type Sink,
  type SyncState,
} from '../../src/client/sync/sink.ts';
import { contractDocument } from '../../src/contract/document.ts';

interface AnyRecord {
  id: string;
}

export type Contents = Record<Resource, AnyRecord[]>;

const byId = (a: AnyRecord, b: AnyRecord) => (a.id < b.id ? -1 : 1);

function contentsOf(recordsOf: (resource: Resource) => AnyRecord[]): Contents {
  // Every resource is among them.
  return Object.fromEntries(
    resources.map((resource) => [resource, recordsOf(resource).sort(byId)]),
  ) as Contents;
}

/** The records of the API, read one request at a time without the client: quotes and invoices with their details. */
export async function readSource(url: string, key: string): Promise<Contents> {
  const headers = { authorization: `Bearer ${key}` };
  const get = async (path: string) =>
    got(new URL(`/api/v1/${path}`, url), { headers, retry: { limit: 0 } }).json();
  const list = async (path: string): Promise<AnyRecord[]> => {
    const records: AnyRecord[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = new URLSearchParams({ limit: '100', ...(cursor && { cursor }) });
      const page = (await get(`${path}${path.includes('?') ? '&' : '?'}${query.toString()}`)) as {
        data: AnyRecord[];
        nextCursor: string | null;
      };
      records.push(...page.data);
      cursor = page.nextCursor;
    }
    return records;
  };
  const whole = async (path: string, records: AnyRecord[]) => {
    const found: AnyRecord[] = [];
    for (const { id } of records) found.push(((await get(`${path}/${id}`)) as { data: AnyRecord }).data);
    return found;
  };
  const forms = await list('forms');
  const special: Partial<Contents> = {
    submissions: (await Promise.all(forms.map(({ id }) => list(`forms/${id}/submissions`)))).flat(),
    quotes: await whole('quotes', await list('quotes?versions=all')),
    invoices: await whole('invoices', await list('invoices?status=all')),
  };
  const source = new Map<Resource, AnyRecord[]>();
  for (const resource of resources) source.set(resource, special[resource] ?? (await list(resource)));
  return contentsOf((resource) => source.get(resource) ?? []);
}

/** A copy in memory that remembers what it was given. */
export class MemoryCopy implements Sink {
  readonly records = new Map<Resource, Map<string, AnyRecord>>(resources.map((name) => [name, new Map()]));
  readonly batches: Pick<Batch, 'resource' | 'put' | 'remove'>[] = [];
  /** Records that were put although the copy had that very state. */
  readonly doubles: AnyRecord[] = [];
  state: SyncState | undefined;

  load(): SyncState | undefined {
    return this.state;
  }

  commit({ resource, clear, put, remove, state }: Batch): void {
    this.batches.push({ resource, put, remove });
    const records = this.records.get(resource);
    if (clear) records?.clear();
    for (const record of put) {
      if (JSON.stringify(records?.get(record.id)) === JSON.stringify(record)) this.doubles.push(record);
      records?.set(record.id, record);
    }
    for (const id of remove) records?.delete(id);
    // As a program would keep it.
    this.state = JSON.parse(JSON.stringify(state)) as SyncState;
  }

  contents(): Contents {
    return contentsOf((resource) => [...(this.records.get(resource)?.values() ?? [])]);
  }
}

/** The records of a SQLite copy, put together again from their columns. */
export function readSqliteCopy(path: string): Contents {
  const db = new Database(path, { readonly: true });
  const columns = readColumns();
  const contents = contentsOf((resource) => {
    const { required = [] } = contractDocument().components.schemas[schemaNames[resource].whole] ?? {};
    const rows = db.prepare(`SELECT * FROM "${resource}"`).all() as Record<string, unknown>[];
    return rows.map((row) => {
      const members = columns[resource].flatMap(({ name, holds }) => {
        const value = row[name];
        // A member that may be absent is never null, and JSON is a text.
        if (value === null) return required.includes(name) ? [[name, null]] : [];
        if (holds === 'json') return [[name, JSON.parse(value as string) as unknown]];
        return [[name, holds === 'boolean' ? value === 1 : value]];
      });
      return Object.fromEntries(members) as AnyRecord;
    });
  });
  db.close();
  return contents;
}

export function readJsonLinesCopy(folder: string): Contents {
  const { bytes } = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as {
    bytes: Partial<Record<Resource, number>>;
  };
  return contentsOf((resource) => {
    const file = join(folder, `${resource}.jsonl`);
    const text = existsSync(file)
      ? readFileSync(file)
          .subarray(0, bytes[resource] ?? 0)
          .toString()
      : '';
    const records = new Map<string, AnyRecord>();
    for (const line of text.split('\n').slice(0, -1)) {
      const { clear, put, remove } = JSON.parse(line) as { clear?: true; put?: AnyRecord; remove?: string };
      if (clear) records.clear();
      else if (put) records.set(put.id, put);
      else records.delete(remove ?? '');
    }
    return [...records.values()];
  });
}
