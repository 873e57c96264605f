import { existsSync } from 'node:fs';

import { Command } from 'commander';

import { type Config, readConfig } from '../process/config.ts';
import { restoreBackup } from '../store/backup/restore.ts';
import { keyFileOf, refuseOtherThanKey } from '../features/webhooks/secret-key.ts';
import { addressInShell, inShell, MEGABYTE, sizeText, sqlitePathOf } from './backup.ts';
import { showProgress, withProgress } from '../../command-line/progress.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/** Builds `fieldledger restore`, which restores a backup to the configured path of the SQLite database. */
export function restoreCommand(terminal: Terminal): Command {
  return new Command('restore')
    .description('restore a backup to where the database belongs; no file may be there')
    .argument('<file>', 'the backup; if FILE-secret-key exists, it is restored too')
    .action(async (file: string) => {
      const config = readConfig(terminal.environment);
      const path = sqlitePathOf(config, restoreOfPostgres(config, file));
      const keyFile = keyFileOf(config);
      const keyCopy = `${file}-secret-key`;
      const key = keyFile !== undefined && existsSync(keyCopy) ? { from: keyCopy, to: keyFile } : undefined;
      if (key) refuseOtherThanKey(key.from);
      const startedAt = performance.now();
      const { byteCount } = await withProgress(showProgress('MB', MEGABYTE), (bar, signal) =>
        restoreBackup(file, path, { signal, onProgress: bar.update, key }),
      );
      const seconds = Math.round(performance.now() - startedAt) / 1000;
      const secretKey = keyFile !== undefined && existsSync(keyFile) ? keyFile : null;
      const keyNote =
        secretKey === null && config.webhookSecretKey === undefined
          ? `\nThe key of its signing secrets isn't here: where it has webhooks or second factors, put the key at ${keyFile ?? ''}, or set WEBHOOK_SECRET_KEY.`
          : '';
      terminal.show(
        { file, byteCount, seconds, secretKey },
        `${path} is restored from ${file}: ${sizeText(byteCount)}, checked, in ${seconds.toFixed(1)} s.${keyNote}`,
      );
    });
}

function restoreOfPostgres(config: Config, file: string): string {
  return `PostgreSQL has tools of its own. Into an empty database, as the role that owns it, run: pg_restore --single-transaction --dbname=${addressInShell(config)} ${inShell(file)} (it asks for the password, or takes it from ~/.pgpass), and set WEBHOOK_SECRET_KEY as it was.`;
}
