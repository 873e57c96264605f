import type { RecordOf, Resource, ResourceRecord } from '../../src/contract/records.ts';
import { generateCompany } from '../../src/demo/generate-company.ts';

export const now = new Date('2026-11-20T12:00:00.000Z');
export const nowText = now.toISOString();
export const todayText = nowText.slice(0, 10);

export type Company = { [R in Resource]: RecordOf[R][] };

export interface Generated {
  all: ResourceRecord[];
  company: Company;
}

/** A whole company in memory, as only a small one can be. */
export function generate(records: number, seed?: number): Generated {
  const all = [...generateCompany({ records, now, ...(seed === undefined ? {} : { seed }) })];
  const company: Company = {
    people: [],
    customers: [],
    forms: [],
    jobs: [],
    submissions: [],
    invoices: [],
    quotes: [],
  };
  // One union member's array takes that member's record; TypeScript cannot tell which.
  for (const { resource, record } of all) (company[resource] as unknown[]).push(record);
  return { all, company };
}

export function byId<Item extends { id: string }>(records: readonly Item[]): Map<string, Item> {
  return new Map(records.map((record) => [record.id, record]));
}

/** The record with that id; a company in which it is missing is no company. */
export function known<Item>(records: ReadonlyMap<string, Item>, id: string): Item {
  const found = records.get(id);
  if (found === undefined) throw new Error(`No record has the id ${id}.`);
  return found;
}
