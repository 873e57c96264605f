import fc from 'fast-check';
import t from 'tap';

import { formTokenFor, isFormToken, isFromOwnPage } from '../../src/portal/form-tokens.ts';
import { ownPath } from '../../src/portal/own-path.ts';

t.test('a token is known again with its cookie alone, and looks different each time', async (t) => {
  const [one, other] = [formTokenFor('cookie'), formTokenFor('cookie')];
  t.not(one, other);
  t.ok(isFormToken(one, 'cookie') && isFormToken(other, 'cookie'));
  t.notOk(isFormToken(one, 'another'));
  t.notOk(one.includes('cookie'));
});

t.test('nothing else is a token', async () => {
  fc.assert(fc.property(fc.string(), (given) => !isFormToken(given, 'cookie')));
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 60, maxLength: 70 }), (bytes) => {
      return !isFormToken(Buffer.from(bytes).toString('base64url'), 'cookie');
    }),
  );
});

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
    fc.string({ unit: 'binary' }),
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
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
