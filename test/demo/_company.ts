import { readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';

import { createCompany } from '../../src/server/backoffice/companies.ts';
import { type RecordOf, type Resource, type ResourceRecord, resources } from '../../src/contract/records.ts';
import { generateCompany, generatedProfile } from '../../src/demo/generate-company.ts';
import { openStory, type StoryChange } from '../../src/demo/story.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';
import { keptFile } from '../_migrated.ts';
import { openTestDatabase, STORY_NOW } from '../_server.ts';

export const nowText = STORY_NOW.toISOString();
export const todayText = nowText.slice(0, 10);

export type Company = { [R in Resource]: RecordOf[R][] };

export interface Generated {
  changes: StoryChange[];
  /** The records that the changes come to, those of a resource in the order of their making. */
  all: ResourceRecord[];
  company: Company;
}

const COMPANY = 'demo';

/** A company of 2,000 records, which is made once for all files. */
export async function generatedCompany(): Promise<Generated> {
  const path = await keptFile('generated', ['src', 'generated', 'test/demo'], async (draft) =>
    writeFileSync(draft, serialize(await generate(2_000))),
  );
  // Nothing else has written it.
  return deserialize(readFileSync(path)) as Generated;
}

/** A whole company in memory, as only a small one can be. */
export async function generate(records: number, seed?: number): Promise<Generated> {
  const options = { company: COMPANY, records, now: STORY_NOW, ...(seed === undefined ? {} : { seed }) };
  const changes = [...generateCompany(options)].map(({ change }) => change);
  await using database = await openTestDatabase('sqlite');
  const { engine } = database;
  await createCompany(engine, COMPANY, { profile: generatedProfile }, STORY_NOW);
  await openStory(engine)(changes);
  const all = await readRecords(engine);
  const company = Object.fromEntries(resources.map((resource) => [resource, []])) as unknown as Company;
  // One union member's array takes that member's record; TypeScript cannot tell which.
  for (const { resource, record } of all) (company[resource] as unknown[]).push(record);
  return { changes, all, company };
}

async function readRecords(engine: Engine): Promise<ResourceRecord[]> {
  const all: ResourceRecord[] = [];
  for (const resource of resources) {
    const rows = (await engine.run(`SELECT * FROM ${resource} ORDER BY rowid`)) as {
      body: string;
      detail?: string;
    }[];
    for (const { body, detail = '{}' } of rows) {
      const record = { ...(JSON.parse(body) as object), ...(JSON.parse(detail) as object) };
      // Each stored text was rendered from a record of this resource.
      all.push({ resource, record } as ResourceRecord);
    }
  }
  return all;
}

export function byId<Item extends { id: string }>(records: readonly Item[]): Map<string, Item> {
  return new Map(records.map((record) => [record.id, record]));
}
