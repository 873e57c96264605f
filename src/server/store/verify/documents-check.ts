import { hash } from 'node:crypto';

import { sql } from 'kysely';

import type { Engine } from '../engines/engine.ts';
import { readPdf } from '../records/documents.ts';
import { type Check, countRows, type Finding, lookThrough } from './findings.ts';

const ROWS_AT_ONCE = 100;

interface Row {
  company: string;
  invoice: string;
  number: string;
  sha256: string;
  byte_count: number;
  /** Null when there is no such record, or it isn't issued. */
  issued_number: string | null;
}

/** Holds every stored PDF against its digest, and against the record whose it is. */
export function documentsCheck(engine: Engine): Check {
  const read = async ([company, invoice]: readonly string[]) => {
    const { rows } = await sql<Row>`
      SELECT d.company, d.invoice, d.number, d.sha256, d.byte_count, i.body ->> 'number' AS issued_number
      FROM documents AS d LEFT JOIN invoices AS i
        ON i.company = d.company AND i.id = d.invoice AND i.status = 'issued'
      WHERE (d.company, d.invoice) > (${company}, ${invoice})
      ORDER BY d.company, d.invoice LIMIT ${sql.lit(ROWS_AT_ONCE)}`.execute(engine.db);
    return rows;
  };
  const problemsOf = async ({ company, invoice, ...row }: Row): Promise<Finding[]> => {
    const bytes = (await readPdf(engine.db, company, invoice)) ?? Buffer.alloc(0);
    const problems = [
      ...(hash('sha256', bytes) === row.sha256 ? [] : ['the PDF is not the one that its digest was made of']),
      ...(bytes.length === row.byte_count
        ? []
        : [`the PDF has ${bytes.length} bytes, not ${row.byte_count}`]),
      ...(row.issued_number === row.number ? [] : [`no issued document has its number ${row.number}`]),
    ];
    return problems.map((problem) => ({ in: 'documents', company, id: invoice, problem }));
  };
  return {
    in: 'documents',
    count: countRows(engine, sql.table('documents')),
    looks: () => lookThrough(read, ({ company, invoice }) => [company, invoice], problemsOf, 2),
  };
}
