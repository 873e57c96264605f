import { hash, scryptSync } from 'node:crypto';

import t from 'tap';

import { createCompany } from '../../../src/server/backoffice/companies.ts';
import { getLink } from '../../../src/server/features/people/invitations.ts';
import { createAuthentication } from '../../../src/server/features/keys/keys.ts';
import { knownBrowserOf, rememberBrowser } from '../../../src/server/features/sign-in/known-browsers.ts';
import { arePasswords, hashPassword } from '../../../src/server/features/sign-in/passwords.ts';
import { useSession } from '../../../src/server/features/sign-in/sessions.ts';
import { tokenHash } from '../../../src/server/access/tokens.ts';
import { formTokenFor, isFormToken } from '../../../src/server/views/form-tokens.ts';
import { authorisedTransaction } from '../../../src/server/store/accounts/authorised-transaction.ts';
import { insertKey } from '../../../src/server/features/keys/stored-keys.ts';
import { addAdministrator, addCompany, COMPANY, inviteAs } from '../portal/_portal.ts';
import { KEY_PREFIX, STORY_NOW } from '../../_server.ts';
import { onEachStore } from '../store/_stores.ts';

/**
 * Texts whose SHA-256 digests agree in their first or last six bytes, found by trying some millions. Whoever compares
 * less than the whole digest takes one for the other.
 */
const alike: readonly (readonly [part: 'first' | 'last', one: string, other: string])[] = [
  ['first', token('twins', 2_440_367), token('twins', 20_061_645)],
  ['last', token('alike', 7_867_095), token('alike', 16_077_223)],
];
const alikeTokens: typeof alike = [
  ['first', `${COMPANY}.${token('twins', 34_399_411)}`, `${COMPANY}.${token('twins', 38_312_330)}`],
  ['last', `${COMPANY}.${token('alike', 18_923_262)}`, `${COMPANY}.${token('alike', 28_728_487)}`],
];
const alikeHeaders: typeof alike = [
  ['first', 'Bearer fl.acme.k1.twins-2844846', 'Bearer fl.acme.k1.twins-24098505'],
  ['last', 'Bearer fl.acme.k1.alike-12410111', 'Bearer fl.acme.k1.alike-37822265'],
];

function token(word: string, number: number): string {
  return `${word}-${String(number).padStart(37, '0')}`;
}

const isDone = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

t.test('the digests of these texts are alike', async (t) => {
  for (const [part, ...texts] of [...alike, ...alikeTokens, ...alikeHeaders]) {
    const digests = texts.map((text) => hash('sha256', text, 'hex'));
    const parts = digests.map((digest) => (part === 'first' ? digest.slice(0, 12) : digest.slice(-12)));
    t.equal(parts[0], parts[1], texts.join(' '));
    t.not(digests[0], digests[1]);
  }
});

onEachStore("a secret whose digest is like a key's is refused", async (t, { engine }) => {
  await createCompany(engine, 'acme', {}, STORY_NOW);
  const authenticate = createAuthentication(engine, { keyPrefix: KEY_PREFIX, windowSeconds: 60 });
  const digestOf = (secret: string) => hash('sha256', secret, 'hex');
  const putKey = (id: string, digest: string) =>
    authorisedTransaction(engine, { company: 'acme', by: 'operator', now: STORY_NOW }, async (authorised) => {
      await authorised.transaction.deleteFrom('api_keys').where('id', '=', id).execute();
      await insertKey(authorised, { id, name: 'Test', scopes: ['jobs:read'] }, digest, 20);
    });
  const isIn = (authorization: string) => isDone(authenticate(authorization));
  for (const [part, one, other] of [
    ...alike.map(
      ([part, one, other]) => [part, `Bearer fl.acme.k1.${one}`, `Bearer fl.acme.k1.${other}`] as const,
    ),
    // A header is remembered by a digest, too.
    ...alikeHeaders,
  ]) {
    await putKey('k1', digestOf(one.split('.').at(-1) ?? ''));
    t.strictSame([await isIn(one), await isIn(other), await isIn(one)], [true, false, true], part);
  }
  const secret = alike[0]?.[1] ?? '';
  for (const wrong of differing(digestOf(secret))) {
    await putKey('k1', wrong);
    if (await isIn(`Bearer fl.acme.k1.${secret}`)) t.fail(`${wrong} is taken for ${digestOf(secret)}`);
  }
});

onEachStore("a token whose digest is like a session's or a link's opens neither", async (t, { engine }) => {
  await addCompany(engine);
  const { id } = await addAdministrator(engine, { email: 'jane@acme.example' });
  await inviteAs(engine, 'joe@acme.example');
  const lengths = { idleMinutes: 30, hoursMax: 12 };
  const opens = async (given: string) => [
    (await useSession(engine, [given], lengths, STORY_NOW)) !== undefined,
    await isDone(getLink(engine, given, STORY_NOW)),
  ];
  for (const [part, one, other] of alikeTokens) {
    await engine.transaction(async (transaction) => {
      const digest = { token_sha256: tokenHash(one) };
      await transaction.updateTable('portal_sessions').set(digest).where('administrator', '=', id).execute();
      await transaction.updateTable('portal_links').set(digest).execute();
    });
    t.strictSame(await opens(one), [true, true], part);
    t.strictSame(await opens(other), [false, false], part);
  }
});

/** The same hex digits but for one, at each place. */
function differing(digits: string): string[] {
  return Array.from(digits, (digit, place) => {
    const other = digit === '0' ? '1' : '0';
    return digits.slice(0, place) + other + digits.slice(place + 1);
  });
}

t.test('a form token that differs in one byte is refused', async (t) => {
  const bytes = Buffer.from(formTokenFor('cookie'), 'base64url');
  t.ok(isFormToken(bytes.toString('base64url'), 'cookie'));
  for (const hex of differing(bytes.toString('hex'))) {
    if (isFormToken(Buffer.from(hex, 'hex').toString('base64url'), 'cookie')) t.fail(hex);
  }
});

t.test("a browser's proof that differs in one character is refused", async (t) => {
  const account = { administrator: { id: 'adm_1' }, password: 'scrypt$32768$8$3$AAAA$BBBB' };
  const proof = rememberBrowser(undefined, account, STORY_NOW);
  const [number = '', endsAt = '', mac = ''] = proof.split('.');
  for (let place = 0; place < mac.length - 1; place += 1) {
    const other = mac[place] === 'A' ? 'B' : 'A';
    const forged = [number, endsAt, mac.slice(0, place) + other + mac.slice(place + 1)].join('.');
    t.equal(knownBrowserOf(forged, account, STORY_NOW), undefined);
  }
});

t.test('a password whose stored key differs in one byte is refused', async (t) => {
  const stored = await hashPassword('copper kettles whistle softly');
  const [scheme = '', , , , salt = ''] = stored.split('$');
  // At a lower cost, which the stored form tells: there are many to try.
  const cost = { N: 16, r: 8, p: 1 };
  const key = scryptSync('copper kettles whistle softly', Buffer.from(salt, 'base64url'), 32, cost);
  const at = (hex: string) =>
    [scheme, 16, 8, 1, salt, Buffer.from(hex, 'hex').toString('base64url')].join('$');
  const isRight = async (stored: string) =>
    (await arePasswords('copper kettles whistle softly', [stored]))[0];
  t.ok(await isRight(at(key.toString('hex'))));
  for (const hex of differing(key.toString('hex'))) {
    if (await isRight(at(hex))) t.fail(hex);
  }
});
