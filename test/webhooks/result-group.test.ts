import t from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import { createLogger } from '../../src/log.ts';
import { createDeliveryQueue } from '../../src/store/deliveries.ts';
import { createResultWriter, type DeliveryResult } from '../../src/store/deliveries-results.ts';
import { ResultGroup } from '../../src/webhooks/result-group.ts';
import { engineNames, openTestDatabase, STORY_NOW } from '../_server.ts';
import { deliveredResult, fillDeliveries } from '../store/_deliveries.ts';
import { attemptRows, deliveryRows } from './_delivery-loop.ts';

/** No table takes an attempt that has neither a status nor an error. */
function poisonous(result: DeliveryResult): DeliveryResult {
  return { ...result, attempt: result.attempt && { ...result.attempt, status: null, error: null } };
}

for (const name of engineNames) {
  t.test(
    `${name}: a result that the database refuses is set aside, and the others are written`,
    async (t) => {
      await using database = await openTestDatabase(name);
      const { engine } = database;
      await createCompany(engine, 'acme', {}, STORY_NOW);
      await fillDeliveries(engine, { acme: { whk_a: 5 } });
      const leased = await createDeliveryQueue(engine).lease(await deliveryRows(engine), 'mine', new Date());
      const results = leased.map(deliveredResult);
      const lines: unknown[] = [];
      const log = createLogger('silent');
      log.error = (...given: unknown[]) => lines.push(given);
      const group = new ResultGroup(createResultWriter(engine), log, () => undefined);
      let writtenCount = 0;
      for (const [index, result] of results.entries())
        group.add(index === 2 ? poisonous(result) : result, () => (writtenCount += 1));
      await group.written();
      t.equal(writtenCount, 5, 'every slot is free again');
      t.notOk(group.isStuck);
      const states = (await deliveryRows(engine)).map(({ state }) => state);
      t.strictSame(states, ['delivered', 'delivered', 'sending', 'delivered', 'delivered']);
      t.equal((await attemptRows(engine)).length, 4);
      t.match(lines, [[{ delivery: leased[2]?.id, err: { code: String } }, 'delivery.result-refused']]);
    },
  );
}
