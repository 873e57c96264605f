import { type RawBuilder, sql } from 'kysely';

import { AppError } from '../../errors.ts';
import type { Engine } from './engines/engine.ts';

/*
 * A database is on one machine, or Citus spreads it over several by company. There a statement that changes or locks rows is
 * made where every table in it is bound to one company by a value; work for many companies is one statement for each.
 */

/** The company of a statement; undefined on one machine, where one statement serves many. */
export type OfCompany = string | undefined;

/** Binds a table's column to the company of a statement. */
export function boundTo(company: OfCompany, column = 'company'): RawBuilder<boolean> {
  return company === undefined ? sql`TRUE` : sql`${sql.ref(column)} = ${company}`;
}

/** Some rows, and what became of the work for them. */
export interface Done<Row, T> {
  rows: readonly Row[];
  outcome: PromiseSettledResult<T>;
}

/** Statements that are under way at once, each on a connection of the pool. */
const SIDE_BY_SIDE = 4;

/** Does work for rows: for all at once on one machine, for each company's on several, where one may be away. */
export async function byCompany<Row extends { company: string }, T>(
  engine: Engine,
  rows: readonly Row[],
  work: (rows: readonly Row[], company: OfCompany) => Promise<T>,
): Promise<Done<Row, T>[]> {
  const groups: [OfCompany, readonly Row[]][] = (await engine.isDistributed())
    ? [...Map.groupBy(rows, ({ company }) => company)]
    : [[undefined, rows]];
  const done: Done<Row, T>[] = [];
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

type Outcomes<T> = readonly Pick<Done<unknown, T>, 'outcome'>[];

/** The results of work that was done. @throws the first error when none was, or one that isn't a machine's absence. */
export function resultsOf<T>(done: Outcomes<T>): T[] {
  const results = done.flatMap(({ outcome }) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const isAway = ({ outcome }: Outcomes<T>[number]) =>
    outcome.status === 'rejected' && outcome.reason instanceof AppError;
  throwFirst(results.length === 0 ? done : done.filter((one) => !isAway(one)));
  return results;
}

/** @throws the first error of work that wasn't done. */
export function throwFirst(done: Outcomes<unknown>): void {
  for (const { outcome } of done) if (outcome.status === 'rejected') throw outcome.reason;
}

/**
 * Selects rows of all companies. While one of several machines doesn't answer, those of the companies on the others: whoever
 * gives an order or a limit to the selection applies it again.
 * @param select has a condition for the company's column of every table.
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

/** A sentence about machines that don't answer; undefined when all do. */
export function machinesAway({ machines }: Engine): string | undefined {
  machines?.suspect();
  if (!machines || machines.away.length === 0) return undefined;
  return `These machines don't answer, and their companies can't be served: ${machines.away.join(', ')}`;
}

/** Whether a statement failed because one of several machines is away, and not the database. */
export async function isPartAway(engine: Engine): Promise<boolean> {
  return (
    (await engine.isDistributed()) && (await sql`SELECT 1`.execute(engine.db).then(Boolean, () => false))
  );
}
