import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { NewJob } from '../../../src/contract/feed.ts';
import { openEngine } from '../../../src/server/store/engines/open-engine.ts';
import { openWorkplace, type Outcome, type Workplace } from '../../_command.ts';
import type { EngineName } from '../../_server.ts';
import { customerSave, jobCreate, personSave } from '../backoffice/_changes.ts';
import { answersIn, feedOf, inShort } from '../backoffice/_feed.ts';

/** A workplace with the company `acme` and what the jobs below refer to. */
export async function openAcme(engine: EngineName = 'sqlite'): Promise<Workplace> {
  const workplace = await openWorkplace(engine);
  await workplace.json('company create acme --api --invoicing');
  await apply(workplace, STAFF);
  return workplace;
}

/** Applies changes, each of which has to be taken. */
export async function apply(workplace: Workplace, changes: object[]): Promise<void> {
  const { exitCode, stdout } = await workplace.call(`apply ${fileOf(workplace, feedOf(changes))}`);
  if (exitCode !== 0) throw new Error(stdout);
}

/** What the jobs below refer to, as changes. */
export const STAFF = [personSave({ id: 'per_1' }), customerSave({ id: 'cus_1' })].map((change, index) => ({
  id: `staff ${index}`,
  company: 'acme',
  ...change,
}));

export function job(number: number, given: Partial<NewJob> = {}): object {
  return { id: `change ${number}`, company: 'acme', ...jobCreate({ id: `job_${number}`, ...given }) };
}

export function jobs(count: number, from = 1, given: Partial<NewJob> = {}): object[] {
  return Array.from({ length: count }, (_, index) => job(from + index, given));
}

/** Writes a feed into the workplace. */
export function fileOf({ folder }: Workplace, feed: string | Buffer): string {
  const path = join(folder, 'feed.jsonl');
  writeFileSync(path, feed);
  return path;
}

export async function countJobs({ databaseUrl }: Workplace): Promise<number> {
  await using engine = await openEngine(databaseUrl);
  const [row] = await engine.run('SELECT COUNT(*) AS jobs FROM jobs');
  return Number(row?.jobs);
}

/** The answers that a command has printed, in short; each is checked against feed.yaml. */
export function shortAnswers(stdout: string): string[] {
  return answersIn(stdout).map(inShort);
}

/** The summary of a run with `--json`, without the time that it took. */
export function summaryIn({ stderr }: Pick<Outcome, 'stderr'>): Record<string, unknown> {
  const { seconds, ...summary } = JSON.parse(stderr) as Record<string, unknown>;
  if (typeof seconds !== 'number') throw new Error(stderr);
  return summary;
}
