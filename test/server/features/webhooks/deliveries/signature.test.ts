import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import Stripe from 'stripe';
import t from 'tap';
import { parse } from 'yaml';

import { signatureOf } from '../../../../../src/contract/delivery-request.ts';

const contract = parse(readFileSync(join(import.meta.dirname, '../../../../../webhooks.yaml'), 'utf8')) as {
  components: {
    parameters: {
      ServiceSignature: { 'x-test-vector': { secret: string; t: number; body: string; header: string } };
    };
  };
};
const vector = contract.components.parameters.ServiceSignature['x-test-vector'];
const at = new Date(vector.t * 1000);
/** A verifier that nobody here wrote: the scheme is the same. */
const { webhooks } = new Stripe('sk_test_unused');

t.test("the contract's test vector comes out", async (t) => {
  t.equal(signatureOf(vector.secret, vector.body, at), vector.header);
  t.equal(signatureOf(vector.secret, Buffer.from(vector.body), at), vector.header, 'from bytes too');
});

t.test('the time is cut to whole seconds', async (t) => {
  t.equal(signatureOf(vector.secret, vector.body, new Date(at.getTime() + 999)), vector.header);
});

t.test("Stripe's own package refuses another secret, another body and an old time", async (t) => {
  const { secret, body } = vector;
  const now = new Date();
  const old = new Date(now.getTime() - 301_000);
  const verify = (header: string, text = body) => webhooks.constructEvent(text, header, secret);
  const mismatch = { message: /^No signatures found matching/ };
  t.throws(() => verify(signatureOf(secret.slice('whsec_'.length), body, now)), mismatch);
  t.throws(() => verify(signatureOf(secret, body, now), `${body} `), mismatch);
  t.throws(() => verify(signatureOf(secret, body, old)), { message: /^Timestamp outside/ });
});
