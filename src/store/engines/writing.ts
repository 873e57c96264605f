import { type Compilable, CompiledQuery, type Kysely } from 'kysely';

import type { Command, Engine } from './engine.ts';
import type { Tables } from '../schema.ts';
import { compileStatement, slots } from './slots.ts';

/** The part of both engines that Kysely does: units of work, and statements that are not on the hot path of reads. */
export function writing(db: Kysely<Tables>): Pick<Engine, 'transaction' | 'command' | 'run'> {
  return {
    transaction: (work) => db.transaction().execute(work),
    command: <Values, Row>(
      build: (db: Kysely<Tables>, value: Values) => Compilable<Row>,
    ): Command<Values, Row> => {
      const { sql, bind } = compileStatement<Values>(build(db, slots<Values>()));
      return async (transaction, values) => {
        // The builder's type says what the statement returns.
        const { rows } = await transaction.executeQuery<Row>(CompiledQuery.raw(sql, bind(values)));
        return rows;
      };
    },
    async run(sql, parameters = []) {
      const query = CompiledQuery.raw(sql, [...parameters]);
      const { rows } = await db.executeQuery<Record<string, unknown>>(query);
      return rows;
    },
  };
}
