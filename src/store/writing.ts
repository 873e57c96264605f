import { CompiledQuery, type Kysely } from 'kysely';

import type { Engine } from './engine.ts';
import type { Tables } from './schema.ts';

/** What both engines leave to Kysely: units of work, and statements that are not on the hot path. */
export function writing(db: Kysely<Tables>): Pick<Engine, 'transaction' | 'run'> {
  return {
    transaction: (work) => db.transaction().execute(work),
    async run(sql, parameters = []) {
      const query = CompiledQuery.raw(sql, [...parameters]);
      const { rows } = await db.executeQuery<Record<string, unknown>>(query);
      return rows;
    },
  };
}
