import t from 'tap';

import { openSealed, seal } from '../../src/access/sealed-text.ts';
import { isToken, mintToken, tokenHash } from '../../src/access/tokens.ts';

t.test('what is sealed with a token is opened with that token alone', async (t) => {
  const [token, other] = [mintToken(), mintToken()];
  const sealed = seal('fl.acme.key.secret £', token);
  t.notMatch(Buffer.from(sealed, 'base64url').toString('latin1'), /secret/);
  t.equal(openSealed(sealed, token), 'fl.acme.key.secret £');
  t.throws(() => openSealed(sealed, other));
  t.throws(() => openSealed(`${sealed.slice(0, -4)}AAAA`, token), 'nor when it was changed');
  t.throws(() => openSealed('', token));
  t.not(seal('same', token), seal('same', token));
});

t.test('a token is 32 random bytes, and its digest is no token', async (t) => {
  const token = mintToken();
  t.ok(isToken(token));
  t.equal(Buffer.from(token, 'base64url').length, 32);
  t.not(mintToken(), token);
  for (const text of ['', 'a', tokenHash(token), `${token}=`, ` ${token}`, token.slice(1)])
    t.notOk(isToken(text), text);
});
