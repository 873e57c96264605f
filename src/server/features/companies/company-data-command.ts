import { hash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';

import { Option } from 'commander';

import { getCompany } from '../../store/records/companies.ts';
import { quote, UsageError } from '../../../errors.ts';
import { findPrinted } from '../../invoice-pdf/printing.ts';
import type { Renderer } from '../../invoice-pdf/render.ts';
import { eraseCompany } from './erase.ts';
import { unfinishedPath } from '../../../command-line/unfinished-file.ts';
import { countCompanyRows, countUnprinted, readCompanyRows, unprintedDocuments } from './export.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { readPdf } from '../../store/records/documents.ts';
import type { TableRow } from '../../store/stored-tables.ts';
import type { DatabaseCommand } from '../../cli/database-command.ts';
import { withDatabase } from '../../cli/database.ts';
import { listenForStopSignals } from '../../../command-line/stop.ts';
import { type Progress, showProgress, withProgress } from '../../../command-line/progress.ts';
import type { Terminal } from '../../../command-line/terminal.ts';

/** Adds `company export` and `company erase`, which a data processor needs under GDPR articles 20 and 17. */
export function addCompanyDataCommands(command: DatabaseCommand, terminal: Terminal): void {
  command
    .command('export')
    .description('write all that a company has into a new folder: JSON Lines, and the PDFs of its documents')
    .argument('<id>')
    .argument('<folder>', 'a new folder, which appears once everything is written')
    .inDatabase(async ({ engine, config }, id: string, folder: string) => {
      const { rowCount, pdfCount } = await exportCompany(engine, id, {
        folder,
        documentTemplate: config.documentTemplate,
      });
      const count = (value: number) => value.toLocaleString('en');
      terminal.show(
        { company: id, folder, rowCount, pdfCount },
        `${folder} has all of ${id}: ${count(rowCount)} rows and ${count(pdfCount)} PDFs.`,
      );
    });
  command
    .command('erase')
    .description('erase a company and all its data for good; backups still have it')
    .argument('<id>')
    .requiredOption('--confirm <id>', 'the id again, to confirm')
    .addOption(
      new Option('--vacuum <when>', 'when SQLite rewrites its file; nothing else can be written meanwhile')
        .choices(['now', 'later'])
        .default('now'),
    )
    .action(async (id: string, { confirm, vacuum }: { confirm: string; vacuum: 'now' | 'later' }) => {
      if (confirm !== id)
        throw new UsageError(`--confirm is ${quote(confirm)}, and the company is ${quote(id)}.`);
      await withDatabase(terminal, async (engine) => {
        const isVacuumLater = vacuum === 'later';
        const erased = await withProgress(showProgress('rows erased'), (bar, signal) =>
          eraseCompany(engine, id, { now: new Date(), signal, onProgress: bar.update, isVacuumLater }),
        );
        const { id: erasure, rowCount } = erased;
        const left = erased.isTraced
          ? ' Unused parts of the file still have some of it: repeat the command without "--vacuum later".'
          : '';
        terminal.show(
          { company: id, erasure, rowCount },
          `${id} is erased: ${rowCount.toLocaleString('en')} rows. The erasure ${erasure} is kept, without the company's name or id. Backups still have the company.${left}`,
        );
      });
    });
}

interface Exported {
  rowCount: number;
  pdfCount: number;
}

/**
 * Writes a company's rows and PDFs into a private temporary folder, which is renamed to `folder` when complete.
 * @throws UsageError when there is no such company, `folder` exists already, or the disk is full.
 */
async function exportCompany(
  engine: Engine,
  company: string,
  { folder, documentTemplate }: { folder: string; documentTemplate: string | undefined },
): Promise<Exported> {
  await getCompany(engine, company);
  const place = resolve(folder);
  if (existsSync(place)) throw new UsageError(`${folder} already exists. Name a new folder.`);
  // The handler covers both parts: a signal between them would otherwise leave the temporary folder behind.
  using stop = listenForStopSignals();
  let made = '';
  try {
    made = unfinishedPath(place);
    mkdirSync(join(made, 'documents'), { recursive: true, mode: 0o700 });
    const writing = { folder: made, signal: stop.signal, documentTemplate };
    const printedCount = await printMissing(engine, company, writing);
    const { rowCount, pdfCount } = await writeCompany(engine, company, writing);
    renameSync(made, place);
    return { rowCount, pdfCount: printedCount + pdfCount };
  } catch (error) {
    if (made !== '') rmSync(made, { recursive: true, force: true });
    throw error instanceof Error && 'syscall' in error
      ? new UsageError(`${folder} can't be written: ${error.message}. Nothing was written.`)
      : error;
  }
}

/** Returns a function that updates the progress bar, and throws a UsageError after a stop signal. */
function watching(bar: Progress, signal: AbortSignal) {
  return async (done: number, total: number) => {
    bar.update(done, total);
    // SQLite runs synchronously, so signals are noticed only here.
    await turn();
    if (signal.aborted) throw new UsageError(`Stopped by ${String(signal.reason)}. Nothing was written.`);
  };
}

/**
 * Generates the PDFs that nobody has requested yet. They go only into the folder: stored, they would double the database.
 * @returns the number of PDFs.
 */
async function printMissing(
  engine: Engine,
  company: string,
  { folder, signal, documentTemplate }: Writing,
): Promise<number> {
  using bar = showProgress('documents printed');
  const watch = watching(bar, signal);
  const total = await countUnprinted(engine, company);
  let done = 0;
  let renderer: Renderer | undefined;
  for await (const id of unprintedDocuments(engine, company)) {
    // The renderer is loaded here, because few commands need its fonts.
    const { openRenderer } = await import('../../invoice-pdf/template-trial.ts');
    renderer ??= openRenderer(documentTemplate);
    const found = await findPrinted(engine.db, company, id);
    if (!found) continue;
    const { number } = found.current;
    const bytes = await renderer.render(found.printed);
    const file = writePdf(folder, { number, invoice: id }, bytes);
    const row = { invoice: id, number, sha256: hash('sha256', bytes), byteCount: bytes.length, file };
    appendFileSync(join(folder, 'documents.jsonl'), `${JSON.stringify(row)}\n`, { mode: 0o600 });
    done += 1;
    await watch(done, Math.max(done, total));
  }
  return done;
}

interface Writing {
  folder: string;
  signal: AbortSignal;
  documentTemplate: string | undefined;
}

async function writeCompany(engine: Engine, company: string, { folder, signal }: Writing): Promise<Exported> {
  using bar = showProgress('rows exported');
  const watch = watching(bar, signal);
  const total = await countCompanyRows(engine, company);
  const exported = { rowCount: 0, pdfCount: 0 };
  const copyPdf = async (row: TableRow): Promise<string> => {
    exported.pdfCount += 1;
    return writePdf(folder, row, (await readPdf(engine.db, company, String(row.invoice))) ?? '');
  };
  for await (const { table, rows } of readCompanyRows(engine, company)) {
    let lines = '';
    for (const row of rows) {
      const shown = table === 'documents' ? { ...row, file: await copyPdf(row) } : row;
      lines += `${JSON.stringify(shown)}\n`;
    }
    appendFileSync(join(folder, `${table}.jsonl`), lines, { mode: 0o600 });
    exported.rowCount += rows.length;
    await watch(exported.rowCount, total);
  }
  return exported;
}

/** Writes a PDF, named by number and id: two documents may share a number. Numbers unfit for file names are left out. */
function writePdf(folder: string, { number, invoice }: TableRow, bytes: Uint8Array | string): string {
  const prefix = /^\w[\w.-]{0,99}$/.test(String(number)) ? `${String(number)}_` : '';
  const file = `documents/${prefix}${String(invoice)}.pdf`;
  writeFileSync(join(folder, file), bytes, { mode: 0o600 });
  return file;
}
