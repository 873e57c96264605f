import type { Engine } from '../../src/store/engine.ts';

/**
 * Fills the tables of PostgreSQL with bare rows, of which the columns are computed as of any other, and tells its
 * planner about them. One row in `rare` was changed, issued or made lately.
 */
export async function fillPostgres(
  engine: Engine,
  company: string,
  rowCount: number,
  rare: number,
): Promise<void> {
  const row = `json_build_object(
    'id', lpad(n::text, 12, '0'),
    'formId', 'form_' || n % 3,
    'kind', (ARRAY['invoice', 'credit_note', 'pro_forma'])[1 + n % 3],
    'status', (ARRAY['draft', 'sent', 'issued', 'accepted', 'declined', 'revised'])[1 + n % 6],
    'customer', json_build_object('id', 'cus_' || n % 50),
    'quoteGroupId', n::text,
    'issueDate', CASE WHEN n % $3::integer = 0 THEN '2026-11-10' ELSE '2025-01-01' END,
    'validUntil', CASE WHEN n % $3::integer = 0 THEN '2026-12-10' ELSE '2025-01-01' END,
    'createdAt', CASE WHEN n % $3::integer = 0 THEN '2026-11-15T00:00:00.000Z' ELSE '2025-01-01T00:00:00.000Z' END,
    'updatedAt', CASE WHEN n % $3::integer = 0 THEN '2026-11-15T00:00:00.000Z' ELSE '2025-01-01T00:00:00.000Z' END
  )`;
  for (const table of ['people', 'customers', 'forms', 'jobs', 'submissions']) {
    await engine.run(
      `INSERT INTO ${table} (company, body) SELECT $1, ${row} FROM generate_series(1, $2::integer) n`,
      [company, rowCount, rare],
    );
  }
  for (const table of ['invoices', 'quotes']) {
    await engine.run(
      `INSERT INTO ${table} (company, body, detail) SELECT $1, ${row}, '{}' FROM generate_series(1, $2::integer) n`,
      [company, rowCount, rare],
    );
  }
  await engine.run('VACUUM ANALYZE');
}
