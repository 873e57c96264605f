import { Command } from 'commander';

import { getNumbering, type KindNumbering, setNumbering } from '../backoffice/numbering.ts';
import { COMPANY, integerIn } from '../cli/arguments.ts';
import { withDatabase } from '../cli/database.ts';
import { textTable } from '../cli/table.ts';
import type { Terminal } from '../../command-line/terminal.ts';

const LAST_MAX = 999_999_998;

/** `fieldledger numbering show|set`. */
export function numberingCommand(terminal: Terminal): Command {
  const command = new Command('numbering').description("how a company's documents are numbered");
  const show = (numbering: KindNumbering[]) => terminal.show(numbering, tableOf(numbering));
  command
    .command('show')
    .description('show the formats, and the numbers that come next')
    .argument(...COMPANY)
    .action(async (company: string) => {
      await withDatabase(terminal, async (engine) => show(await getNumbering(engine, company, new Date())));
    });
  command
    .command('set')
    .description('set the format of a kind of document, or go on with the numbers of an earlier system')
    .argument(...COMPANY)
    .argument('<kind>', 'invoice, credit_note, pro_forma or quote')
    .option('--format <format>', 'such as INV-{year}-{number:4}; with {year} it begins anew each year')
    .option(
      '--last <number>',
      'the last number of this series that was given out elsewhere',
      integerIn(0, LAST_MAX),
    )
    .action(async (company: string, kind: string, options: { format?: string; last?: number }) => {
      await withDatabase(terminal, async (engine) =>
        show(await setNumbering(engine, company, { kind, ...options, now: new Date() })),
      );
    });
  return command;
}

function tableOf(numbering: readonly KindNumbering[]): string {
  const rows = numbering.map(({ kind, format, next }) => [kind, format, next]);
  return textTable(['kind', 'format', 'next'], rows, '');
}
