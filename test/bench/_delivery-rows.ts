import { createCompany } from '../../src/server/access/companies.ts';
import type { Engine } from '../../src/server/store/engines/engine.ts';
import { STAMP } from './_company.ts';

/** The deliveries go to 32 webhooks, each at a host of its own, so that no webhook's limit is the limit. */
const COMPANIES = 8;
const WEBHOOKS_EACH = 4;
/** Rows of one INSERT, which the database makes by itself. */
const ROWS_MAX = 100_000;
/** Makes a body of 1 kB, beside what stands around a record. */
const DATA = JSON.stringify({ id: 'job_1', notes: 'x'.repeat(800) });

/** The company of the webhook that hears of whatever is committed, and tells. */
export const IDLE_COMPANY = 'idle';

export type Connections = 'kept' | 'close';

/** Makes companies with webhooks for both kinds of connections, and one event of each. */
export async function addWebhooks(engine: Engine): Promise<void> {
  const now = new Date();
  const row = { secret: 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=', created_at: now.toISOString() };
  for (let index = 0; index < COMPANIES; index += 1) {
    const company = `c${index}`;
    await createCompany(engine, company, {}, now);
    const event = { id: `evt_${company}`, company, kind: 'job.created', created_at: row.created_at };
    await engine.transaction((transaction) =>
      transaction
        .insertInto('events')
        .values({ ...event, data: DATA })
        .execute(),
    );
    for (let place = 0; place < WEBHOOKS_EACH; place += 1) {
      const host = `h${index * WEBHOOKS_EACH + place}.example.net`;
      const webhooks = (['kept', 'close'] as const).map((connections) => ({
        ...{
          company,
          id: `whk_${connections}_${place}`,
          url: `https://${host}/${connections}`,
          events: '[]',
        },
        ...row,
      }));
      await engine.transaction((transaction) =>
        transaction.insertInto('webhooks').values(webhooks).execute(),
      );
    }
  }
  await createCompany(engine, IDLE_COMPANY, {}, now);
  const telling = { company: IDLE_COMPANY, id: 'whk_tell', url: 'https://h0.example.net/tell', ...row };
  await engine.transaction((transaction) =>
    transaction
      .insertInto('webhooks')
      .values({ ...telling, events: '["job.created"]' })
      .execute(),
  );
}

/**
 * Adds deliveries that are due, spread over the webhooks.
 * @param options.first the number of the first: no two of a database may have the same.
 */
export async function addDeliveries(
  engine: Engine,
  { connections, first, count }: { connections: Connections; first: number; count: number },
): Promise<void> {
  const end = first + count;
  for (let start = first; start < end; start += ROWS_MAX) {
    const last = Math.min(start + ROWS_MAX, end) - 1;
    await engine.run(`
      WITH RECURSIVE numbers (n) AS (SELECT ${start} UNION ALL SELECT n + 1 FROM numbers WHERE n < ${last})
      INSERT INTO deliveries (company, webhook, id, event, state, due_at)
      SELECT 'c' || (n % ${COMPANIES}), 'whk_${connections}_' || (n / ${COMPANIES} % ${WEBHOOKS_EACH}),
        'dlv_00000000-0000-7000-8000-' || (100000000000 + n), 'evt_c' || (n % ${COMPANIES}), 'waiting', ${STAMP}
      FROM numbers`);
  }
}

/** Deliveries in a state. */
export async function countDeliveries(engine: Engine, state: string): Promise<number> {
  const [row] = await engine.run(`SELECT COUNT(*) AS count FROM deliveries WHERE state = '${state}'`);
  return Number(row?.count);
}
