import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { type CompanySettings, createCompany } from '../server/backoffice/companies.ts';
import { createKey, listKeys } from '../server/features/keys/keys.ts';
import { scopes } from '../contract/scopes.ts';
import { findCompanyRow } from '../server/store/records/companies.ts';
import type { Engine } from '../server/store/engines/engine.ts';
import { exampleChanges } from './example-changes.ts';
import { exampleCompany } from './example-company.ts';
import { openStory, type StoryChange } from './story.ts';

const BATCH_CHANGES = 500;
/** The demo's last day: the same one always, so that the same number of records gives the same company. */
const STORY_NOW = new Date('2026-11-20T12:00:00.000Z');

/** Makes the example company, unless it is there already. @returns whether it was made now. */
export async function loadExampleCompany(engine: Engine): Promise<boolean> {
  const { id, ...settings } = exampleCompany;
  if (await isLoaded(engine, id)) return false;
  await beginCompany(engine, id, settings);
  await openStory(engine)(exampleChanges());
  return true;
}

/** A company's key is made last, so one without any was broken off; told again, its story goes on where it was. */
async function isLoaded(engine: Engine, id: string): Promise<boolean> {
  return (await findCompanyRow(engine, id)) !== undefined && (await listKeys(engine, id)).length > 0;
}

async function beginCompany(engine: Engine, id: string, settings: Partial<CompanySettings>): Promise<void> {
  try {
    await createCompany(engine, id, settings, STORY_NOW);
  } catch (error) {
    // Begun before, or by another process at this moment, which then makes the same changes.
    if (!(await findCompanyRow(engine, id))) throw error;
  }
}

/**
 * Makes a larger company of generated records, unless it is there already.
 * @param onProgress is told how many records are stored so far.
 * @returns the company's id, and whether it was made now.
 */
export async function loadGeneratedCompany(
  engine: Engine,
  recordCount: number,
  onProgress: (stored: number) => void,
): Promise<{ id: string; isNew: boolean }> {
  const id = `demo-${recordCount}`;
  if (await isLoaded(engine, id)) return { id, isNew: false };
  // Loaded here, because a start without a larger demo should not wait for it.
  const { generateCompany, generatedProfile } = await import('./generate-company.ts');
  await beginCompany(engine, id, { name: `Demo of ${recordCount} records`, profile: generatedProfile });
  const tell = openStory(engine);
  let batch: StoryChange[] = [];
  for (const { change, records } of generateCompany({ company: id, records: recordCount, now: STORY_NOW })) {
    batch.push(change);
    if (batch.length < BATCH_CHANGES) continue;
    await tell(batch);
    batch = [];
    onProgress(records);
  }
  await tell(batch);
  onProgress(recordCount);
  return { id, isNew: true };
}

/**
 * A working key of a demo company: the one in the file while it is active, or else a new one, which is written there.
 * The file keeps a secret, so only its owner can read it.
 */
export async function demoKey(
  engine: Engine,
  options: { prefix: string; company: string; file: string },
): Promise<string> {
  const { prefix, company, file } = options;
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  const active = (await listKeys(engine, company)).filter(({ revokedAt }) => revokedAt === null);
  if (active.some(({ id }) => kept.startsWith(`${prefix}.${company}.${id}.`))) return kept;
  const { key } = await createKey(engine, { prefix, company, name: 'Demo', scopes, now: new Date() });
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${key}\n`, { mode: 0o600 });
  return key;
}
