import t from 'tap';

import { openEngine } from '../../src/store/engine.ts';
import { migrate } from '../../src/store/migrate.ts';
import { initial } from '../../src/store/migrations/0001-initial.ts';
import { backOffice } from '../../src/store/migrations/0002-back-office.ts';
import { listBlocks } from '../../src/store/migrations/0003-list-blocks.ts';
import { openWorkplace, until } from '../_command.ts';
import { engineNames } from '../_server.ts';
import { answer, attemptRows, deliveryRows, scriptedSender, startLoop } from '../webhooks/_delivery-loop.ts';

const AT = '2026-11-01T12:00:00.000Z';

/** What a version that only kept deliveries, and made none, has left behind. */
const before = [
  `INSERT INTO companies (id, name, api_enabled, subscription_active, invoicing_enabled, modules, time_zone, currency, profile, created_at)
   VALUES ('acme', 'A', 1, 1, 1, '["jobs"]', 'UTC', 'EUR', '{}', '${AT}')`,
  `INSERT INTO webhooks (company, id, url, events, secret, created_at)
   VALUES ('acme', 'whk_a', 'https://hooks.example.com/', '["job.created"]', 'whsec_x', '${AT}')`,
  `INSERT INTO events (id, company, kind, created_at, data)
   VALUES ('evt_1', 'acme', 'job.created', '${AT}', '{"id":"job_1"}')`,
  `INSERT INTO deliveries (company, webhook, id, event, state, attempt_count, due_at) VALUES
   ('acme', 'whk_a', 'dlv_1', 'evt_1', 'delivered', 2, '${AT}'), ('acme', 'whk_a', 'dlv_2', 'evt_1', 'failed', 7, '${AT}'),
   ('acme', 'whk_a', 'dlv_3', 'evt_1', 'waiting', 0, '${AT}'), ('acme', 'whk_a', 'dlv_4', 'evt_1', 'waiting', 1, '${AT}')`,
];

for (const name of engineNames) {
  t.test(`${name}: deliveries of an earlier version are kept, and made where they wait`, async (t) => {
    await using workplace = await openWorkplace(name, { isEmpty: true });
    await using engine = await openEngine(workplace.databaseUrl);
    await migrate(engine, [initial, backOffice, listBlocks]);
    for (const statement of before) await engine.run(statement);
    t.ok((await migrate(engine)).includes('0004-deliveries'));
    const kept = { failure_count: 0, interruption_count: 0, lease: null, withheld_for: null, due_at: AT };
    t.match(await deliveryRows(engine), [
      { ...kept, id: 'dlv_1', state: 'delivered', attempt_count: 2 },
      { ...kept, id: 'dlv_2', state: 'failed', attempt_count: 7 },
      { ...kept, id: 'dlv_3', state: 'waiting', attempt_count: 0 },
      { ...kept, id: 'dlv_4', state: 'waiting', attempt_count: 1 },
    ]);
    const sender = scriptedSender(() => answer(200));
    await using loop = startLoop(engine, sender);
    await loop.idle();
    await until(async () =>
      (await deliveryRows(engine)).every(({ state }) => state !== 'waiting' && state !== 'sending'),
    );
    t.strictSame(sender.sent.map(({ headers }) => headers['Service-Delivery']).sort(), ['dlv_3', 'dlv_4']);
    t.match(await attemptRows(engine), [
      { delivery: 'dlv_3', number: 1, status: 200 },
      { delivery: 'dlv_4', number: 2, status: 200 },
    ]);
  });
}
