import { hasDetail, resources } from '../../../../src/contract/records.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';

/** Rows of one statement, so that none takes long on a busy machine. */
const ROWS_MAX = 4_000;

/** The rows of a company. */
export interface Filling {
  rows: number;
  /** Tells in SQL of the row with the number `n` whether it is late: made, changed, issued or valid lately. */
  isLate: string;
}

/**
 * Fills the tables of PostgreSQL with bare rows, whose columns are computed like any other's, and tells its planner
 * about them.
 */
export async function fillPostgres(
  engine: Engine,
  fillings: Readonly<Record<string, Filling>>,
): Promise<void> {
  for (const [company, filling] of Object.entries(fillings)) await fillCompany(engine, company, filling);
  await engine.run('VACUUM ANALYZE');
}

async function fillCompany(
  engine: Engine,
  company: string,
  { rows: rowCount, isLate }: Filling,
): Promise<void> {
  const row = `json_build_object(
    'id', lpad(n::text, 12, '0'),
    'formId', 'form_' || n % 3,
    'kind', (ARRAY['invoice', 'credit_note', 'pro_forma'])[1 + n % 3],
    'status', (ARRAY['draft', 'sent', 'issued', 'accepted', 'declined', 'revised'])[1 + n % 6],
    'customer', json_build_object('id', 'cus_' || n % 50),
    'currency', 'EUR',
    'totals', json_build_object('grossMinor', n),
    'quoteGroupId', n::text,
    'issueDate', CASE WHEN ${isLate} THEN '2026-11-10' ELSE '2025-01-01' END,
    'validUntil', CASE WHEN ${isLate} THEN '2026-12-10' ELSE '2025-01-01' END,
    'createdAt', CASE WHEN ${isLate} THEN '2026-11-15T00:00:00.000Z' ELSE '2025-01-01T00:00:00.000Z' END,
    'updatedAt', CASE WHEN ${isLate} THEN '2026-11-15T00:00:00.000Z' ELSE '2025-01-01T00:00:00.000Z' END
  )`;
  const fill = async (table: string, columns: string, values: string) => {
    for (let start = 0; start < rowCount; start += ROWS_MAX) {
      const numbers = `generate_series(${start + 1}, ${Math.min(start + ROWS_MAX, rowCount)}) n`;
      await engine.run(`INSERT INTO ${table} (${columns}) SELECT ${values} FROM ${numbers}`, [company]);
    }
  };
  for (const table of resources)
    if (hasDetail(table)) await fill(table, 'company, digest, body, detail', `$1, '', ${row}, '{}'`);
    else await fill(table, 'company, digest, body', `$1, '', ${row}`);
}
