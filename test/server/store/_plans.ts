import type { Engine } from '../../../src/server/store/engines/engine.ts';

interface PlanNode {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

/** Runs a statement of PostgreSQL, and tells how many rows its scans looked at, whether they were wanted or not. */
export async function rowsPassed(
  engine: Engine,
  statement: string,
  values: readonly unknown[],
): Promise<{ rows: number; plan: string }> {
  const explain = `EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, FORMAT JSON) ${statement}`;
  const [row] = await engine.run(explain, [...values]);
  // Records stay text in this engine, and so does a plan.
  const plan = String(row?.['QUERY PLAN']);
  const [{ Plan: top }] = JSON.parse(plan) as [{ Plan: PlanNode }];
  return { rows: rowsOf(top), plan };
}

function rowsOf(node: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = node['Relation Name'] ? (node['Actual Rows'] + removed) * node['Actual Loops'] : 0;
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsOf(child), own);
}
