import { existsSync } from 'node:fs';

import { Command } from 'commander';

import { type Config, readConfig } from '../process/config.ts';
import { UsageError } from '../../errors.ts';
import { withoutPasswords } from '../process/setting-values.ts';
import { backUp } from '../store/backup/backup.ts';
import { copyPrivately } from '../store/backup/restore.ts';
import { openEngine } from '../store/engines/open-engine.ts';
import { keyFileOf, namesOfKeys, refuseOtherThanKey } from '../features/webhooks/secret-key.ts';
import { showProgress, withProgress } from '../../command-line/progress.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/** Bytes in a megabyte, the unit of displayed sizes. */
export const MEGABYTE = 1_000_000;

/** Builds `fieldledger backup`, which copies a SQLite database into one file while it is in use. */
export function backupCommand(terminal: Terminal): Command {
  return new Command('backup')
    .description('copy the database into one file, while it is used, and check the copy')
    .argument('<file>', 'the backup; one that exists is replaced once the new one is complete')
    .option('--with-secret-key', 'also copy the key of the signing secrets, to FILE-secret-key')
    .action(async (file: string, { withSecretKey = false }: { withSecretKey?: boolean }) => {
      const config = readConfig(terminal.environment);
      const path = sqlitePathOf(config, backupOfPostgres(config, file));
      const used = await keysInUse(path, config);
      const keyFile = keyFileOf(config) ?? '';
      const secretKeyCopy = withSecretKey ? `${file}-secret-key` : null;
      if (secretKeyCopy !== null) checkKeyCopy(config, { keyFile, copy: secretKeyCopy, used });
      const startedAt = performance.now();
      const { byteCount } = await withProgress(showProgress('MB', MEGABYTE), (bar, signal) =>
        backUp(path, file, { signal, onProgress: bar.update }),
      );
      if (secretKeyCopy !== null) copyPrivately(keyFile, secretKeyCopy);
      const seconds = Math.round(performance.now() - startedAt) / 1000;
      const secretKey = existsSync(keyFile) ? keyFile : null;
      terminal.show(
        { file, byteCount, seconds, secretKey, secretKeyCopy },
        `${file} is a backup of ${path}: ${sizeText(byteCount)}, checked, in ${seconds.toFixed(1)} s.\n${keySentence(used, secretKeyCopy)}`,
      );
    });
}

/**
 * Returns the path of the configured SQLite database.
 * @param otherwise the error message for PostgreSQL.
 * @throws UsageError when the database is PostgreSQL.
 */
export function sqlitePathOf({ databaseUrl }: Config, otherwise: string): string {
  if (databaseUrl.startsWith('sqlite:')) return databaseUrl.slice('sqlite:'.length);
  throw new UsageError(otherwise);
}

/** Formats a size in megabytes, to one decimal place. */
export function sizeText(byteCount: number): string {
  return `${(byteCount / MEGABYTE).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
}

function backupOfPostgres(config: Config, file: string): string {
  return `PostgreSQL has tools of its own. Run: pg_dump --format=custom --exclude-table-data=store_generation --file=${inShell(file)} ${addressInShell(config)} (it asks for the password, or takes it from ~/.pgpass), and keep WEBHOOK_SECRET_KEY in another place.`;
}

/** Returns PostgreSQL's direct URL without its password, quoted for a shell, for PostgreSQL's own tools. */
export function addressInShell({ databaseUrl, databaseDirectUrl = databaseUrl }: Config): string {
  // libpq doesn't know the driver's `no-verify`; it means `require`.
  return inShell(withoutPasswords(databaseDirectUrl, '').replace('sslmode=no-verify', 'sslmode=require'));
}

/** Quotes a text as one word of a shell command. */
export function inShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Names the settings or files with the keys that encrypt the stored signing secrets. */
async function keysInUse(path: string, config: Config): Promise<string[]> {
  if (!existsSync(path)) return [];
  try {
    await using engine = await openEngine(config.databaseUrl);
    return await namesOfKeys(engine, config);
  } catch {
    // The backup itself refuses an unreadable database, and says why.
    return [];
  }
}

/** @throws UsageError when there is no key file to copy, or the file copied from or to holds anything but a key. */
function checkKeyCopy(
  { webhookSecretKey }: Config,
  { keyFile, copy, used }: { keyFile: string; copy: string; used: readonly string[] },
): void {
  if (!existsSync(keyFile)) {
    const missing = used.length > 0 ? 'it is missing' : 'none has been made yet';
    const reason = webhookSecretKey ? 'WEBHOOK_SECRET_KEY holds it' : missing;
    throw new UsageError(`There is no key file ${keyFile} to copy: ${reason}.`);
  }
  for (const file of [keyFile, copy]) refuseOtherThanKey(file);
}

function keySentence(used: readonly string[], copy: string | null): string {
  if (copy !== null)
    return `${copy} is the key of the signing secrets: anyone with both files can sign as you, so keep them apart.`;
  return used.length === 0
    ? 'There is no key of signing secrets yet.'
    : `The key of the signing secrets, ${used.join(' and ')}, is left out: keep it in another place.`;
}
