import { scryptSync } from 'node:crypto';

import t from 'tap';

import { hashPassword, isPassword } from '../../src/access/passwords.ts';
import { AppError } from '../../src/errors.ts';

const PASSWORD = 'copper kettles whistle softly';

t.test('a password is stored as scrypt with its parameters and a salt of its own', async (t) => {
  const [one, other] = await Promise.all([hashPassword(PASSWORD), hashPassword(PASSWORD)]);
  t.not(one, other);
  const [kind, N, r, p, salt = '', key] = one.split('$');
  t.strictSame([kind, N, r, p], ['scrypt', '32768', '8', '3']);
  const expected = scryptSync(PASSWORD, Buffer.from(salt, 'base64url'), 32, {
    N: 32_768,
    r: 8,
    p: 3,
    maxmem: 64 * 1024 * 1024,
  });
  t.equal(key, expected.toString('base64url'));
  t.equal(Buffer.from(salt, 'base64url').length, 16);
});

t.test('the right password is known again, also in another way of typing it, and no other is', async (t) => {
  const stored = await hashPassword('crème brûlée for breakfast');
  t.ok(await isPassword('crème brûlée for breakfast'.normalize('NFD'), stored));
  t.notOk(await isPassword('creme brulee for breakfast', stored));
  t.notOk(await isPassword('', stored));
  t.notOk(await isPassword('anything', undefined), 'nobody has a password');
});

t.test('a password that was stored with other parameters is still known', async (t) => {
  const salt = Buffer.alloc(16, 7);
  const key = scryptSync(PASSWORD, salt, 32, { N: 16_384, r: 8, p: 1 });
  const stored = `scrypt$16384$8$1$${salt.toString('base64url')}$${key.toString('base64url')}`;
  t.ok(await isPassword(PASSWORD, stored));
  t.notOk(await isPassword('something else', stored));
});

t.test('of a crowd that signs in at once some are sent away, and the others are answered', async (t) => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 60 }, () => isPassword(PASSWORD, undefined)),
  );
  const refused = outcomes.filter(
    ({ status, ...outcome }) =>
      status === 'rejected' &&
      'reason' in outcome &&
      outcome.reason instanceof AppError &&
      outcome.reason.code === 'unavailable',
  );
  t.equal(refused.length, 18, 'two are looked at, forty wait');
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 42);
  t.notOk(await isPassword(PASSWORD, undefined), 'and the next one has its turn');
});
