import { type RawBuilder, sql } from 'kysely';

import { AppError } from '../../errors.ts';
import type { Engine } from './engines/engine.ts';

/*
 * A database is on one machine, or Citus distributes it by company over several. Citus needs every statement that changes or
 * locks rows to bind each of its tables to one company, so work for many companies takes one statement for each.
 */

/** The company that a statement is for; undefined on one machine, where one statement covers many companies. */
export type StatementCompany = string | undefined;

/** Returns the SQL condition that binds a table's column to the statement's company. */
export function boundTo(company: StatementCompany, column = 'company'): RawBuilder<boolean> {
  return company === undefined ? sql`TRUE` : sql`${sql.ref(column)} = ${company}`;
}

/** A group of rows, and the outcome of work on them. */
export interface GroupOutcome<Row, T> {
  rows: readonly Row[];
  outcome: PromiseSettledResult<T>;
}

/** Maximum number of simultaneous statements, each on a connection of its own. */
const SIDE_BY_SIDE = 4;

/** Works on all rows at once or, in a database on several machines, company by company, because one machine may be down. */
export async function byCompany<Row extends { company: string }, T>(
  engine: Engine,
  rows: readonly Row[],
  work: (rows: readonly Row[], company: StatementCompany) => Promise<T>,
): Promise<GroupOutcome<Row, T>[]> {
  const groups: [StatementCompany, readonly Row[]][] = (await engine.isDistributed())
    ? [...Map.groupBy(rows, ({ company }) => company)]
    : [[undefined, rows]];
  const done: GroupOutcome<Row, T>[] = [];
  const left = groups.entries();
  const lane = async () => {
    for (const [index, [company, some]] of left) {
      const [outcome] = await Promise.allSettled([work(some, company)]);
      done[index] = { rows: some, outcome };
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  return done;
}

type Outcomes<T> = readonly Pick<GroupOutcome<unknown, T>, 'outcome'>[];

/** Returns the successful results. @throws the first error if all failed, or the first not caused by an absent machine. */
export function resultsOf<T>(done: Outcomes<T>): T[] {
  const results = done.flatMap(({ outcome }) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const isAway = ({ outcome }: Outcomes<T>[number]) =>
    outcome.status === 'rejected' && outcome.reason instanceof AppError;
  throwFirst(results.length === 0 ? done : done.filter((one) => !isAway(one)));
  return results;
}

/** Throws the first error of work that failed, if any. */
export function throwFirst(done: Outcomes<unknown>): void {
  for (const { outcome } of done) if (outcome.status === 'rejected') throw outcome.reason;
}

/**
 * Returns selected rows of all companies, or of those on the other machines while one doesn't answer. The results of several
 * machines are concatenated, so the caller has to apply any order or limit again.
 * @param select builds the query, and must apply the given condition to the company column of every table.
 */
export async function ofAllCompanies<Row>(
  engine: Engine,
  select: (isReached: (column: string) => RawBuilder<boolean>) => RawBuilder<Row>,
): Promise<Row[]> {
  const { db } = engine;
  try {
    if (!engine.machines?.away.length) return (await select(() => sql`TRUE`).execute(db)).rows;
  } catch (error) {
    if (!(error instanceof AppError && engine.machines)) throw error;
  }
  const reached = (await engine.machines.reached()).filter(({ length }) => length > 0);
  const isReached = (companies: string[]) => (column: string) =>
    sql<boolean>`${sql.ref(column)} = ANY(${companies})`;
  const done = await Promise.allSettled(
    reached.map(async (companies) => select(isReached(companies)).execute(db)),
  );
  return resultsOf(done.map((outcome) => ({ outcome }))).flatMap(({ rows }) => rows);
}

/** Returns a sentence naming the machines that don't answer; undefined when all do. */
export function machinesAway({ machines }: Engine): string | undefined {
  machines?.suspect();
  if (!machines || machines.away.length === 0) return undefined;
  return `These machines don't answer, and their companies can't be served: ${machines.away.join(', ')}`;
}

/** Whether a statement may have failed because one of several machines is down, rather than the whole database. */
export async function isPartAway(engine: Engine): Promise<boolean> {
  return (
    (await engine.isDistributed()) && (await sql`SELECT 1`.execute(engine.db).then(Boolean, () => false))
  );
}
