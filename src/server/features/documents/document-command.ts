import { hash } from 'node:crypto';

import { type Command, Option } from 'commander';

import { companyDay } from '../../../contract/company-time.ts';
import { checkStored, type CheckedRecord } from '../../backoffice/document-check.ts';
import { openBackoffice } from '../../backoffice/backoffice.ts';
import { documentKindName } from '../../backoffice/issued-elsewhere.ts';
import { handOverAgain } from '../hand-over/again.ts';
import { quote, UsageError } from '../../../errors.ts';
import type { EInvoiceFormat } from '../../e-invoice/e-invoice.ts';
import { createDocuments, type DocumentFile, type Documents } from '../../invoice-pdf/documents.ts';
import { createPrint } from '../../invoice-pdf/printing.ts';
import { findEInvoice } from '../../invoice-pdf/stored-e-invoice.ts';
import { type Company, getCompany, listCompanies } from '../../store/records/companies.ts';
import { locateDocument, type LocatedDocument } from '../../store/records/documents.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { DatabaseCommand } from '../../cli/database-command.ts';
import { withDatabase } from '../../cli/database.ts';
import { checkOut, STDOUT, writeOut } from '../../../command-line/out-file.ts';
import { listenForStopSignals } from '../../../command-line/stop.ts';
import { type Terminal, ReportedFailure } from '../../../command-line/terminal.ts';

const OUT = 'file to write, readable only by you; - for standard output';

/** Builds `fieldledger document pdf|statement|xml|check|hand-over`, the commands for one document. */
export function documentCommand(terminal: Terminal): Command {
  const command = new DatabaseCommand('document', terminal).description(
    'invoices, credit notes and pro formas as documents',
  );
  const pdf = command.command('pdf').description('write the PDF of a document: the one that the API serves');
  addWriting(pdf, terminal, ({ prepare }, found) => prepare(found));
  const statement = command
    .command('statement')
    .description('write a PDF with the payments, credits and balance of an issued invoice as of today');
  addWriting(statement, terminal, async ({ prepareStatement }, found, { timeZone }) => {
    const file = await prepareStatement(found, companyDay(timeZone, new Date()));
    if (file) return file;
    throw new UsageError(`The document ${quote(found.id)} is not an issued invoice, so it has no statement.`);
  });
  addressed(command.command('xml'))
    .description('write the e-invoice of a document, in CII as in its PDF, or in UBL')
    .addOption(new Option('--format <format>', 'its syntax').choices(['cii', 'ubl']).makeOptionMandatory())
    .requiredOption('--out <file>', OUT)
    .action(async (id: string, options: { company?: string; format: EInvoiceFormat; out: string }) => {
      checkOut(options.out);
      await withDatabase(terminal, async (engine) => {
        const company = await companyOf(engine, id, options.company);
        const found = await findEInvoice(engine, company, id);
        // The document existed a moment ago.
        if (!found) throw new UsageError(`The company ${quote(company)} has no document ${quote(id)}.`);
        if (found.absence !== undefined) throw new UsageError(found.absence);
        const bytes = Buffer.from(found.text(options.format));
        await writeFile({ name: found.name, bytes, out: options.out }, terminal);
      });
    });
  addressed(command.command('check'))
    .description('check the legal contents of a document; a draft is checked as if it were issued now')
    .inDatabase(async ({ engine }, id: string, options: { company?: string }) => {
      const company = await companyOf(engine, id, options.company);
      const checked = await checkStored(openBackoffice(engine), company, id, new Date());
      terminal.show(resultOf(checked), textOf(checked));
      if (missingIn(checked) > 0) throw new ReportedFailure();
    });
  addressed(command.command('hand-over'))
    .description('hand a document over to the access point again')
    .inDatabase(async ({ engine }, id: string, options: { company?: string }) => {
      const company = await companyOf(engine, id, options.company);
      await handOverAgain(engine, { company, id, now: new Date() });
      terminal.show({ id, company }, 'The document is being handed over again.');
    });
  return command;
}

type Prepare = (
  documents: Documents,
  found: LocatedDocument,
  company: Company,
) => Promise<DocumentFile | undefined>;

/** Gives a command the arguments and action to write a document's PDF to a file. */
function addWriting(command: DatabaseCommand, terminal: Terminal, prepare: Prepare): void {
  addressed(command)
    .requiredOption('--out <file>', OUT)
    .action(async (id: string, options: { company?: string; out: string }) => {
      checkOut(options.out);
      await withDatabase(terminal, async (engine, { portalAccent, documentTemplate }) => {
        const company = await companyOf(engine, id, options.company);
        // The renderer is loaded here, because no other command needs its fonts.
        const { openRenderer } = await import('../../invoice-pdf/template-trial.ts');
        const print = createPrint(engine, openRenderer(documentTemplate), portalAccent);
        const documents = createDocuments(engine, print);
        const found = await documents.find(company, id);
        const file = found && (await prepare(documents, found, await getCompany(engine, company)));
        if (!file) throw new UsageError(`The company ${quote(company)} has no document ${quote(id)}.`);
        await writeFile({ name: file.name, bytes: await file.read(), out: options.out }, terminal);
      });
    });
}

function addressed(command: DatabaseCommand): DatabaseCommand {
  return (
    command
      // Case does not matter in a UUID (RFC 9562 section 4); stored ids are lower-case.
      .argument('<document-id>', 'id of the document', (id: string) => id.toLowerCase())
      .option('--company <company>', 'id of the company, if several have a document with this id')
  );
}

/**
 * Finds the company of a document.
 * @throws UsageError when there is none, or more than one.
 */
async function companyOf(engine: Engine, id: string, given: string | undefined): Promise<string> {
  const candidates = given === undefined ? await listCompanies(engine) : [await getCompany(engine, given)];
  const having: string[] = [];
  for (const company of candidates)
    if (await locateDocument(engine.db, company.id, id)) having.push(company.id);
  const [company, ...others] = having;
  if (company === undefined) {
    throw new UsageError(
      given === undefined
        ? `No company has a document ${quote(id)}.`
        : `The company ${quote(given)} has no document ${quote(id)}.`,
    );
  }
  if (others.length > 0) {
    throw new UsageError(
      `The companies ${having.map(quote).join(', ')} have a document ${quote(id)}: name one with --company.`,
    );
  }
  return company;
}

async function writeFile(
  { name, bytes, out }: { name: string; bytes: Buffer; out: string },
  terminal: Terminal,
): Promise<void> {
  using stop = listenForStopSignals();
  await writeOut(out, [bytes], { terminal, signal: stop.signal });
  const file = out === STDOUT ? null : out;
  const result = { name, sha256: hash('sha256', bytes), bytes: bytes.length, file };
  const prose = `${name}: ${bytes.length.toLocaleString('en')} bytes, written to ${file ?? 'standard output'}`;
  if (file === null) terminal.conclude(result, prose);
  else terminal.show(result, prose);
}

function missingIn({ items }: CheckedRecord): number {
  return items.filter(({ problem }) => problem !== undefined).length;
}

function resultOf({ record, items, eInvoiceProblem }: CheckedRecord) {
  const { id, kind, status, number } = record;
  const listed = items.map(({ item, source, problem }) => ({ item, source, problem: problem ?? null }));
  return { id, kind, status, number, items: listed, eInvoiceProblem };
}

function textOf(checked: CheckedRecord): string {
  const { record, items, eInvoiceProblem } = checked;
  const lines = items.map(({ item, source, problem }) =>
    problem === undefined ? `present  ${item} (${source})` : `MISSING  ${item} (${source}): ${problem}`,
  );
  const missing = missingIn(checked);
  const name = `${documentKindName(record.kind)} ${record.number ?? `${record.id}, a draft`}`;
  const verdict = missing === 0 ? 'nothing is missing' : `${missing} missing`;
  // No law requires an e-invoice, so a document without one lacks nothing.
  const note =
    eInvoiceProblem === null ? [] : [`no e-invoice: EN 16931 can't express it, for ${eInvoiceProblem}`];
  return [`${name}: ${items.length} items, ${verdict}`, ...lines, ...note].join('\n');
}
