import type { Compilable, CompiledQuery } from 'kysely';

/** Stands in a compiled query for a value that is known only when it runs. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** An object that has a slot under every name. Kysely passes values on without looking into them. */
export function slots<Values>(): Values {
  // The cast is the point: to the builder a slot is the value that will be bound in its place.
  return new Proxy({}, { get: (_target, name) => new Slot(String(name)) }) as Values;
}

export interface Statement<Values> {
  sql: string;
  bind: (values: Values) => unknown[];
}

/** Compiles a query that was built with `slots` into its text and a function that puts the values in order. */
export function compileStatement<Values>(query: Compilable): Statement<Values> {
  const { sql, parameters }: CompiledQuery = query.compile();
  const bind = (values: Values) =>
    parameters.map((parameter) =>
      parameter instanceof Slot ? (values as Record<string, unknown>)[parameter.name] : parameter,
    );
  return { sql, bind };
}
