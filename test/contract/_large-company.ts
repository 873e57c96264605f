import type { Invoice, ResourceRecord } from '../../src/contract/records.ts';
import { renderRecord } from '../../src/contract/render.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';
import { exampleRecords, putRecords } from '../_records.ts';

const DAY_MS = 86_400_000;
/** The example company has three forms, so that each list has more records than its longest page. */
const COPIES = 35;

/**
 * Gives a company the example company's records many times over, each copy a day older than the one before, and a draft
 * of each kind of document. So times don't follow the order of the ids. What names a customer, a job, a person or a form
 * names the first copy's, so that filters leave long lists.
 */
export async function fillLargeCompany(engine: Engine, company: string): Promise<void> {
  const examples = exampleRecords();
  const copies = Array.from({ length: COPIES }, (_, copy) => examples.map((record) => copied(record, copy)));
  const records = [...copies.flat(), ...examples.flatMap(drafted)];
  await putRecords(engine, company, records.map(renderRecord));
}

function copied(resourceRecord: ResourceRecord, copy: number): ResourceRecord {
  if (copy === 0) return resourceRecord;
  const { id } = resourceRecord.record;
  const uuidEnd = copy.toString(16).padStart(3, '0');
  const text = JSON.stringify(resourceRecord)
    .replaceAll(/([0-9a-f]{8}-[0-9a-f-]{24})[0-9a-f]{3}/g, `$1${uuidEnd}`)
    .replaceAll(`"id":"${id}"`, `"id":"${id}.${copy}"`)
    .replaceAll(/(?<="(?:INV|CN|PF|Q)-2026-)(?=\d{4}")/g, String(copy))
    .replaceAll(/"(\d{4}-\d{2}-\d{2})(?=["T])/g, (_all, day: string) => `"${daysBefore(day, copy)}`);
  // Only ids, numbers and days have changed, into others of their form.
  return JSON.parse(text) as ResourceRecord;
}

function daysBefore(day: string, count: number): string {
  return new Date(Date.parse(day) - count * DAY_MS).toISOString().slice(0, 10);
}

/** A draft of the same kind; the example company has one of an invoice only. */
function drafted({ resource, record }: ResourceRecord): ResourceRecord[] {
  if (resource !== 'invoices' || record.status === 'draft' || record.kind === 'invoice') return [];
  const id = record.id.replace(/...$/, 'fff');
  const draft: Invoice = { ...record, id, status: 'draft', number: null, issueDate: null, issuedAt: null };
  const links = { self: `/api/v1/invoices/${id}`, pdf: `/api/v1/invoices/${id}/pdf` };
  return [{ resource, record: { ...draft, links } }];
}
