import fc from 'fast-check';
import t from 'tap';

import { formTokenFor, isFormToken, isFromOwnPage } from '../../../src/server/views/form-tokens.ts';
import { ownPath } from '../../../src/server/views/visit.ts';
import { routes } from '../../../src/server/portal/routes.ts';
import { anyCharacter, webAddress } from '../../_characters.ts';
import { COMPANY, hiddenFields, onSqlite, textOf } from './_portal.ts';

/** Every route of the portal with an address, so that a new one is attacked as soon as it is listed. */
const addresses = routes.map((route) => ({
  ...route,
  address: `/portal${route.path.replaceAll(/:\w+/g, 'some-id')}`,
}));

const MALLORY = { email: 'mallory@example.com', scopes: 'jobs:read' };
const REFUSAL = /This form has expired Nothing was changed/;

onSqlite('no action is done for a form without a token, or with one that is made up', async (t, portal) => {
  const visitor = await portal.signedIn();
  for (const { method, address, isOpen } of addresses) {
    if (method !== 'post' || isOpen) continue;
    for (const fields of [{}, { 'form-token': '' }, { 'form-token': 'A'.repeat(86) }]) {
      const { statusCode, body } = await visitor.send(address, fields);
      t.equal(statusCode, 403, address);
      t.match(textOf(body), REFUSAL);
    }
  }
  t.equal((await visitor.visit('/portal')).statusCode, 200, 'the session goes on');
});

onSqlite('a token works in its browser alone, and ends with its session', async (t, portal) => {
  const [visitor, attacker] = [await portal.signedIn(), await portal.signedIn()];
  const guest = portal.visitor();
  await guest.visit('/portal/sign-in');
  await attacker.visit('/portal/people');
  for (const { shown } of [attacker, guest]) {
    visitor.shown = shown;
    t.equal(await visitor.force('/portal/people/invite', MALLORY), 403);
  }
  await visitor.visit('/portal/people');
  const fields = { ...hiddenFields(visitor.shown, '/portal/people/invite'), ...MALLORY };
  await visitor.submit('/portal/sign-out');
  t.equal((await visitor.send('/portal/people/invite', fields)).statusCode, 403, 'after signing out');
  const again = await portal.signedIn();
  t.equal((await again.send('/portal/people/invite', fields)).statusCode, 403, 'in the next session');
  t.match(await again.read('/portal/people'), /No open invitations/);
});

onSqlite('a form of another site is refused even with the right token', async (t, portal) => {
  const visitor = await portal.signedIn();
  const send = async (headers: Record<string, string>) => {
    await visitor.visit('/portal/people');
    return (await visitor.submit('/portal/people/invite', MALLORY, headers)).statusCode;
  };
  for (const origin of ['https://evil.example', 'null', `${portal.url}.evil.example`])
    t.equal(await send({ origin }), 403, origin);
  // A neighbouring host is another site too.
  for (const site of ['cross-site', 'same-site', 'none'])
    t.equal(await send({ 'sec-fetch-site': site }), 403, site);
  t.equal(await send({}), 303, 'and our own page is not');
});

onSqlite('a form that is not one is refused before anything is done', async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/people');
  const { 'form-token': token = '' } = hiddenFields(visitor.shown, '/portal/people/invite');
  const json = { 'content-type': 'application/json' };
  t.equal((await visitor.send('/portal/people/invite', { 'form-token': token }, json)).statusCode, 403);
  const twice = await visitor.send('/portal/people/invite', { 'form-token': [token, token] });
  t.equal(twice.statusCode, 403);
  const email = 'x'.repeat(40_000);
  const large = await visitor.send('/portal/people/invite', { 'form-token': token, email });
  t.equal(large.statusCode, 413);
  t.match(textOf(large.body), /The form is too large/);
});

onSqlite('whoever is not signed in is sent to sign in, by every page and action', async (t, portal) => {
  for (const { method, address, access } of addresses) {
    const guest = portal.visitor();
    await guest.visit('/portal/sign-in');
    const token = hiddenFields(guest.shown, '/portal/sign-in');
    const { statusCode, headers } =
      method === 'get' ? await guest.visit(address) : await guest.send(address, token);
    if (access === 'guests') t.not(statusCode, 303, address);
    else t.match([statusCode, headers.location], [303, /^\/portal\/sign-in/], `${method} ${address}`);
  }
});

onSqlite('a page that is asked for in another way says so, and changes nothing', async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit('/portal/account');
  const hidden = hiddenFields(visitor.shown, '/portal/account/password');
  const { statusCode, headers } = await visitor.send('/portal/audit', hidden);
  t.equal(statusCode, 405);
  t.equal(headers.allow, 'GET, HEAD');
  t.equal((await visitor.visit('/portal/people/invite')).statusCode, 405);
  t.equal((await visitor.visit('/portal/sign-out')).statusCode, 405);
  t.equal((await visitor.visit(`/portal/${COMPANY}`)).statusCode, 404);
});

t.test(
  'a token is known again with its cookie alone, looks different each time, and nothing else is one',
  async (t) => {
    const [one, other] = [formTokenFor('cookie'), formTokenFor('cookie')];
    t.not(one, other);
    t.ok(isFormToken(one, 'cookie') && isFormToken(other, 'cookie'));
    t.notOk(isFormToken(one, 'another'));
    t.notOk(one.includes('cookie'));
    const bytes = fc.uint8Array({ minLength: 60, maxLength: 70 });
    const texts = fc.oneof(
      fc.string(),
      bytes.map((given) => Buffer.from(given).toString('base64url')),
    );
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(texts, (given) => !isFormToken(given, 'cookie')),
        { numRuns: 200 },
      ),
    );
  },
);

t.test('a form is ours when the browser says nothing against it', async (t) => {
  const baseUrl = 'https://api.example.com';
  const host = 'portal.internal:8080';
  const ours = [
    {},
    { host },
    { host, origin: baseUrl },
    { host, origin: `http://${host}` },
    { host, origin: baseUrl, 'sec-fetch-site': 'same-origin' },
  ];
  for (const headers of ours) t.ok(isFromOwnPage(headers, baseUrl), JSON.stringify(headers));
  const foreign = [
    { host, origin: 'null' },
    { host, origin: '' },
    { host, origin: 'https://api.example.com.evil.example' },
    { host, origin: 'http://portal.internal' },
    { host, origin: `file://${host}` },
    { host, origin: 'https://evil.example' },
    { host, origin: baseUrl, 'sec-fetch-site': 'cross-site' },
    { host, 'sec-fetch-site': 'none' },
  ];
  for (const headers of foreign) t.notOk(isFromOwnPage(headers, baseUrl), JSON.stringify(headers));
});

t.test('wherever an address leads, after signing in it is a page of ours', async (t) => {
  const origin = 'https://api.example.com';
  const texts = fc.oneof(
    fc.string({ unit: anyCharacter }),
    webAddress,
    fc
      .tuple(fc.constantFrom('/portal', '//portal', '/portal/', '/\\portal'), fc.string())
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const url = new URL(ownPath(text), origin);
      return url.origin === origin && /^\/portal(\/|$)/.test(url.pathname) && !/[\r\n]/.test(ownPath(text));
    }),
    { numRuns: 5_000 },
  );
  t.equal(ownPath(null), '/portal');
  t.equal(
    ownPath('/portal/webhooks/whk_1/deliveries?state=failed'),
    '/portal/webhooks/whk_1/deliveries?state=failed',
  );
});
