import t from 'tap';

import { EMAIL, hiddenFields, PASSWORD, startPortal } from './_portal.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
];

t.test(
  'no page can be framed, cached, sniffed or scripted, nor tells another site its address',
  async (t) => {
    const portal = await startPortal(t);
    const visitor = await portal.signedIn();
    const paths = ['/portal', '/portal/people', '/portal/sign-in', '/portal/nothing', '/portal/invitation'];
    for (const path of paths) {
      const { headers, body } = await visitor.visit(path);
      t.equal(headers['content-security-policy'], POLICY.join(';'), path);
      t.match(headers, {
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
        'content-type': 'text/html; charset=utf-8',
        'x-request-id': /^[0-9a-f-]{36}$/,
      });
      t.equal(headers['x-powered-by'], undefined);
      t.equal(headers['strict-transport-security'], undefined, 'over http there is nothing to insist on');
      t.notMatch(body, /<script(?! src="\/portal\/assets\/)|<style|\son\w+=|style="|javascript:|https?:\/\//);
    }
    const refused = await visitor.send('/portal/people/invite', {});
    t.match(refused.headers, { 'cache-control': 'no-store', 'x-frame-options': 'DENY' }, 'nor a refusal');
  },
);

t.test('the assets of pages may be kept for ever, under addresses that name their content', async (t) => {
  const portal = await startPortal(t);
  const visitor = portal.visitor();
  const { body } = await visitor.visit('/portal/sign-in');
  const paths = [...body.matchAll(/(?:href|src)="(\/portal\/assets\/[^"]*)"/g)].map(([, path = '']) => path);
  t.equal(paths.length, 3);
  for (const path of paths) {
    const { statusCode, headers } = await portal.visitor().visit(path);
    t.equal(statusCode, 200, path);
    t.equal(headers['cache-control'], 'public, max-age=31536000, immutable');
    t.equal(headers['set-cookie'], undefined, 'what caches keep carries no cookie');
    t.match(path, /^\/portal\/assets\/[0-9a-f]{16}\/[a-z.]+$/);
  }
});

t.test('over https the cookies belong to the host alone, and the browser keeps to https', async (t) => {
  const portal = await startPortal(t, 'sqlite', { baseUrl: 'https://api.example.com' });
  const visitor = portal.visitor();
  const own = { origin: 'https://api.example.com' };
  const { headers } = await visitor.visit('/portal/sign-in');
  t.match(
    headers['set-cookie']?.[0],
    /^__Host-fieldledger_guest=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  t.equal(headers['strict-transport-security'], 'max-age=31536000');
  const answer = await visitor.submit('/portal/sign-in', { email: EMAIL, password: PASSWORD }, own);
  t.equal(answer.statusCode, 303);
  t.match(
    answer.headers['set-cookie']?.[0],
    /^__Host-fieldledger_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  visitor.cookies.set('fieldledger_session', visitor.cookies.get('__Host-fieldledger_session') ?? '');
  visitor.cookies.delete('__Host-fieldledger_session');
  t.equal(
    (await visitor.visit('/portal')).statusCode,
    303,
    'a cookie that any neighbour can set is not looked at',
  );
});

t.test('over http the cookies can at least not be read by scripts, nor sent by other sites', async (t) => {
  const portal = await startPortal(t);
  const visitor = portal.visitor();
  await visitor.visit('/portal/sign-in');
  const { headers } = await visitor.submit('/portal/sign-in', { email: EMAIL, password: PASSWORD });
  t.match(headers['set-cookie']?.[0], /^fieldledger_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
});

t.test('after signing in nobody is sent to another site', async (t) => {
  const portal = await startPortal(t);
  const destinations: [next: string, to: string][] = [
    ['/portal/people', '/portal/people'],
    ['/portal/audit?action=key.created&before=0192', '/portal/audit?action=key.created&before=0192'],
    ['https://evil.example/', '/portal'],
    ['//evil.example/', '/portal'],
    ['/\\evil.example', '/portal'],
    ['/portal/..//evil.example', '/portal'],
    ['/portal//evil.example', '/portal'],
    ['/portal@evil.example', '/portal'],
    ['/portal.evil.example', '/portal'],
    ['javascript:alert(1)', '/portal'],
    ['/portal\r\nSet-Cookie: a=b', '/portal'],
    ['/portal/people\n', '/portal'],
    ['\t//evil.example', '/portal'],
    ['/api/v1/jobs', '/portal'],
    ['', '/portal'],
  ];
  for (const [next, to] of destinations) {
    const visitor = portal.visitor();
    await visitor.visit(`/portal/sign-in?next=${encodeURIComponent(next)}`);
    const kept = hiddenFields(visitor.shown, '/portal/sign-in').next?.replaceAll('&amp;', '&');
    t.equal(kept, to, `the form keeps ${JSON.stringify(next)} as ${to}`);
    const { statusCode, headers } = await visitor.submit('/portal/sign-in', {
      email: EMAIL,
      password: PASSWORD,
      next,
    });
    t.strictSame([statusCode, headers.location], [303, to]);
  }
});

t.test('a server without the portal has nothing there', async (t) => {
  const portal = await startPortal(t, 'sqlite', { portal: undefined });
  for (const path of ['/portal', '/portal/sign-in']) {
    const { statusCode, headers } = await portal.visitor().visit(path);
    t.equal(statusCode, 404);
    t.match(headers['content-type'], /json/);
  }
});
