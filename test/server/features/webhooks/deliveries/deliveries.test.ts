import type { ValidateFunction } from 'ajv/dist/2020.js';
import Stripe from 'stripe';
import type { Test } from 'tap';

import { createCompany } from '../../../../../src/server/backoffice/companies.ts';
import { applyChange } from '../../../../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../../../../src/server/backoffice/backoffice.ts';
import type { Change } from '../../../../../src/contract/feed.ts';
import { UsageError } from '../../../../../src/errors.ts';
import type { Engine } from '../../../../../src/server/store/engines/engine.ts';
import {
  listDeliveries,
  ping,
  recover,
  resend,
} from '../../../../../src/server/features/webhooks/deliveries/deliveries.ts';
import { deleteWebhook } from '../../../../../src/server/features/webhooks/registration.ts';
import { sealedSecret, until } from '../../../../_command.ts';
import { jobCreate, openStaffedCompany } from '../../../backoffice/_changes.ts';
import { fedCompanies, killFeed } from '../../../backoffice/_kill-feed.ts';
import { withQueriesThrough } from '../../../store/_queries.ts';
import { onEachStore } from '../../../store/_stores.ts';
import { addWebhook, onEachEngine } from '../../../backoffice/_backoffice.ts';
import { closed, eventBodyOf, events, strictAjv } from '../../../../contract/_contract.ts';
import {
  answer,
  deliveryRows,
  noAnswer,
  scriptedSender,
  type ScriptedSender,
  settled,
  startLoop,
} from './_delivery-loop.ts';
import { HOST, startHttpsReceiver } from '../../../sending/_receivers.ts';
import { senderTo } from '../../../sending/_senders.ts';

const at = new Date('2026-11-20T12:00:00.000Z');
const later = (minutes: number) => new Date(at.getTime() + minutes * 60_000);

/** Sends what waits, at a time. */
async function deliverAll(engine: Engine, sender: ScriptedSender, now: Date): Promise<void> {
  const loop = startLoop(engine, sender, { now: () => now, random: () => 0 });
  await until(async () =>
    (await deliveryRows(engine)).every(({ state }) => !['waiting', 'sending'].includes(state)),
  );
  await loop[Symbol.asyncDispose]();
}

onEachEngine('the history of a webhook', async (t, { openCompany, engine, setNow }) => {
  setNow(at);
  const acme = await openStaffedCompany(openCompany);
  const of = { company: acme.id, webhook: 'whk_all' };
  const refused = (t: Test, act: Promise<unknown>, message: RegExp) =>
    t.rejects(act, { constructor: UsageError, message });

  await t.test('shows every attempt with its time, what came of it and the next one', async (t) => {
    await acme.apply(jobCreate({ id: 'job_1' }));
    const failing = scriptedSender(() => noAnswer('tls'));
    await deliverAll(engine, failing, at);
    const { deliveries } = await listDeliveries(engine, of, { limit: 10 });
    const next = { nextAttemptAt: later(1).toISOString() };
    const phases = { dns: null, connect: null, tls: null, firstByte: null };
    const attempt = { number: 1, attemptedAt: at.toISOString(), status: null, error: 'tls', totalMs: 1 };
    const attempts = [{ ...attempt, phases, ...next }];
    t.match(deliveries, [{ event: 'job.created', createdAt: String, state: 'retrying', ...next, attempts }]);
  });

  await t.test('sends a delivery again with its id and body, and its schedule begins anew', async (t) => {
    const id = (await deliveryRows(engine))[0]?.id ?? '';
    await engine.run("UPDATE deliveries SET state = 'failed', failure_count = 7");
    const sender = scriptedSender((_request, attempt) => answer(attempt === 1 ? 200 : 404));
    await resend(engine, { ...of, id }, later(60));
    await deliverAll(engine, sender, later(60));
    await resend(engine, { ...of, id }, later(70));
    await deliverAll(engine, sender, later(70));
    t.equal(sender.sent.length, 2);
    t.equal(new Set(sender.sent.map(({ body }) => body)).size, 1);
    t.equal((JSON.parse(sender.sent[0]?.body ?? '') as { id: string }).id, id);
    const signed = sender.sent.map(({ headers }) => /t=\d+/.exec(headers['Service-Signature'] ?? '')?.[0]);
    t.strictSame(signed, [`t=${later(60).getTime() / 1000}`, `t=${later(70).getTime() / 1000}`]);
    const [shown] = (await listDeliveries(engine, of, { limit: 1 })).deliveries;
    t.strictSame(
      shown?.attempts.map(({ status, error }) => status ?? error),
      ['tls', 200, 404],
    );
    t.equal(shown?.nextAttemptAt, later(71).toISOString(), 'a minute later, as after any first attempt');
  });

  await t.test('sends nothing again that is being sent, is not there, or was sent too often', async (t) => {
    const id = (await deliveryRows(engine))[0]?.id ?? '';
    await engine.run("UPDATE deliveries SET state = 'sending'");
    await refused(t, resend(engine, { ...of, id }, at), /is being sent\. Wait/);
    await engine.run("UPDATE deliveries SET state = 'failed', attempt_count = 99");
    t.equal(await resend(engine, { ...of, id }, at), 'waiting');
    await engine.run("UPDATE deliveries SET state = 'failed', attempt_count = 100");
    await refused(t, resend(engine, { ...of, id }, at), /has had 100 attempts/);
    await refused(t, resend(engine, { ...of, id: 'dlv_none' }, at), /has no delivery "dlv_none"/);
    await refused(t, resend(engine, { ...of, webhook: 'whk_none', id }, at), /has no webhook "whk_none"/);
    t.equal((await deliveryRows(engine)).length, 1);
  });

  await t.test('pages from the newest to the oldest', async (t) => {
    for (let index = 0; index < 6; index += 1) await acme.apply(jobCreate());
    const ids = (await deliveryRows(engine)).map(({ id }) => id).reverse();
    const seen: string[] = [];
    let before: string | undefined;
    for (const length of [3, 3, 1]) {
      const page = await listDeliveries(engine, of, { limit: 3, before });
      t.equal(page.deliveries.length, length);
      seen.push(...page.deliveries.map(({ id }) => id));
      before = page.nextBefore ?? undefined;
    }
    t.strictSame(seen, ids);
    t.equal(before, undefined);
    t.equal((await listDeliveries(engine, of, { limit: 100 })).deliveries.length, 7);
    const unknown = listDeliveries(engine, of, { limit: 1, before: 'dlv_none' });
    await refused(t, unknown, /The webhook "whk_all" has no delivery "dlv_none"/);
  });

  await t.test('recovers what failed or was withheld since a time, and nothing else', async (t) => {
    await engine.run('DELETE FROM delivery_attempts');
    await engine.run('DELETE FROM deliveries');
    setNow(later(100));
    for (let index = 0; index < 3; index += 1) await acme.apply(jobCreate());
    setNow(later(200));
    // More than it takes at once.
    for (let index = 0; index < 130; index += 1) await acme.apply(jobCreate());
    await acme.apply(jobCreate());
    await engine.run("UPDATE deliveries SET state = 'failed', failure_count = 7");
    const [withheld, delivered] = (await deliveryRows(engine)).slice(-2);
    await engine.run(`UPDATE deliveries SET state = 'withheld' WHERE id = '${withheld?.id}'`);
    await engine.run(`UPDATE deliveries SET state = 'delivered' WHERE id = '${delivered?.id}'`);
    t.equal(await recover(engine, of, { from: later(150) }, later(300)), 130);
    const states = Object.groupBy(await deliveryRows(engine), ({ state }) => state);
    t.strictSame([states.waiting?.length, states.failed?.length, states.delivered?.length], [130, 3, 1]);
    t.equal(await recover(engine, of, { from: later(150) }, later(300)), 0, 'and only once');
    const daysOn = (days: number, ms: number) => new Date(at.getTime() + days * 86_400_000 + ms);
    for (const now of [daysOn(0, -1), daysOn(30, 1), new Date(NaN)])
      await refused(t, recover(engine, of, { from: at }, now), /within the last 30 days/);
    for (const [now, count] of [
      [daysOn(30, 0), 3],
      [daysOn(0, 0), 0],
    ] as const)
      t.equal(await recover(engine, of, { from: at }, now), count, 'to the millisecond');
  });

  await t.test('recovers nothing that a worker has been given meanwhile', async (t) => {
    await engine.run("UPDATE deliveries SET state = 'failed'");
    // On SQLite it waits for the other transaction.
    let isRead = engine.dialect.name === 'sqlite';
    const watched = withQueriesThrough(engine, async (query, run) => {
      const result = await run();
      if (query.sql.includes("d.state IN ('failed', 'withheld')")) isRead = true;
      return result;
    });
    let recovering = Promise.resolve(-1);
    await engine.transaction(async (transaction) => {
      await transaction.updateTable('deliveries').set({ state: 'sending', lease: 'taken' }).execute();
      recovering = recover(watched, of, { from: at }, later(300));
      await until(() => isRead);
    });
    t.equal(await recovering, 0);
    t.ok((await deliveryRows(engine)).every(({ state }) => state === 'sending'));
  });

  await t.test('pings five times a minute, and like any other delivery', async (t) => {
    await engine.run('DELETE FROM deliveries');
    const ids = [];
    for (let index = 0; index < 5; index += 1) ids.push(await ping(engine, of, { now: at }));
    await refused(t, ping(engine, of, { now: new Date(later(1).getTime() - 1) }), /5 tests a minute/);
    ids.push(await ping(engine, of, { now: later(1) }));
    const sender = scriptedSender(() => answer(200));
    await deliverAll(engine, sender, later(2));
    t.strictSame(sender.sent.map(({ headers }) => headers['Service-Delivery']).sort(), ids.sort());
    t.match(JSON.parse(sender.sent[0]?.body ?? ''), {
      event: 'ping',
      companyId: acme.id,
      data: { message: 'This is a test delivery.' },
    });
  });

  await t.test('pings 20 times a minute in all webhooks of a company', async (t) => {
    for (const letter of ['a', 'b', 'c', 'd', 'e']) await acme.addWebhook(`whk_${letter}`, ['job.updated']);
    const pingOf = (webhook: string) => ping(engine, { company: acme.id, webhook }, { now: later(20) });
    for (const letter of ['a', 'b', 'c', 'd'])
      for (let index = 0; index < 5; index += 1) await pingOf(`whk_${letter}`);
    await deleteWebhook(engine, acme.id, 'whk_a', later(20));
    await refused(t, pingOf('whk_e'), /20 in all/);
    await engine.run(`DELETE FROM deliveries WHERE webhook <> 'whk_all'`);
    await engine.run(`DELETE FROM webhooks WHERE id <> 'whk_all'`);
  });

  await t.test('is gone with the webhook', async (t) => {
    await deleteWebhook(engine, acme.id, 'whk_all', at);
    await refused(t, listDeliveries(engine, of, { limit: 1 }), /has no webhook/);
    await refused(t, ping(engine, of, { now: later(9) }), /has no webhook/);
    await refused(t, recover(engine, of, { from: at }, at), /has no webhook/);
  });
});

const SECRET = 'whsec_ZmllbGRsZWRnZXItc2lnbmF0dXJlLXRlc3R2ZWN0b3I=';

interface Received {
  headers: Record<string, string>;
  body: string;
}

/** Makes every move, and pings, in companies with a webhook for everything. */
async function makeEverything(engine: Engine): Promise<void> {
  const backoffice = openBackoffice(engine);
  for (const { id, currency, countryCode, vatId } of fedCompanies) {
    const profile = { legalName: 'Brennan', addressLines: ['1 Main Street'], countryCode, vatId };
    await createCompany(engine, id, { currency, profile }, new Date());
    const secret = sealedSecret(id, 'whk_all', SECRET);
    await addWebhook(engine, id, 'whk_all', { url: `https://${HOST}/hook?of=${id}`, secret });
    await ping(engine, { company: id, webhook: 'whk_all' }, { now: new Date() });
  }
  // Some of its lines are refused on purpose.
  for (const change of killFeed(1)) await applyChange(backoffice, change as Change).catch(() => undefined);
}

const validators = new Map<string, ValidateFunction>(
  events.map((event) => [event.kind, strictAjv().compile(closed(eventBodyOf(event).schema))]),
);

/** A verifier that nobody here wrote: the scheme is the same. */
const { webhooks } = new Stripe('sk_test_unused');

/** Whether a receiver would take it: a signature of this very body, made within the last five minutes. */
function isVerified({ headers, body }: Received): boolean {
  try {
    webhooks.constructEvent(body, headers['service-signature'] ?? '', SECRET);
    return true;
  } catch {
    return false;
  }
}

/** The faults of a request, by webhooks.yaml and by Stripe's verification. */
function problemsOf(received: Received): string[] {
  const { headers, body } = received;
  const event = headers['service-event'] ?? '';
  const content = JSON.parse(body) as { id: string; event: string; data: unknown };
  const validate = validators.get(event);
  const checks = {
    schema: validate?.(content) === true,
    event: content.event === event,
    delivery: headers['service-delivery'] === content.id,
    userAgent: headers['user-agent'] === 'Fieldledger-Webhooks/1',
    contentType: headers['content-type'] === 'application/json',
    signature: /^t=\d+,v1=[0-9a-f]{64}$/.test(headers['service-signature'] ?? ''),
    verified: isVerified(received),
  };
  const wrong = Object.entries(checks).filter(([, isRight]) => !isRight);
  return wrong.map(([name]) => `${event}: ${name} ${JSON.stringify(validate?.errors ?? null)} ${body}`);
}

onEachStore('every event is delivered as webhooks.yaml says, and can be verified', async (t, { engine }) => {
  const received: Received[] = [];
  await using receiver = await startHttpsReceiver((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => (body += text));
    req.on('end', () => {
      // Every header of a webhook is one line.
      received.push({ headers: req.headers as Record<string, string>, body });
      res.writeHead(204).end();
    });
  });
  await using sender = senderTo(receiver);
  await using loop = startLoop(engine, sender);
  await loop.idle();
  await makeEverything(engine);
  await settled(engine, 'delivered');
  t.strictSame(received.flatMap(problemsOf), []);
  const kinds = new Set(received.map(({ headers }) => headers['service-event']));
  t.strictSame([...kinds].sort(), events.map(({ kind }) => kind).sort(), 'each of them');
  const rows = await engine.db.selectFrom('events').select(['id', 'data']).execute();
  t.ok(
    rows.every(({ data }) => received.some(({ body }) => body.endsWith(`,"data":${data}}`))),
    'as the API shows it',
  );
});
