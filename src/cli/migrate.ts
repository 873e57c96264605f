import { Command } from 'commander';

import { readConfig } from '../config.ts';
import { openEngine } from '../store/engine.ts';
import { migrate } from '../store/migrate.ts';
import type { Terminal } from './terminal.ts';

/** `fieldledger migrate`: brings the database's schema up to date; `serve` does the same when it starts. */
export function migrateCommand(terminal: Terminal): Command {
  return new Command('migrate').description('bring the database up to date').action(async () => {
    const config = readConfig(terminal.environment);
    await using engine = await openEngine(config.databaseUrl, { poolMax: config.databasePoolMax });
    const applied = await migrate(engine);
    const prose = applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`;
    terminal.show({ applied }, prose);
  });
}
