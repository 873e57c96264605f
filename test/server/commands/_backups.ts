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
  execute(path, `INSERT INTO logos VALUES ('brennan', 'ballast', '${'x'.repeat(ballastBytes)}')`);
  return { ...workplace, path, file: join(workplace.folder, 'backup.db') };
}

/** A change of a customer of the example company, as a line of a feed. */
export function changeLine(number: number): string {
  const customer = { id: `cus-${number}`, name: `Customer ${number}`, addressLines: ['1 Quay Street'] };
  const more = { countryCode: 'IE', currency: 'EUR', paymentTermsDays: 30 };
  const change = { id: `c-${number}`, company: 'brennan', change: 'customer.save' };
  return `${JSON.stringify({ ...change, with: { ...customer, ...more } })}\n`;
}

/** Changes a database behind the program's back, even its schema. */
export function execute(file: string, statements: string): void {
  const database = new Database(file);
  database.unsafeMode();
  database.exec(statements);
  database.close();
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
