import { purgeDeletedWebhooks } from '../../../../src/server/features/webhooks/deliveries/deliveries-purge.ts';
import { recordResults } from '../../../../src/server/features/webhooks/deliveries/results.ts';
import type { Engine } from '../../../../src/server/store/engines/engine.ts';
import { removeBefore } from '../../../../src/server/store/stored-tables.ts';
import { webhookHours } from '../../../../src/server/store/tables/webhooks.ts';
import { readWebhookHealth } from '../../../../src/server/features/webhooks/webhook-health.ts';
import { deleteWebhook } from '../../../../src/server/features/webhooks/registration.ts';
import { STORY_NOW } from '../../../_server.ts';
import { deliveredResult, onDeliveries } from './deliveries/_deliveries.ts';

/** Keeps attempts of deliveries that are being sent: each of a status, or a class of error, at a time. */
async function keep(
  engine: Engine,
  attempts: readonly [webhook: string, number: number, at: string, outcome: number | string][],
): Promise<void> {
  await engine.run("UPDATE deliveries SET state = 'sending', lease = 'mine'");
  const results = attempts.map(([webhook, number, attemptedAt, outcome]) => {
    const id = `dlv_acme_${webhook}_${String(number).padStart(7, '0')}`;
    const result = deliveredResult({ company: 'acme', webhook, id, lease: 'mine', attempt: number });
    const came =
      typeof outcome === 'number' ? { status: outcome, error: null } : { status: null, error: outcome };
    const answerText = typeof outcome === 'number' && outcome > 299 ? `no, "${outcome}" no` : undefined;
    return { ...result, attempt: result.attempt && { ...result.attempt, attemptedAt, ...came, answerText } };
  });
  if ((await recordResults(engine, results)) > 0) throw new Error('Some were dropped.');
}

/** Keeps the attempt of a ping. @returns the row of its webhook. */
async function keepPing(engine: Engine, id: string, status: number) {
  await engine.run("UPDATE deliveries SET state = 'sending', lease = 'mine'");
  const result = deliveredResult({ company: 'acme', webhook: 'whk_a', id, lease: 'mine', attempt: 1 });
  const attempt = result.attempt && { ...result.attempt, status };
  await recordResults(engine, [
    { ...result, state: status < 300 ? 'delivered' : 'retrying', attempt, isTest: true },
  ]);
  return engine.db.selectFrom('webhooks').selectAll().where('id', '=', 'whk_a').executeTakeFirstOrThrow();
}

const hour = (from: number, until: number) => ({
  from: new Date(Date.UTC(2026, 10, 20, from)),
  until: new Date(Date.UTC(2026, 10, 20, until)),
});

const many = { acme: { whk_a: 20, whk_b: 20, whk_c: 0, whk_d: 3 } };

onDeliveries('the health of a webhook is the sum of its attempts', many, async (t, { engine }) => {
  await keep(engine, [
    ['whk_a', 1, '2026-11-20T09:59:59.999Z', 204],
    ['whk_a', 2, '2026-11-20T10:00:00.000Z', 503],
    ['whk_a', 3, '2026-11-20T10:20:00.000Z', 'tls'],
    ['whk_a', 4, '2026-11-20T10:10:00.000Z', 'dns'],
    ['whk_b', 1, '2026-11-20T10:30:00.000Z', 301],
  ]);
  await keep(engine, [
    ['whk_a', 5, '2026-11-20T10:59:00.000Z', 299],
    ['whk_d', 1, '2026-11-20T10:40:00.000Z', 199],
    ['whk_d', 2, '2026-11-20T10:41:00.000Z', 300],
    ['whk_d', 3, '2026-11-20T10:39:00.000Z', 299],
    ['whk_a', 6, '2026-11-20T11:00:00.000Z', 200],
  ]);
  const spans = [hour(9, 10), hour(10, 11), hour(8, 9), hour(0, 23)];
  const health = await readWebhookHealth(
    engine,
    'acme',
    ['whk_a', 'whk_b', 'whk_c', 'whk_d', 'whk_none'],
    spans,
  );
  const counts = (delivered: number, failed: number) => ({ delivered, failed });
  t.strictSame(health.get('whk_a'), {
    spans: [counts(1, 0), counts(1, 3), counts(0, 0), counts(3, 3)],
    lastDeliveredAt: '2026-11-20T11:00:00.000Z',
    lastFailure: {
      at: '2026-11-20T10:20:00.000Z',
      reason: 'tls',
      delivery: 'dlv_acme_whk_a_0000003',
      answerText: '',
    },
  });
  t.match(health.get('whk_d'), { spans: { 3: counts(1, 2) }, lastFailure: { reason: '300' } });
  t.match(health.get('whk_b')?.lastFailure, { reason: '301', answerText: 'no, "301" no' });
  t.strictSame(health.get('whk_c'), {
    spans: spans.map(() => counts(0, 0)),
    lastDeliveredAt: null,
    lastFailure: null,
  });
  t.strictSame(
    (await readWebhookHealth(engine, 'other', ['whk_a'], spans)).get('whk_a')?.spans[3],
    counts(0, 0),
  );
});

const three = { acme: { whk_a: 3 } };

onDeliveries(
  "an attempt that was dropped or is there already isn't counted",
  three,
  async (t, { engine }) => {
    await keep(engine, [['whk_a', 1, '2026-11-20T10:00:00.000Z', 200]]);
    await keep(engine, [['whk_a', 1, '2026-11-20T10:00:00.000Z', 200]]);
    const id = 'dlv_acme_whk_a_0000002';
    const other = deliveredResult({ company: 'acme', webhook: 'whk_a', id, lease: 'other', attempt: 1 });
    t.equal(await recordResults(engine, [other]), 1);
    t.equal(
      (await keepPing(engine, id, 500)).failing_since,
      null,
      'nor is a ping that fails a failed delivery',
    );
    const health = await readWebhookHealth(engine, 'acme', ['whk_a'], [hour(0, 23)]);
    t.match(health.get('whk_a'), { spans: [{ delivered: 1, failed: 0 }], lastFailure: { reason: '500' } });
    await keepPing(engine, 'dlv_acme_whk_a_0000003', 204);
    const after = await readWebhookHealth(engine, 'acme', ['whk_a'], [hour(0, 23)]);
    t.match(after.get('whk_a'), { spans: [{ delivered: 1, failed: 0 }] }, 'nor is one that succeeds');
  },
);

const four = { acme: { whk_a: 3, whk_b: 1 } };

onDeliveries('counts go with their age, and with their webhook', four, async (t, { engine }) => {
  await keep(engine, [
    ['whk_a', 1, '2026-10-18T00:30:00.000Z', 200],
    ['whk_b', 1, '2026-10-18T01:30:00.000Z', 200],
  ]);
  await keep(engine, [['whk_a', 2, '2026-11-20T10:00:00.000Z', 200]]);
  const hours = () =>
    engine.db.selectFrom('webhook_hours').select(['webhook', 'hour']).orderBy('webhook').execute();
  await removeBefore(engine, webhookHours, '2026-10-18T01');
  t.strictSame(await hours(), [
    { webhook: 'whk_a', hour: '2026-11-20T10' },
    { webhook: 'whk_b', hour: '2026-10-18T01' },
  ]);
  await deleteWebhook(engine, 'acme', 'whk_b', STORY_NOW);
  for (let pass = 0; pass < 10 && (await purgeDeletedWebhooks(engine)); pass += 1);
  t.strictSame(await hours(), [{ webhook: 'whk_a', hour: '2026-11-20T10' }]);
});
