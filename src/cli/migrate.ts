import { Command } from 'commander';

import { withDatabase } from './database.ts';
import type { Terminal } from './terminal.ts';

/** `fieldledger migrate`: brings the database's schema up to date; every other command does the same first. */
export function migrateCommand(terminal: Terminal): Command {
  return new Command('migrate').description('bring the database up to date').action(async () => {
    await withDatabase(
      terminal,
      async (_engine, _config, applied) => {
        const prose = applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`;
        terminal.show({ applied }, prose);
      },
      { mayCreate: true },
    );
  });
}
