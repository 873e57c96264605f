import { createCanvas } from '@napi-rs/canvas';
import t from 'tap';

import { logoFromFile } from '../../../src/server/logos/logo.ts';
import { accentStyle, parseAccent } from '../../../src/server/process/vendor-look.ts';
import { EMAIL, onSqlite, PASSWORD } from './_portal.ts';

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

/** The cookie by which a browser is known again, which is kept for long. */
const knownBrowser = (name: string, secure: string) =>
  new RegExp(
    `^${name}=[\\w-]{22}\\.\\d+\\.[\\w-]{43}; Max-Age=34560000; Path=/; Expires=.*; HttpOnly; ${secure}SameSite=Lax$`,
  );

onSqlite('no page can be framed, cached, sniffed or scripted', async (t, portal) => {
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
    // The overview tells the API's address, which isn't loaded.
    const loaded = body.replace(/<code>http:\/\/127\.0\.0\.1[^<]*<\/code>/, '');
    t.notMatch(loaded, /<script(?! src="\/portal\/assets\/)|<style|\son\w+=|style="|javascript:|https?:\/\//);
  }
  const { headers } = await visitor.signIn(EMAIL, PASSWORD);
  const cookie = /^fieldledger_session=[\w-]+\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/;
  t.match(headers['set-cookie']?.[0], cookie, 'no script can read it, and no other site sends it');
  t.match(headers['set-cookie']?.[1], knownBrowser('fieldledger_browser', ''));
  const refused = await visitor.send('/portal/people/invite', {});
  t.match(refused.headers, { 'cache-control': 'no-store', 'x-frame-options': 'DENY' }, 'nor a refusal');
});

onSqlite('assets may be kept for ever, and their addresses name their content', async (t, portal) => {
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

onSqlite(
  'over https cookies belong to the host alone',
  { baseUrl: 'https://api.example.com' },
  async (t, portal) => {
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
      /^__Host-fieldledger_session=[\w-]+\.[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    t.match(answer.headers['set-cookie']?.[1], knownBrowser('__Host-fieldledger_browser', 'Secure; '));
    visitor.cookies.set('fieldledger_session', visitor.cookies.get('__Host-fieldledger_session') ?? '');
    visitor.cookies.delete('__Host-fieldledger_session');
    t.equal(
      (await visitor.visit('/portal')).statusCode,
      303,
      'a cookie that any neighbour can set is not looked at',
    );
  },
);

onSqlite('a server without the portal has nothing there', { portal: undefined }, async (t, portal) => {
  for (const path of ['/portal', '/portal/sign-in']) {
    const { statusCode, headers } = await portal.visitor().visit(path);
    t.equal(statusCode, 404);
    t.match(headers['content-type'], /json/);
  }
});

const canvas = createCanvas(64, 32);
canvas.getContext('2d').fillRect(0, 0, 64, 32);
const logo = logoFromFile(await canvas.encode('png'));
const VENDOR = {
  look: { accent: '#7a1fa2', logo },
  serviceName: 'Acme',
  supportUrl: 'https://help.acme.example/',
};

onSqlite(
  'portal, references and changelog have the vendor’s logo, colour and name',
  VENDOR,
  async (t, portal) => {
    const visitor = portal.visitor();
    await visitor.visit('/portal/sign-in');
    const [, stylesheet = ''] = /href="([^"]*portal\.css)"/.exec(visitor.shown) ?? [];
    const [, picturePath = ''] = /<img src="([^"]*)" alt="" \/>Acme</.exec(visitor.shown) ?? [];
    const shown = await portal.http(picturePath.slice(1), { responseType: 'buffer' });
    t.match(shown.headers, { 'content-type': 'image/png', 'cache-control': /immutable/ });
    t.equal(
      `data:image/png;base64,${Buffer.from(shown.body).toString('base64')}`,
      logo,
      'as it was written anew',
    );
    t.match((await portal.http(stylesheet.slice(1))).body, /^:root\{--accent:#7a1fa2;/);
    for (const path of ['changelog', 'workflows/']) {
      const { body, headers } = await portal.http(path);
      t.ok(body.includes(`<header class="vendor"><img src="${logo}" alt="">Acme</header>\n<main>`), path);
      t.match(body, /--accent:#7a1fa2/);
      t.match(headers['content-security-policy'], /img-src data:/);
    }
  },
);

onSqlite('the portal links to help wherever it says whom to ask', VENDOR, async (t, portal) => {
  const help = 'href="https://help.acme.example/"';
  const visitor = portal.visitor();
  await visitor.visit('/portal/forgotten');
  t.match(visitor.shown, `<a ${help}>the operator of this service</a>`);
  await visitor.visit('/portal/nothing');
  t.match(visitor.shown, `<a ${help}>Get help</a>`);
  for (const path of ['sign-in', 'invitation', 'companies']) {
    await visitor.visit(`/portal/${path}`);
    t.match(visitor.shown, `<a ${help}>Get help</a>`, path);
  }
  const administrator = await portal.signedIn();
  await administrator.visit('/portal/account/second-factor');
  t.match(administrator.shown, `<a ${help}>Get help</a>`, 'nor is somebody locked out who has to set one up');
  await portal.engine.run('UPDATE companies SET api_enabled = 0');
  for (const path of ['', '/keys', '/webhooks', '/usage']) {
    await administrator.visit(`/portal${path}`);
    t.match(administrator.shown, `<a ${help}>your account manager</a>`, path);
  }
});

t.test('a colour is taken as far as its text can be read', async (t) => {
  // The contrasts were computed with WebAIM's checker, against #fbfaf8.
  t.throws(() => parseAccent('#757575'), /4\.4\d:1$/);
  t.equal(parseAccent('#0F5C5C'), '#0f5c5c');
  t.match(
    accentStyle({ accent: '#000000', logo: undefined }),
    /:root\{--accent:#[78]/,
    'lightened on dark pages',
  );
  t.match(accentStyle({ accent: undefined, logo: undefined }), /--accent:#0f5c5c;.*--accent:#6fc7c0/);
});
