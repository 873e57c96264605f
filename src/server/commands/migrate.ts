import { Command, Option } from 'commander';

import { contractVersion } from '../../contract/document.ts';
import { planForDatabase, withDatabase } from '../cli/database.ts';
import { distribute, distribution } from '../store/distribute.ts';
import { openEngine } from '../store/engines/open-engine.ts';
import type { Terminal } from '../../command-line/terminal.ts';

/**
 * Builds `fieldledger migrate`, which brings the database up to date, as every other command also does before its own work.
 * With `--check` it only prints what it would do. With `--distribute` it also spreads the tables over the machines of Citus.
 */
export function migrateCommand(terminal: Terminal): Command {
  return new Command('migrate')
    .description('bring the database up to date')
    .option('--check', 'say what would be done, and change nothing')
    .addOption(
      new Option('--distribute', "spread the tables over Citus's machines by company").conflicts([
        'check',
        'printDistribution',
      ]),
    )
    .option('--print-distribution', 'print the statements of --distribute, and change nothing')
    .action(async ({ check, distribute: isSpread, printDistribution }: Options) => {
      if (printDistribution) {
        const statements = distribution();
        terminal.show({ statements }, statements.map((statement) => `${statement};`).join('\n'));
        return;
      }
      if (check) return showPlan(terminal);
      await withDatabase(
        terminal,
        async (_engine, { databaseUrl }, { applied, rendered }) => {
          const spread = isSpread ? await distributeAt(databaseUrl) : [];
          const done = [
            ...(applied.length > 0 ? [`Applied ${applied.join(', ')}.`] : []),
            ...(rendered > 0 ? [`Rendered ${count(rendered)} again by ${contract()}.`] : []),
            ...(spread.length > 0
              ? [`Spread ${spread.length} tables over the machines: start all servers and workers again.`]
              : []),
          ];
          terminal.show(
            { applied, rendered, ...(isSpread ? { spread } : {}) },
            done.join('\n') || 'The database is up to date.',
          );
        },
        { mayCreate: true },
      );
    });
}

interface Options {
  check?: boolean;
  distribute?: boolean;
  printDistribution?: boolean;
}

/** Spreads the tables over Citus machines, without a time limit: moving the rows of large tables can take a long time. */
async function distributeAt(databaseUrl: string): Promise<string[]> {
  await using engine = await openEngine(databaseUrl, { poolMax: 1, statementMsMax: 0 });
  return await distribute(engine);
}

async function showPlan(terminal: Terminal): Promise<void> {
  const { migrations, outdated } = await planForDatabase(terminal);
  const render = outdated
    .filter(({ records }) => records > 0)
    .map(({ resource, records }) => ({ resource, records }));
  const kinds = render.map(({ resource, records }) => `${records.toLocaleString('en')} ${resource}`);
  const todo = [
    ...(migrations.length > 0 ? [`Would apply ${migrations.join(', ')}.`] : []),
    ...(kinds.length > 0 ? [`Would render again by ${contract()}: ${kinds.join(', ')}.`] : []),
  ];
  terminal.show({ migrations, render }, todo.join('\n') || 'Nothing to do: the database is up to date.');
}

function count(records: number): string {
  return `${records.toLocaleString('en')} ${records === 1 ? 'record' : 'records'}`;
}

function contract(): string {
  return `the contract ${contractVersion()}`;
}
