import type { Command } from 'commander';

import { getNumbering, type KindNumbering, setNumbering } from '../backoffice/numbering.ts';
import { COMPANY, integerIn } from '../cli/arguments.ts';
import { DatabaseCommand } from '../cli/database-command.ts';
import { type Columns, textTable } from '../cli/table.ts';
import type { Terminal } from '../../command-line/terminal.ts';

const LAST_MAX = 999_999_998;

interface SetOptions {
  format?: string;
  last?: number;
}

/** Builds `fieldledger numbering show|set`, the commands for the numbering of a company's documents. */
export function numberingCommand(terminal: Terminal): Command {
  const command = new DatabaseCommand('numbering', terminal).description(
    "how a company's documents are numbered",
  );
  const show = (numbering: KindNumbering[]) => terminal.show(numbering, textTable(numbering, columns, ''));
  command
    .command('show')
    .description('show the formats, and the numbers that come next')
    .argument(...COMPANY)
    .inDatabase(async ({ engine }, company: string) => show(await getNumbering(engine, company, new Date())));
  command
    .command('set')
    .description('set the format of a kind of document, or continue the numbers of an earlier system')
    .argument(...COMPANY)
    .argument('<kind>', 'invoice, credit_note, pro_forma or quote')
    .option('--format <format>', 'such as INV-{year}-{number:4}; with {year} it restarts each year')
    .option(
      '--last <number>',
      'the last number of this series that was given out elsewhere',
      integerIn(0, LAST_MAX),
    )
    .inDatabase(async ({ engine }, company: string, kind: string, options: SetOptions) =>
      show(await setNumbering(engine, company, { kind, ...options, now: new Date() })),
    );
  return command;
}

const columns: Columns<KindNumbering> = {
  kind: ({ kind }) => kind,
  format: ({ format }) => format,
  next: ({ next }) => next,
};
