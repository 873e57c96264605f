import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import t from 'tap';
import type { Test } from 'tap';

import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { openBackoffice } from '../../../src/server/backoffice/backoffice.ts';
import { deliveryBytesMax } from '../../../src/contract/events.ts';
import { exampleSecret } from '../../../src/contract/examples.ts';
import { recordDay } from '../../../src/demo/day.ts';
import { type EventToDeliver, deliveryHeaders } from '../../../src/contract/delivery-request.ts';
import { type PlayedDelivery, playDay } from '../../../src/client/webhooks/played-day.ts';
import { startService } from '../_service.ts';
import { exampleOf } from '../../../src/client/webhooks/samples.ts';
import { callCommand, until } from '../../_command.ts';
import { keyFor, openTestDatabase, startTestServer } from '../../_server.ts';
import { missing } from '../../server/reference/_samples.ts';
import { type Program, startReceiver } from './_receiver.ts';

/*
 * The receivers that integrators start from, played to and killed.
 */

const secret = exampleSecret();
const folder = mkdtempSync(join(tmpdir(), 'fieldledger-receivers-'));
const examples = join(import.meta.dirname, '..', '..', '..', 'src', 'client', 'examples');
t.teardown(() => rmSync(folder, { recursive: true }));

/** The copy that a receiver keeps: the bodies of records by list and id. */
function copyIn(database: string): Record<string, unknown> {
  using db = new DatabaseSync(database, { timeout: 5_000 });
  const rows = db.prepare('SELECT list, id, body FROM records ORDER BY list, id').all() as Record<
    'list' | 'id' | 'body',
    string
  >[];
  return Object.fromEntries(rows.map(({ list, id, body }) => [`${list} ${id}`, JSON.parse(body)]));
}

interface Body {
  event: string;
  createdAt: string;
  data: { id: string; paymentId: string; invoiceId: string; paidOn: string };
}

/** The contents of a true copy after these deliveries. */
function copyAfter(deliveries: PlayedDelivery[]): Record<string, unknown> {
  const bodies = deliveries
    .filter(({ kind, event }) => kind !== 'forgery' && event !== 'ping')
    .map(({ body }) => JSON.parse(body) as Body);
  // In the order in which it happened, the last state of each record stays.
  const inOrder = bodies.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  const entries = inOrder.map(({ event, data }) => [keyOf(event, data), data] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : Number(a > b))));
}

function keyOf(event: string, { id, paymentId, invoiceId, paidOn }: Body['data']): string {
  if (event === 'payment.recorded') return `payments ${paymentId}`;
  if (event === 'invoice.paid') return `settlements ${invoiceId} ${paidOn}`;
  const [kind = ''] = event.split('.');
  const lists: Record<string, string> = { form: 'submissions', credit_note: 'invoices' };
  return `${lists[kind] ?? `${kind}s`} ${id}`;
}

/** The company with a day of changes, until the test ends. */
async function openDay(t: Test) {
  const database = await openTestDatabase('sqlite');
  t.teardown(() => database[Symbol.asyncDispose]());
  const events = await recordDay(database.engine, new Date('2026-11-23T08:00:00.000Z'));
  return { engine: database.engine, events };
}

async function testReceiver(t: Test, program: Program): Promise<void> {
  const DATABASE = join(folder, `${basename(program[1])}.db`);

  await t.test(
    'takes a day, is killed in the middle of it, and holds the newest of everything at its end',
    async (t) => {
      const first = await startReceiver(t, program, { DATABASE });
      const to = `http://127.0.0.1:${first.port}/`;
      // Nine hours in a second and a half.
      const playing = callCommand(['webhook', 'play', 'day', '--to', to, '--speed', '21600', '--json']);
      await until(() => Object.keys(copyIn(DATABASE)).length > 2);
      await first.kill();
      const second = await startReceiver(t, program, { DATABASE, PORT: first.port });
      const { exitCode, stdout, stderr } = await playing;
      await second.kill();
      t.equal(exitCode, 0, stderr);
      const { deliveries } = JSON.parse(stdout) as { deliveries: PlayedDelivery[] };
      t.strictSame(copyIn(DATABASE), copyAfter(deliveries));
      t.equal(Object.keys(copyIn(DATABASE)).length, 9);
    },
  );

  await t.test(
    'takes a delivery that a proxy sends in chunks, and refuses one that is too long',
    async (t) => {
      const { port } = await startReceiver(t, program, { DATABASE });
      const { event, body } = exampleOf('job.completed');
      const headers = deliveryHeaders(exampleOf(event), { serviceName: 'Acme', secret, at: new Date() });
      const statusOf = async (parts: Iterable<string>) => {
        const sent = request({
          port,
          method: 'POST',
          headers: { ...headers },
          agent: false,
          timeout: 10_000,
        });
        let status: number | undefined;
        sent.on('response', ({ statusCode }) => (status = statusCode)).on('error', () => undefined);
        // Without a length, Node sends each part as a chunk.
        for (const part of parts) sent.write(part);
        sent.end();
        await Promise.race([once(sent, 'response'), once(sent, 'close')]);
        sent.destroy();
        return status;
      };
      t.equal(await statusOf([body.slice(0, 7), body.slice(7, 300), body.slice(300)]), 204);
      t.ok(copyIn(DATABASE)[`jobs ${(JSON.parse(body) as Body).data.id}`], 'it is kept');
      t.equal(await statusOf([body, ' ']), 401, 'what is sent is what is verified');
      // A receiver that hangs up on the rest may end the connection before its answer is read.
      t.ok([413, undefined].includes(await statusOf(['x'.repeat(deliveryBytesMax), 'x'])));
      t.equal(await statusOf([body]), 204, 'and it goes on');
    },
  );

  await t.test('makes up for what it missed, and lets no old state win', async (t) => {
    const { engine, events } = await openDay(t);
    await using server = await startTestServer({ engine });
    const api = { API_URL: server.url, API_KEY: await keyFor(engine, 'brennan'), RECONCILE_SECONDS: '0.5' };
    const { port } = await startReceiver(t, program, { DATABASE, ...api });
    const listed = async (list: string, as = list) => {
      const { data } = await server
        .http(`api/v1/${list}`, { headers: { authorization: `Bearer ${api.API_KEY}` } })
        .json<{ data: { id: string }[] }>();
      return Object.fromEntries(data.map((record) => [`${as} ${record.id}`, record]));
    };
    const source = async () => ({
      ...(await listed('jobs')),
      ...(await listed('quotes')),
      ...(await listed('invoices')),
      ...(await listed('forms/frm_0001/submissions', 'submissions')),
    });
    const holds = async () => {
      const [copy, wanted] = [copyIn(DATABASE), Object.entries(await source())];
      return wanted.every(([key, record]) => JSON.stringify(copy[key]) === JSON.stringify(record));
    };
    t.equal(Object.keys(await source()).length, 5);
    await until(holds);

    const invoice = events.find(({ event }) => event === 'invoice.issued') as EventToDeliver;
    const paid = events.find(({ event }) => event === 'payment.recorded')?.data ?? '{}';
    const { invoiceId, paymentId } = JSON.parse(paid) as Body['data'];
    // It changes the invoice and sends nothing.
    await applyChange(openBackoffice(engine), {
      company: 'brennan',
      change: 'payment.void',
      with: { invoiceId, id: paymentId },
    });
    await until(holds);

    const late = await playDay([invoice], { to: `http://127.0.0.1:${port}/`, serviceName: 'Acme', secret });
    t.strictSame(late.map(({ problem }) => problem).filter(Boolean), []);
    t.ok(await holds(), 'the state of the event is older');
  });

  await t.test('gives its key to nobody else, wherever an answer leads', async (t) => {
    const stranger = await startService(t, [(_req, res) => res.end('{"data":[],"nextCursor":null}')]);
    const leading = await startService(t, [
      (req, res) => res.writeHead(302, { Location: `${stranger.url}${req.url ?? ''}` }).end(),
    ]);
    const api = { API_URL: leading.url, API_KEY: 'fl.a.b.c', RECONCILE_SECONDS: '0.2' };
    await startReceiver(t, program, { DATABASE: join(folder, 'led.db'), ...api });
    await until(() => leading.asked.length > 3);
    t.ok(leading.keys.includes('Bearer fl.a.b.c'));
    t.strictSame(stranger.keys.filter(Boolean), []);
  });

  await t.test('keeps no phantoms after the service was restored from a backup', async (t) => {
    const { engine } = await openDay(t);
    const DATABASE = join(folder, `${basename(program[1])}.phantoms.db`);
    const before = await startTestServer({ engine });
    const receiver = { DATABASE, API_KEY: await keyFor(engine, 'brennan'), RECONCILE_SECONDS: '0.2' };
    const first = await startReceiver(t, program, { ...receiver, API_URL: before.url });
    await until(() => Object.keys(copyIn(DATABASE)).some((key) => key.startsWith('submissions')));
    await first.kill();
    const copied = copyIn(DATABASE);
    using db = new DatabaseSync(DATABASE, { timeout: 5_000 });
    db.exec(
      `INSERT INTO records VALUES ('jobs', 'phantom', '2026-11-23', '{}'), ('payments', 'kept', '2026-11-23', '{}')`,
    );
    await before[Symbol.asyncDispose]();
    await engine.run('DELETE FROM store_generation');
    await using after = await startTestServer({ engine });
    const second = await startReceiver(t, program, { ...receiver, API_URL: after.url });
    await until(() => !('jobs phantom' in copyIn(DATABASE)));
    const wanted = { ...copied, 'payments kept': {} };
    await until(() => Object.keys(copyIn(DATABASE)).length === Object.keys(wanted).length);
    await second.kill();
    t.strictSame(copyIn(DATABASE), wanted);
  });

  await t.test('reads every list that its key may read, although others are forbidden to it', async (t) => {
    const { engine } = await openDay(t);
    await using server = await startTestServer({ engine });
    // The first list that it asks for is the one of jobs.
    const API_KEY = await keyFor(engine, 'brennan', ['invoices:read', 'forms:read']);
    const DATABASE = join(folder, `${basename(program[1])}-narrow.db`);
    await startReceiver(t, program, { API_URL: server.url, API_KEY, DATABASE });
    const held = () => new Set(Object.keys(copyIn(DATABASE)).map((record) => record.split(' ')[0]));
    await until(() => ['invoices', 'submissions'].every((list) => held().has(list)));
    t.notOk(held().has('jobs'));
  });
}

t.test('the receiver in TypeScript', (t) =>
  testReceiver(t, [process.execPath, join(examples, 'receiver.ts')]),
);

t.test('the receiver in Python', { skip: missing('python3') }, (t) =>
  testReceiver(t, ['python3', join(examples, 'receiver.py')]),
);
