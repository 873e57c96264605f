import t from 'tap';
import { verifyWebhook, WebhookError } from '../../src/client/index.ts';
import type { Event } from '../../src/client/index.ts';
import { exampleEvents, exampleSecret } from '../../src/contract/examples.ts';
import { signatureOf } from '../../src/contract/delivery-request.ts';

const secret = exampleSecret();
const at = new Date(1_795_176_000_000);
const vector = {
  body: '{"id":"dlv_01a1f8d2-a300-7b6e-9c41-2f7d5ab90c63","event":"ping","createdAt":"2026-11-20T12:00:00.000Z","companyId":"brennan","data":{"message":"This is a test delivery."}}',
  header: 't=1795176000,v1=0c08c3636f597be3457021e76082ecca4923c583622cbee5965b3abe5b0d96a9',
};
const headers = { 'service-signature': vector.header };
const later = (seconds: number) => ({ now: new Date(at.getTime() + seconds * 1000) });

t.test('the contract’s test vector is believed, in every form of body and headers', async (t) => {
  const event = JSON.parse(vector.body) as Event;
  const bytes = new TextEncoder().encode(vector.body);
  for (const body of [vector.body, bytes, bytes.buffer, Buffer.from(vector.body)]) {
    t.strictSame(await verifyWebhook(body, headers, secret, later(0)), event);
  }
  for (const given of [
    new Headers(headers),
    { 'Service-Signature': vector.header },
    { ...headers, other: ['a', 'b'] },
    { 'service-signature': [vector.header] },
  ]) {
    t.strictSame(await verifyWebhook(bytes, given, secret, later(0)), event);
  }
});

t.test('every example of the contract, as the service signs it, comes out with its type', async (t) => {
  for (const { event, body } of exampleEvents()) {
    const signed = { 'Service-Signature': signatureOf(secret, body, at) };
    const verified = await verifyWebhook(body, signed, secret, later(0));
    t.strictSame(verified, JSON.parse(body));
    t.equal(verified.event, event);
    // The compiler knows the data by the event.
    if (verified.event === 'invoice.issued') t.match(verified.data.number, /^INV-/);
  }
});

t.test('while a secret is rotated, either is believed', async (t) => {
  t.equal((await verifyWebhook(vector.body, headers, ['whsec_new', secret], later(0))).event, 'ping');
  t.equal(
    (await verifyWebhook(vector.body, headers, `${secret}\r\n`, later(0))).event,
    'ping',
    'as a file has it',
  );
});

t.test('a clock may differ by five minutes, to either side', async (t) => {
  for (const seconds of [-300, 300]) await verifyWebhook(vector.body, headers, secret, later(seconds));
  for (const seconds of [-301, 301]) {
    await t.rejects(verifyWebhook(vector.body, headers, secret, later(seconds)), { code: 'wrong_time' });
  }
  const longer = { ...later(3_000), toleranceSeconds: 3_600 };
  t.equal((await verifyWebhook(vector.body, headers, secret, longer)).event, 'ping');
  await t.rejects(
    verifyWebhook(vector.body, headers, secret),
    { code: 'wrong_time' },
    'by the machine’s clock',
  );
});

/** The signature with another digit at one place. */
function differing(place: number): string {
  const [start = '', v1 = ''] = vector.header.split(',v1=');
  return `${start},v1=${v1.slice(0, place)}${v1[place] === '0' ? '1' : '0'}${v1.slice(place + 1)}`;
}

t.test('whatever was changed is not believed, and the error says what is wrong', async (t) => {
  const verify = (body: string, header: string | readonly string[] | undefined, key = secret) =>
    verifyWebhook(body, header === undefined ? {} : { 'service-signature': header }, key, later(0));
  const { header: sent } = vector;
  for (const [code, body, header, key] of [
    ['wrong_signature', `${vector.body} `, vector.header],
    ...[0, 9, 18, 27, 36, 45, 54, 63].map(
      (place) => ['wrong_signature', vector.body, differing(place)] as const,
    ),
    ['wrong_signature', vector.body, vector.header.replace('1795176000', '1795176001')],
    ['wrong_signature', vector.body, vector.header, 'whsec_other'],
    ['wrong_signature', vector.body, vector.header, secret.replace('whsec_', '')],
    ['no_signature', vector.body, undefined],
    ['no_signature', vector.body, ''],
    // Of several none is believed.
    ['no_signature', vector.body, []],
    ['no_signature', vector.body, [sent, sent]],
    ['no_signature', vector.body, [sent, 'other']],
    ['no_signature', vector.body, vector.header.slice(0, -1)],
    ['no_signature', vector.body, `${vector.header},v1=00`],
    ['no_event', '[]', signatureOf(secret, '[]', at)],
    ['no_event', '{', signatureOf(secret, '{', at)],
  ] as const) {
    const error: unknown = await verify(body, header, key).catch((caught: unknown) => caught);
    t.ok(error instanceof WebhookError);
    t.match(error, { code });
    t.notMatch((error as Error).message, secret);
  }
});

t.test('a missing secret is a mistake of the program, not of the sender', async (t) => {
  const empty = 'A signing secret must not be empty.';
  const noText = (named: string) => `A signing secret must be a text, not ${named}.`;
  // JavaScript lets those through that are no texts.
  const wrong: [secret: unknown, message: string][] = [
    ['', empty],
    [[], empty],
    [[secret, ''], empty],
    [undefined, noText('undefined')],
    [null, noText('null')],
    [[secret, undefined], noText('undefined')],
    [Buffer.from(secret), noText('object')],
  ];
  for (const [given, message] of wrong)
    await t.rejects(verifyWebhook(vector.body, headers, given as string, later(0)), new TypeError(message));
  const parsed = JSON.parse(vector.body) as string;
  await t.rejects(verifyWebhook(parsed, headers, secret, later(0)), {
    message: /raw bytes or text.* not object/,
  });
});
