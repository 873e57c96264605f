import t from 'tap';

import { logoFromFile } from '../../../src/server/logos/logo.ts';
import { accentStyle, parseAccent } from '../../../src/server/vendor-look.ts';
import { encode } from 'fast-png';
import { onSqlite } from './_portal.ts';

const picture = { width: 64, height: 32, data: new Uint8Array(64 * 32 * 3).fill(90), channels: 3 };
const logo = logoFromFile(Buffer.from(encode(picture)));
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
  const administrator = await portal.signedIn();
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
