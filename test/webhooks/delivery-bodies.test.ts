import type { ValidateFunction } from 'ajv/dist/2020.js';
import Stripe from 'stripe';
import t from 'tap';

import { createCompany } from '../../src/access/companies.ts';
import { applyChange } from '../../src/backoffice/apply.ts';
import { openOffice } from '../../src/backoffice/office.ts';
import type { Change } from '../../src/contract/feed.ts';
import type { Engine } from '../../src/store/engine.ts';
import { ping } from '../../src/webhooks/deliveries.ts';
import { fedCompanies, killFeed } from '../backoffice/_kill-feed.ts';
import { moveEvents } from '../backoffice/_office.ts';
import { until } from '../_command.ts';
import { closed, eventBodyOf, events, strictAjv } from '../contract/_contract.ts';
import { engineNames, openTestDatabase } from '../_server.ts';
import { deliveryRows, startLoop } from './_delivery-loop.ts';
import { HOST, startHttpsReceiver } from './_receivers.ts';
import { senderTo } from './_senders.ts';

const SECRET = 'whsec_ZmllbGRsZWRnZXItc2lnbmF0dXJlLXRlc3R2ZWN0b3I=';

interface Received {
  headers: Record<string, string>;
  body: string;
}

/** Makes every move, and pings, in companies with a webhook for everything. */
async function makeEverything(engine: Engine): Promise<void> {
  const office = openOffice(engine);
  for (const { id, currency, countryCode, vatId } of fedCompanies) {
    const profile = { legalName: 'Brennan', addressLines: ['1 Main Street'], countryCode, vatId };
    await createCompany(engine, id, { currency, profile }, new Date());
    const row = { company: id, id: 'whk_all', url: `https://${HOST}/hook?of=${id}`, secret: SECRET };
    const values = { ...row, events: JSON.stringify(moveEvents), created_at: new Date().toISOString() };
    await engine.transaction((transaction) => transaction.insertInto('webhooks').values(values).execute());
    await ping(engine, { company: id, webhook: 'whk_all' }, { now: new Date() });
  }
  // Some of its lines are refused on purpose.
  for (const change of killFeed(1)) await applyChange(office, change as Change).catch(() => undefined);
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

/** What is wrong with a request, by webhooks.yaml and by Stripe's verification. */
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

for (const name of engineNames) {
  t.test(`${name}: every event is delivered as webhooks.yaml says, and can be verified`, async (t) => {
    await using database = await openTestDatabase(name);
    const { engine } = database;
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
    await using sender = senderTo(receiver, { deadlineMs: 10_000 });
    await using loop = startLoop(engine, sender);
    await loop.idle();
    await makeEverything(engine);
    await until(async () => (await deliveryRows(engine)).every(({ state }) => state === 'delivered'));
    t.strictSame(received.flatMap(problemsOf), []);
    const kinds = new Set(received.map(({ headers }) => headers['service-event']));
    t.strictSame([...kinds].sort(), events.map(({ kind }) => kind).sort(), 'each of them');
    const rows = await engine.db.selectFrom('events').select(['id', 'data']).execute();
    t.ok(
      rows.every(({ data }) => received.some(({ body }) => body.endsWith(`,"data":${data}}`))),
      'as the API shows it',
    );
  });
}
