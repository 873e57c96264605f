import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

import { applyChange } from '../../../src/server/backoffice/apply.ts';
import type { Backoffice } from '../../../src/server/backoffice/backoffice.ts';
import { Refusal } from '../../../src/server/backoffice/refusal.ts';
import type { Resource } from '../../../src/contract/records.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import type { Given } from './_backoffice.ts';
import { customerSave, formSave, jobCreate } from './_changes.ts';
import { invoiceDraft, issue, payment } from './_documents.ts';
import { quoteDraft } from './_issued.ts';

interface SyncedRecord {
  id: string;
}

type Sync = (
  path: string,
  checkpoint: string | undefined,
  save: (record: SyncedRecord) => void,
  extra: Record<string, string>,
) => Promise<string>;

/**
 * The very code that the contract gives integrators under "Staying in sync", bound to a server and a key. `extra` adds
 * parameters, because the lists of documents and quotes show less unless they are asked for all.
 */
export async function documentedSync(address: string, key: string, slackMs: number): Promise<Sync> {
  const file = new URL('../../../openapi.yaml', import.meta.url);
  const { info } = parse(readFileSync(file, 'utf8'), { merge: true }) as { info: { description: string } };
  const [code] = /async function sync\([\s\S]*?\n}\n/.exec(info.description) ?? [];
  if (code === undefined) throw new Error('openapi.yaml has no function sync any more.');
  const bound = [
    ['(path, checkpoint, save)', '(path, checkpoint, save, extra)'],
    ["{ limit: '100' }", "{ limit: '100', ...extra }"],
    ['https://api.fieldledger.example', address],
    ['process.env.API_KEY', JSON.stringify(key)],
    ['60_000', String(slackMs)],
  ].reduce((text, [from = '', to = '']) => {
    if (!text.includes(from)) throw new Error(`The documented code has no ${from} any more.`);
    return text.replace(from, to.replaceAll('$', '$$$$'));
  }, code);
  const module = `data:text/javascript,${encodeURIComponent(`export ${bound}`)}`;
  const { sync } = (await import(module)) as { sync: Sync };
  return sync;
}

/** The lists that `updatedSince` keeps in step, and where their records are stored. */
const lists: { resource: Resource; path: string; extra: Record<string, string> }[] = [
  { resource: 'jobs', path: '/api/v1/jobs', extra: {} },
  { resource: 'customers', path: '/api/v1/customers', extra: {} },
  { resource: 'forms', path: '/api/v1/forms', extra: {} },
  { resource: 'submissions', path: '/api/v1/forms/frm/submissions', extra: {} },
  { resource: 'invoices', path: '/api/v1/invoices', extra: { status: 'all' } },
  { resource: 'quotes', path: '/api/v1/quotes', extra: { versions: 'all' } },
];

/** A reader's copy of a company. */
export class Copy {
  readonly #sync: Sync;
  readonly #checkpoints = new Map<Resource, string>();
  readonly #records = new Map<Resource, Map<string, SyncedRecord>>();

  constructor(sync: Sync) {
    this.#sync = sync;
  }

  /** Reads once what has changed in each list. */
  async update(): Promise<void> {
    for (const { resource, path, extra } of lists) {
      const records = this.#records.get(resource) ?? new Map<string, SyncedRecord>();
      this.#records.set(resource, records);
      const save = (record: SyncedRecord) => void records.set(record.id, record);
      const checkpoint = await this.#sync(path, this.#checkpoints.get(resource), save, extra);
      this.#checkpoints.set(resource, checkpoint);
    }
  }

  /** The records of the copy, in the form of `sourceOf`. */
  contents(): Record<string, unknown[]> {
    const sorted = (records: Map<string, SyncedRecord> | undefined) =>
      [...(records ?? new Map<string, SyncedRecord>()).values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    return Object.fromEntries(lists.map(({ resource }) => [resource, sorted(this.#records.get(resource))]));
  }
}

/** The records in a company's tables. */
export async function sourceOf(engine: Engine, company: string): Promise<Record<string, unknown[]>> {
  const contents: Record<string, unknown[]> = {};
  for (const { resource } of lists) {
    const query = engine.db.selectFrom(resource).select('body').where('company', '=', company);
    const rows = await query.orderBy('id').execute();
    contents[resource] = rows.map(({ body }) => JSON.parse(body) as unknown);
  }
  return contents;
}

/** A source of chance that gives the same numbers for the same seed. */
export function createDice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    // Numerical Recipes' generator; its upper bits are good enough for a test.
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

/** Makes moves of one company until it has made so many; what is refused is made up for by another. */
export async function write(
  backoffice: Backoffice,
  company: string,
  count: number,
  seed: number,
): Promise<void> {
  const roll = createDice(seed);
  const writer = `w${seed}`;
  const ids: Ids = { jobs: [], drafts: [], invoices: [], quotes: [] };
  const pick = (list: readonly string[]) => list[roll(list.length)] ?? 'none';
  let made = 0;
  while (made < count) {
    const [change, list] = changesOf(writer, made, ids, pick)[roll(10)] ?? [];
    if (!change) throw new Error('There are ten changes to choose from.');
    try {
      const outcome = await applyChange(backoffice, { company, ...change });
      if (outcome.status === 'applied') list?.push((JSON.parse(outcome.record ?? '{}') as SyncedRecord).id);
      made += 1;
    } catch (error) {
      // Chance picks what can't be moved now and then: a completed job, an issued draft, or nothing.
      if (!(error instanceof Refusal)) throw error;
    }
  }
}

type Ids = Record<'jobs' | 'drafts' | 'invoices' | 'quotes', string[]>;

/** Ten changes, with the list that the id of a new record goes to. */
function changesOf(
  writer: string,
  step: number,
  ids: Ids,
  pick: (list: readonly string[]) => string,
): [change: Given, list?: string[]][] {
  const title = `Change ${step} of ${writer}`;
  const invoice = { id: pick(ids.invoices), currency: 'EUR' };
  const [drafted, issued] = [invoiceDraft({ customerId: writer }), issue(pick(ids.drafts))];
  return [
    [customerSave({ id: writer, name: title })],
    [jobCreate({ title, customerId: writer }), ids.jobs],
    [{ change: 'job.update', with: { id: pick(ids.jobs), title } }],
    [{ change: 'job.complete', with: { id: pick(ids.jobs) } }],
    [formSave({ id: writer, title })],
    [{ change: 'form.submit', with: { formId: 'frm', submittedBy: 'per_1' } }],
    [drafted, ids.drafts],
    [issued, ids.invoices],
    [payment(invoice, { amountMinor: 100 })],
    [quoteDraft({ customerId: writer, title }), ids.quotes],
  ];
}
