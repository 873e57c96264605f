import { sql } from 'kysely';

import { wholeText } from '../../../contract/render.ts';
import { resources } from '../../../contract/records.ts';
import type { Engine } from '../engines/engine.ts';
import type { Tables } from '../schema.ts';
import { batchesOf, countRows } from '../batches.ts';
import { columnsOf, type Row, selectionOf, STORED_TABLES } from '../stored-tables.ts';

/** Some of a company's rows, as objects whose members are in camel case like the contract's. */
export interface ExportedRows {
  table: keyof Tables;
  rows: Row[];
}

/** Secrets and their digests are left out. PDFs are exported as files. */
const LEFT_OUT: Partial<Record<keyof Tables, readonly string[]>> = {
  api_keys: ['secret_sha256'],
  webhooks: ['secret'],
  administrators: ['password', 'second_factor', 'second_factor_step', 'recovery_codes'],
  portal_sessions: ['token_sha256'],
  portal_links: ['token_sha256'],
  notices: ['stop_sha256'],
  documents: ['bytes'],
};

/** These hold only ciphertext and the stamp of the last change. */
const TABLES_LEFT_OUT: readonly (keyof Tables)[] = ['form_results', 'company_clocks'];

/** Columns whose text is JSON, beside those of records. */
const JSON_COLUMNS =
  'modules profile number_formats issued_elsewhere scopes pinged_at muted_notices details data attempts'.split(
    ' ',
  );

const tables = STORED_TABLES.filter(
  ({ name, ofCompany }) => ofCompany !== null && !TABLES_LEFT_OUT.includes(name),
);

export async function countCompanyRows(engine: Engine, company: string): Promise<number> {
  let count = 0;
  for (const table of tables)
    count += await countRows(engine.db, sql.table(table.name), table.ofCompany?.(company));
  return count;
}

/**
 * Reads all data of a company in batches, table by table; an empty table gives one empty batch. The reads share no
 * transaction. A record is as the API shows it, and `unpublished` has what its document needs beside that.
 */
export async function* readCompanyRows(engine: Engine, company: string): AsyncGenerator<ExportedRows> {
  for (const table of tables) {
    const hidden = LEFT_OUT[table.name] ?? [];
    const columns = (await columnsOf(engine, table)).filter((column) => !hidden.includes(column));
    yield { table: table.name, rows: [] };
    const selection = { ...selectionOf(table, columns), where: table.ofCompany?.(company) };
    for await (const rows of batchesOf<Row>(engine.db, selection))
      yield { table: table.name, rows: rows.map((row) => exported(row, table.name, hidden)) };
  }
}

const DOCUMENTS_AT_ONCE = 100;

/** A company's issued documents that have no PDF yet. */
const unprinted = (company: string) => ({
  columns: sql`i.id`,
  from: sql`invoices AS i LEFT JOIN documents AS d ON d.company = i.company AND d.invoice = i.id`,
  where: sql<boolean>`i.company = ${company} AND i.status = 'issued' AND d.invoice IS NULL`,
  key: ['i.id'],
  rowsMax: DOCUMENTS_AT_ONCE,
});

export async function countUnprinted({ db }: Engine, company: string): Promise<number> {
  const { from, where } = unprinted(company);
  return countRows(db, from, where);
}

export async function* unprintedDocuments({ db }: Engine, company: string): AsyncGenerator<string> {
  for await (const rows of batchesOf<{ id: string }>(db, unprinted(company)))
    for (const { id } of rows) yield id;
}

function exported(row: Row, table: keyof Tables, hidden: readonly string[]): Row {
  if (isResource(table)) return recordOf(row);
  const members = Object.entries(row)
    .filter(([column]) => column !== 'company' && !hidden.includes(column))
    .map(([column, value]): [string, unknown] => [
      camelCase(column),
      isJson(table, column) ? JSON.parse(String(value)) : value,
    ]);
  return Object.fromEntries(members);
}

function isResource(table: keyof Tables): boolean {
  return (resources as readonly string[]).includes(table);
}

function recordOf({ body, detail, unpublished }: Row): Row {
  // Written by rendering.
  const record = JSON.parse(wholeText({ body, detail } as Parameters<typeof wholeText>[0])) as Row;
  return unpublished === undefined
    ? record
    : { ...record, unpublished: JSON.parse(unpublished as string) as unknown };
}

function isJson(table: keyof Tables, column: string): boolean {
  return JSON_COLUMNS.includes(column) || (table === 'webhooks' && column === 'events');
}

function camelCase(column: string): string {
  return column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
