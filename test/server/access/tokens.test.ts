import t from 'tap';

import { knownBrowserOf, rememberBrowser } from '../../../src/server/features/sign-in/known-browsers.ts';
import { isToken, mintToken, mintTokenOf, tokenHash } from '../../../src/server/access/tokens.ts';
import { STORY_NOW } from '../../_server.ts';

t.test('a token is 32 random bytes, and its digest is no token', async (t) => {
  const token = mintToken();
  t.ok(isToken(mintTokenOf('acme')), 'where it names its company');
  t.equal(Buffer.from(token, 'base64url').length, 32);
  t.not(mintToken(), token);
  for (const text of ['', 'a', token, tokenHash(token), `acme.${token}=`, ` ${token}`, token.slice(1)])
    t.notOk(isToken(text), text);
});

const aoife = { administrator: { id: 'adm_1' }, password: 'scrypt$32768$8$3$AAAA$BBBB' };
const account = (index: number) => ({
  administrator: { id: `adm_${index}` },
  password: `scrypt$32768$8$3$AAAA$${index}`,
});
const days = (count: number) => new Date(STORY_NOW.getTime() + count * 86_400_000);

t.test('a browser is known to the account that it signed in to, by one number', async (t) => {
  const cookie = rememberBrowser(undefined, aoife, STORY_NOW);
  const number = knownBrowserOf(cookie, aoife, STORY_NOW);
  t.match(number, /^[\w-]{22}$/);
  const renewed = rememberBrowser(cookie, aoife, days(300));
  t.equal(knownBrowserOf(renewed, aoife, days(600)), number, 'each sign-in prolongs it');
  t.equal(knownBrowserOf(cookie, aoife, days(400)), undefined, 'and it ends');
  t.not(knownBrowserOf(rememberBrowser(undefined, aoife, STORY_NOW), aoife, STORY_NOW), number);
});

t.test('no other account, password or cookie is taken for it', async (t) => {
  const cookie = rememberBrowser(undefined, aoife, STORY_NOW);
  const [number = '', endsAt = '', mac = ''] = cookie.split('.');
  t.equal(knownBrowserOf(cookie, { ...aoife, administrator: { id: 'adm_2' } }, STORY_NOW), undefined);
  t.equal(knownBrowserOf(cookie, { ...aoife, password: `${aoife.password}C` }, STORY_NOW), undefined);
  t.equal(knownBrowserOf(cookie, undefined, STORY_NOW), undefined, 'there is no such account');
  const forged = [
    `${number}.${Number(endsAt) + 1}.${mac}`,
    `${'A'.repeat(22)}.${endsAt}.${mac}`,
    `${number}.${endsAt}.${'A'.repeat(43)}`,
    `${number}.${endsAt}.${'é'.repeat(43)}`,
    '',
    '~~~',
    'x'.repeat(100_000),
    '~'.repeat(100_000),
  ];
  for (const one of forged) t.equal(knownBrowserOf(one, aoife, STORY_NOW), undefined, one.slice(0, 90));
  const nobody = { administrator: { id: '' }, password: '' };
  t.equal(knownBrowserOf(rememberBrowser(undefined, nobody, STORY_NOW), undefined, STORY_NOW), undefined);
});

t.test('several people may use a browser, and its cookie stays short', async (t) => {
  let cookie: string | undefined;
  for (let index = 1; index <= 7; index += 1) cookie = rememberBrowser(cookie, account(index), STORY_NOW);
  const known = [1, 2, 3, 4, 5, 6, 7].filter((index) => knownBrowserOf(cookie, account(index), STORY_NOW));
  t.strictSame(known, [3, 4, 5, 6, 7]);
  cookie = rememberBrowser(cookie, account(4), STORY_NOW);
  t.ok(cookie.length < 450, `${cookie.length} characters`);
});
