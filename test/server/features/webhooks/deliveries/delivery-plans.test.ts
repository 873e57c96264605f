import t from 'tap';

import {
  bringForward,
  countWaiting,
  leaseDeliveries,
  listTimed,
  nextDeliveryTime,
} from '../../../../../src/server/features/webhooks/deliveries/lease.ts';
import {
  purgeDeletedWebhooks,
  removeOld,
} from '../../../../../src/server/features/webhooks/deliveries/deliveries-purge.ts';
import { listDeliveryRows } from '../../../../../src/server/features/webhooks/deliveries/deliveries-list.ts';
import { recordResults } from '../../../../../src/server/features/webhooks/deliveries/results.ts';
import { findWaiting } from '../../../../../src/server/features/webhooks/deliveries/waiting-deliveries.ts';
import type { Engine } from '../../../../../src/server/store/engines/engine.ts';
import { openTestDatabase } from '../../../../_server.ts';
import { rowsPassed } from '../../../store/_plans.ts';
import { withQueriesThrough } from '../../../store/_queries.ts';
import { deliveredResult, DUE_AT, openWithDeliveries } from './_deliveries.ts';

interface Asked {
  sql: string;
  values: unknown[];
}

/** The same engine, which notes the statements that are run with it, and the values that they are run with. */
function listening(engine: Engine): { engine: Engine; asked: Asked[] } {
  const asked: Asked[] = [];
  const noting = withQueriesThrough(engine, ({ sql, parameters }, run) => {
    asked.push({ sql, values: [...parameters] });
    return run();
  });
  return { engine: noting, asked };
}

/** Runs each statement of a delivery's life once. */
async function live(engine: Engine): Promise<void> {
  const busy = [{ company: 'acme', webhook: 'whk_busy' }];
  const options = { webhooksMax: 64, perWebhook: 4, busy, busyCompanies: ['nobody'] };
  const { found } = await findWaiting(engine, { ...options, after: { company: '', webhook: '' } });
  const leased = await leaseDeliveries(engine, found, 'lease', new Date('2026-11-20T12:00:30.000Z'));
  await listTimed(engine, new Date('2026-11-20T12:00:30.000Z'), 100);
  await bringForward(engine, found, new Date('2026-11-20T12:00:30.000Z'));
  await nextDeliveryTime(engine);
  await countWaiting(engine, 10_000);
  await recordResults(engine, leased.map(deliveredResult));
  const listed = [{ company: 'acme', id: 'whk_a', createdAt: DUE_AT, pausedAt: null }];
  for (const filter of [{}, { record: 'job_2' }, { record: 'job_2', response: '4xx' }])
    await listDeliveryRows(engine.db, listed, filter, { countMax: 50 });
  await removeOld(engine, new Date(0), '');
  await purgeDeletedWebhooks(engine);
}

const crowd = { acme: { whk_a: 20_000, whk_b: 100 }, borough: { whk_a: 100, whk_b: 1 } };

t.test('on SQLite every statement of a delivery searches an index', async (t) => {
  await using database = await openTestDatabase('sqlite');
  await openWithDeliveries(database.engine, crowd);
  const { engine, asked } = listening(database.engine);
  await live(engine);
  for (const { sql, values } of asked) {
    const rows = await database.engine.run(`EXPLAIN QUERY PLAN ${sql}`, values);
    const steps = rows.map(({ detail }) => String(detail));
    // A count and a look at the first entry scan their index from its beginning, for as long as they are told.
    const problem = steps.find(
      (step) =>
        /^SCAN (?!(scan|chosen|free|json_each|CONSTANT ROW|counted|\(subquery))/.test(step) &&
        !/^SCAN \w+ USING (COVERING )?INDEX (deliveries_waiting|deliveries_timed|webhooks_deleted)/.test(
          step,
        ),
    );
    t.equal(problem, undefined, sql.trim().slice(0, 60), { steps });
  }
});

t.test('on PostgreSQL no statement of a delivery reads more than it needs', async (t) => {
  await using database = await openTestDatabase('postgres');
  await openWithDeliveries(database.engine, crowd);
  const { engine, asked } = listening(database.engine);
  await live(engine);
  for (const isAnalysed of [false, true]) {
    if (isAnalysed) await database.engine.run('ANALYZE');
    for (const { sql, values } of asked) {
      if (sql.includes('AS counted')) continue;
      const { rows, plan } = await rowsPassed(database.engine, sql, values);
      t.ok(rows < 150, `${isAnalysed ? 'analysed: ' : ''}${rows} rows: ${sql.trim().slice(0, 60)}`, { plan });
    }
  }
});
