/** A workplace with a store that a backup takes a moment for, and what is looked at after one. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import Database from 'better-sqlite3';

import { openWorkplace, type Workplace } from '../../_command.ts';

/** Bytes that make the store larger than its records do. */
const BALLAST_BYTES = 20_000_000;

export type BackupPlace = Workplace & {
  path: string;
  /** The backup's. */
  file: string;
};

/** A workplace with the example company and a larger logo than any. */
export async function openBackupPlace({ ballastBytes = BALLAST_BYTES } = {}): Promise<BackupPlace> {
  const workplace = await openWorkplace('sqlite', { contents: 'example' });
  const path = workplace.databaseUrl.slice('sqlite:'.length);
  const database = new Database(path);
  database
    .prepare("INSERT INTO logos (company, sha256, data_url) VALUES ('brennan', 'ballast', ?)")
    .run('x'.repeat(ballastBytes));
  database.close();
  return { ...workplace, path, file: join(workplace.folder, 'backup.db') };
}

/** A change of a customer of the example company, as a line of a feed. */
export function changeLine(number: number): string {
  const customer = { id: `cus-${number}`, name: `Customer ${number}`, addressLines: ['1 Quay Street'] };
  const more = { countryCode: 'IE', currency: 'EUR', paymentTermsDays: 30 };
  const change = { id: `c-${number}`, company: 'brennan', change: 'customer.save' };
  return `${JSON.stringify({ ...change, with: { ...customer, ...more } })}\n`;
}

export function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** The files that a backup or a restore has begun beside a place, and not ended. */
export function unfinishedBeside(place: string): string[] {
  return readdirSync(dirname(place)).filter((name) => name.startsWith(`${basename(place)}.unfinished-`));
}

/** The files in a folder, without the log and the locks of a database. */
export function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !/-(?:wal|shm|serving)$/.test(name))
    .sort();
}
