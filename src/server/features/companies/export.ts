import { sql } from 'kysely';

import { joinRecordTexts } from '../../../contract/render.ts';
import { resources } from '../../../contract/records.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { batchesOf, countRows } from '../../store/batches.ts';
import {
  writtenColumns,
  isOfCompanies,
  ownRows,
  type TableRow,
  selectionOf,
  STORED_TABLES,
} from '../../store/stored-tables.ts';
import { readRow, type Table } from '../../store/tables/table.ts';

/** The exported tables: those with companies' data, except internal ones. Secret columns are left out. PDFs become files. */
const tables = STORED_TABLES.filter((table) => isOfCompanies(table) && !table.isInternal);

export async function countCompanyRows(engine: Engine, company: string): Promise<number> {
  let count = 0;
  for (const table of tables)
    count += await countRows(engine.db, sql.table(table.name), ownRows(table, company));
  return count;
}

/**
 * Yields all data of a company in batches, table by table; each table begins with an empty batch. The reads share no
 * transaction. Column names are in camel case, as in the contract. A record is as the API shows it; its `unpublished` member
 * holds what else its document needs.
 */
export async function* readCompanyRows(
  engine: Engine,
  company: string,
): AsyncGenerator<{ table: string; rows: TableRow[] }> {
  for (const table of tables) {
    const columns = writtenColumns(table).filter((column) => !table.columns[column]?.isSecret);
    yield { table: table.name, rows: [] };
    const selection = { ...selectionOf(table, columns), where: ownRows(table, company) };
    for await (const rows of batchesOf<TableRow>(engine.db, selection))
      yield { table: table.name, rows: rows.map((row) => exported(row, table, columns)) };
  }
}

const DOCUMENTS_AT_ONCE = 100;

/** Builds the selection of a company's issued documents that have no PDF yet. */
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

function exported(row: TableRow, table: Table, columns: readonly string[]): TableRow {
  if ((resources as readonly string[]).includes(table.name)) return recordOf(row);
  const shown = columns.filter((column) => column !== 'company');
  return readRow(table, Object.fromEntries(shown.map((column) => [column, row[column]])));
}

function recordOf({ body, detail, unpublished }: TableRow): TableRow {
  // Both columns were written by the renderer.
  const record = JSON.parse(
    joinRecordTexts({ body, detail } as Parameters<typeof joinRecordTexts>[0]),
  ) as TableRow;
  return unpublished === undefined
    ? record
    : { ...record, unpublished: JSON.parse(unpublished as string) as unknown };
}
