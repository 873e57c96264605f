import { Command } from 'commander';

import { contractVersion } from '../../contract/document.ts';
import { planForDatabase, withDatabase } from './database.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/**
 * `fieldledger migrate`: brings the database's schema and records up to date; every other command does the same first.
 * With `--check` it only says what it would do.
 */
export function migrateCommand(terminal: Terminal): Command {
  return new Command('migrate')
    .description('bring the database up to date')
    .option('--check', 'say what would be done, and change nothing')
    .action(async ({ check }: { check?: boolean }) => {
      if (check) return showPlan(terminal);
      await withDatabase(
        terminal,
        async (_engine, _config, { applied, rendered }) => {
          const done = [
            ...(applied.length > 0 ? [`Applied ${applied.join(', ')}.`] : []),
            ...(rendered > 0 ? [`Rendered ${count(rendered)} anew by ${contract()}.`] : []),
          ];
          terminal.show({ applied, rendered }, done.join('\n') || 'The database is up to date.');
        },
        { mayCreate: true },
      );
    });
}

async function showPlan(terminal: Terminal): Promise<void> {
  const { migrations, outdated } = await planForDatabase(terminal);
  const render = outdated
    .filter(({ records }) => records > 0)
    .map(({ resource, records }) => ({ resource, records }));
  const kinds = render.map(({ resource, records }) => `${records.toLocaleString('en')} ${resource}`);
  const todo = [
    ...(migrations.length > 0 ? [`Would apply ${migrations.join(', ')}.`] : []),
    ...(kinds.length > 0 ? [`Would render anew by ${contract()}: ${kinds.join(', ')}.`] : []),
  ];
  terminal.show({ migrations, render }, todo.join('\n') || 'Nothing to do: the database is up to date.');
}

function count(records: number): string {
  return `${records.toLocaleString('en')} ${records === 1 ? 'record' : 'records'}`;
}

function contract(): string {
  return `the contract ${contractVersion()}`;
}
