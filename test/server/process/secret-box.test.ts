import { randomBytes } from 'node:crypto';

import t from 'tap';

import { UsageError } from '../../../src/errors.ts';
import { createSecretBox, type SecretBox, type SecretOwner } from '../../../src/server/process/secret-box.ts';
import { mintSecret } from '../../../src/server/features/webhooks/registration.ts';

const newKey = () => randomBytes(32).toString('base64');
const owner = { company: 'acme', id: 'whk_1' };

function refusalOf(box: SecretBox, stored: string, whose: SecretOwner = owner): string {
  try {
    return `It is opened: ${box.open(stored, whose)}`;
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

t.test('a secret is whsec_ and 32 random bytes in base64', async (t) => {
  const secrets = Array.from({ length: 100 }, mintSecret);
  for (const secret of secrets) {
    t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    t.equal(Buffer.from(secret.slice('whsec_'.length), 'base64').length, 32);
  }
  t.equal(new Set(secrets).size, 100);
});

t.test('with a key a secret is stored so that it can only be read with it', async (t) => {
  const key = newKey();
  const secret = mintSecret();
  const stored = createSecretBox(key).seal(secret, owner);
  t.match(stored, /^sealed1\.[0-9a-f]{8}\.[\w-]+$/);
  for (const part of [secret, secret.slice(6, 40)]) {
    t.notOk(Buffer.from(stored.split('.')[2] ?? '', 'base64url').includes(part), 'nothing of it can be seen');
  }
  t.equal(createSecretBox(key).open(stored, owner), secret);
  t.not(createSecretBox(key).seal(secret, owner), stored, 'and no two texts are the same');
});

t.test('without a key no secret is stored', async (t) => {
  const secret = mintSecret();
  const unset = /the operator sets WEBHOOK_SECRET_KEY, the same for every server and worker/;
  t.throws(() => createSecretBox(undefined).seal(secret, owner), unset);
});

t.test('the previous key opens what it sealed, and seals nothing', async (t) => {
  const [old, next] = [newKey(), newKey()];
  const secret = mintSecret();
  const sealed = createSecretBox(old).seal(secret, owner);
  const [box, retired] = [createSecretBox(next, old), createSecretBox(undefined, old)];
  for (const one of [box, retired]) t.equal(one.open(sealed, owner), secret);
  t.equal(createSecretBox(next).open(box.seal(secret, owner), owner), secret);
  t.throws(() => retired.seal(secret, owner), /WEBHOOK_SECRET_KEY/);
});

t.test('a secret without its key is refused by the name of the setting', async (t) => {
  const stored = createSecretBox(newKey()).seal(mintSecret(), owner);
  const fingerprint = stored.split('.')[1] ?? '';
  const message =
    'The secret of "whk_1" of the company "acme" can\'t be opened: it was sealed with another ' +
    `WEBHOOK_SECRET_KEY, the one with the fingerprint ${fingerprint}; set that as WEBHOOK_SECRET_KEY or as ` +
    'WEBHOOK_SECRET_KEY_PREVIOUS.';
  t.equal(refusalOf(createSecretBox(undefined), stored), message);
  t.equal(refusalOf(createSecretBox(newKey(), newKey()), stored), message);
});

t.test("a secret that was damaged, or is another webhook's, isn't opened", async (t) => {
  const box = createSecretBox(newKey());
  const secret = mintSecret();
  const stored = box.seal(secret, owner);
  const message = (company: string, id: string) =>
    `The secret of "${id}" of the company "${company}" can't be opened: ` +
    "what is stored was damaged or is another's.";
  for (const [company, id] of [
    ['acme', 'whk_2'],
    ['other', 'whk_1'],
    ['acmew', 'hk_1'],
  ] as const)
    t.equal(refusalOf(box, stored, { company, id }), message(company, id));
  const [version, fingerprint, sealed = ''] = stored.split('.');
  const bytes = Buffer.from(sealed, 'base64url');
  const changed = Array.from(bytes, (byte, index) => Buffer.from(bytes).fill(byte ^ 1, index, index + 1));
  const shortened = [0, 12, 27, 28, bytes.length - 1].map((length) => bytes.subarray(0, length));
  const damaged = [...changed, ...shortened].map(
    (part) => `${version}.${fingerprint}.${part.toString('base64url')}`,
  );
  const others = ['', 'sealed1.', `sealed2.${fingerprint}.${sealed}`, secret.slice(1), `${stored}!`];
  for (const text of [...damaged, ...others]) t.equal(refusalOf(box, text), message('acme', 'whk_1'), text);
});

t.test('a key of another length is refused', async (t) => {
  for (const bytes of [0, 16, 31, 33]) {
    t.throws(() => createSecretBox(Buffer.alloc(bytes).toString('base64')), UsageError, `${bytes} bytes`);
  }
});
