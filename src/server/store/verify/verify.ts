import { setImmediate as turn } from 'node:timers/promises';

import { resources } from '../../../contract/records.ts';
import { isDamage } from '../backup/examine.ts';
import type { Engine } from '../engines/engine.ts';
import { schemaDifferences } from '../migrations/schema-check.ts';
import { attemptsCheck, deliveriesCheck, eventsCheck } from './deliveries-check.ts';
import { documentsCheck } from './documents-check.ts';
import type { Check, Finding } from './findings.ts';
import { numbersCheck } from './numbers-check.ts';
import { recordsCheck } from './records-check.ts';

/** The callbacks of a verification for progress and findings, and a signal to stop it. */
export interface Verifying {
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
  onFinding: (finding: Finding) => void;
}

/**
 * Verifies the whole store in batches while it is in use: the schema, the file (SQLite), records, PDFs, numbers, events and
 * deliveries. It changes nothing, and ends early when the signal aborts.
 * @returns the number of rows checked.
 */
export async function verifyStore(
  engine: Engine,
  { signal, onProgress, onFinding }: Verifying,
): Promise<{ rowCount: number }> {
  const records = resources.map((resource) => recordsCheck(engine.db, resource));
  const others = [documentsCheck, numbersCheck, eventsCheck, deliveriesCheck, attemptsCheck];
  const checks: Check[] = [...records, ...others.map((check) => check(engine.db))];
  let total = 0;
  for (const { in: part, count } of checks) total += await orDamage(part, count, onFinding, 0);
  onProgress(0, total);
  for (const problem of await orDamage('schema', () => schemaDifferences(engine), onFinding, []))
    onFinding({ in: 'schema', company: null, id: null, problem });
  const { fileProblems } = engine.dialect.administration;
  for (const problem of await orDamage('pages', () => fileProblems(engine.run), onFinding, []))
    onFinding({ in: 'file', company: null, id: null, problem });
  let rowCount = 0;
  const look = async ({ looks }: Check) => {
    for await (const looked of looks()) {
      looked.findings.forEach(onFinding);
      rowCount += looked.rowCount;
      // Rows added meanwhile may exceed the total.
      onProgress(rowCount, Math.max(total, rowCount));
      // SQLite runs synchronously, so this gives signals a chance to be noticed.
      await turn();
      if (signal.aborted) return;
    }
  };
  for (const check of checks)
    if (!signal.aborted) await orDamage(check.in, () => look(check), onFinding, undefined);
  return { rowCount };
}

/** Runs one check and returns its result; damage to the file becomes a finding, so that it ends only this check. */
async function orDamage<T>(
  part: string,
  work: () => Promise<T>,
  onFinding: Verifying['onFinding'],
  otherwise: T,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isDamage(error)) throw error;
    onFinding({ in: 'file', company: null, id: null, problem: `${part} can't be read: ${error.message}` });
    return otherwise;
  }
}
