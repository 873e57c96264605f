import { existsSync } from 'node:fs';

import { Command } from 'commander';

import { UsageError } from '../../errors.ts';
import { parseDatabaseUrl, withoutPasswords } from '../process/setting-values.ts';
import { copyStore } from '../store/copy/copy.ts';
import type { Engine } from '../store/engines/engine.ts';
import { openEngine } from '../store/engines/open-engine.ts';
import { lockServing } from '../store/engines/serving-lock.ts';
import { keyFileOf } from '../features/webhooks/secret-key.ts';
import { withDatabaseName } from '../cli/database.ts';
import { showSteps, withProgress } from '../../command-line/progress.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/** Builds `fieldledger copy`, which copies a store to another database, mostly from SQLite to PostgreSQL. */
export function copyCommand(terminal: Terminal): Command {
  return new Command('copy')
    .description('copy the whole store into an empty database, of either engine, and compare the two')
    .requiredOption('--from <url>', 'sqlite:PATH or postgres://USER@HOST:PORT/NAME')
    .requiredOption('--to <url>', 'the same; PostgreSQL takes passwords from ~/.pgpass or PGPASSWORD')
    .action(async ({ from, to }: { from: string; to: string }) => {
      refuseAddress('--from', from);
      refuseAddress('--to', to);
      if (from === to) throw new UsageError(`--from and --to are the same database: ${from}.`);
      if (from.startsWith('sqlite:') && !existsSync(from.slice('sqlite:'.length)))
        throw new UsageError(`There is no database ${from}.`);
      const startedAt = performance.now();
      await using opened = new AsyncDisposableStack();
      const source = opened.use(await openNamed(from));
      const target = opened.use(await openNamed(to));
      for (const url of [from, to]) opened.use(lockServing(url));
      const { rowCount } = await withProgress(showSteps('rows'), (bars, signal) =>
        copyStore(source, target, { signal, onProgress: bars.update }),
      ).catch((error: unknown) => {
        throw withDatabaseName(error, to);
      });
      const seconds = Math.round(performance.now() - startedAt) / 1000;
      terminal.show(
        { rowCount, seconds },
        `${to} is a copy of ${from}: ${rowCount.toLocaleString('en')} rows, compared, in ${seconds.toFixed(1)} s.\n${keySentence(from, to)}`,
      );
    });
}

/** @throws UsageError when `text` isn't a database URL, or has a password, which other users could see. */
function refuseAddress(option: string, text: string): void {
  try {
    parseDatabaseUrl(text);
  } catch (error) {
    throw new UsageError(`${option} must be ${(error as Error).message}.`);
  }
  if (withoutPasswords(text).includes('***'))
    throw new UsageError(
      `${option} must be without a password: PostgreSQL takes it from ~/.pgpass or PGPASSWORD.`,
    );
}

/** Opens a database without a statement time limit, because a batch of large rows can take a long time. */
async function openNamed(url: string): Promise<Engine> {
  let engine: Engine | undefined;
  try {
    engine = await openEngine(url, { poolMax: 1, statementMsMax: 0 });
    await engine.run('SELECT 1');
    return engine;
  } catch (error) {
    await engine?.[Symbol.asyncDispose]();
    throw withDatabaseName(error, url);
  }
}

function keySentence(from: string, to: string): string {
  const keyFile = keyFileOf({ databaseUrl: from });
  if (keyFile === undefined || !existsSync(keyFile))
    return 'Signing secrets of webhooks stay encrypted with the same WEBHOOK_SECRET_KEY.';
  const place = keyFileOf({ databaseUrl: to });
  const where = place === undefined ? 'name it by WEBHOOK_SECRET_KEY_FILE' : `put it at ${place}`;
  return `Signing secrets of webhooks stay encrypted with the key in ${keyFile}: ${where}.`;
}
