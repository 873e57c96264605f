import { hash } from 'node:crypto';

import { sql } from 'kysely';

import type { Connection } from '../dialects/dialect.ts';
import { readPdf } from '../records/documents.ts';
import { type Check, tableCheck } from './findings.ts';

interface Row {
  company: string;
  invoice: string;
  number: string;
  sha256: string;
  byte_count: number;
  /** The number in the document's record; null when the record is missing or not issued. */
  issued_number: string | null;
}

/** Returns the check of every stored PDF against its digest and its record. */
export function documentsCheck(db: Connection): Check {
  return tableCheck<Row>(db, 'documents', {
    id: 'invoice',
    columns: sql`d.company, d.invoice, d.number, d.sha256, d.byte_count, i.body ->> 'number' AS issued_number`,
    from: sql`documents AS d
      LEFT JOIN invoices AS i ON i.company = d.company AND i.id = d.invoice AND i.status = 'issued'`,
    key: ['d.company', 'd.invoice'],
    rowsMax: 100,
    async problemsOf({ company, invoice, number, sha256, byte_count: byteCount, issued_number: issued }) {
      const bytes = (await readPdf(db, company, invoice)) ?? Buffer.alloc(0);
      return [
        ...(hash('sha256', bytes) === sha256 ? [] : ['the PDF is not the one that its digest was made of']),
        ...(bytes.length === byteCount ? [] : [`the PDF has ${bytes.length} bytes, not ${byteCount}`]),
        ...(issued === number ? [] : [`no issued document has its number ${number}`]),
      ];
    },
  });
}
