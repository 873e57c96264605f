import t from 'tap';

import { checkedEmail, checkedName, grantedScopes } from '../../../src/server/access/checked-input.ts';
import { checkedKeyName } from '../../../src/server/features/keys/keys.ts';
import { feedDocument } from '../../../src/contract/feed.ts';
import { scopes } from '../../../src/contract/scopes.ts';
import { createAjv } from '../../../src/contract/validators.ts';
import type { Administrator } from '../../../src/server/store/accounts/administrator-rows.ts';

t.test('a name is taken as it is spelt, with joiners where its language has them', async (t) => {
  for (const name of [
    'مهدی\u200cزاده',
    'ශ්\u200dරී',
    '👩\u200d🔧 Nora',
    "Aoife O'Brien",
    '陳大文',
    '渡邉\u{e0101}',
  ]) {
    t.equal(checkedName(` ${name}`), name.normalize('NFC'));
    t.equal(checkedKeyName(name), name.normalize('NFC'));
  }
});

t.test('a refusal of a name says which character or rule it is about', async (t) => {
  const message = (code: string) => `The name has an invisible character, ${code}, after "Eve"; remove it.`;
  t.throws(() => checkedName('Eve\u202eadmin'), { message: message('U+202E'), field: 'name' });
  t.throws(() => checkedName('Eve\nadmin'), { message: message('U+000A') });
  t.throws(() => checkedName('Eve\u200badmin'), { message: message('U+200B') });
  for (const code of ['3164', '2800', '115F', '034F']) {
    const filler = String.fromCodePoint(parseInt(code, 16));
    t.throws(() => checkedName(`Eve${filler}`), { message: message(`U+${code}`) });
  }
  const rule = 'The name must have 1 to 100 characters, in one line.';
  for (const name of ['', ' ']) t.throws(() => checkedName(name), { message: 'Enter the name.' });
  for (const name of ['\u200d', '\ufe0f', 'x'.repeat(101)])
    t.throws(() => checkedName(name), { message: rule });
});

t.test('an email address is taken in small letters, and a refusal says what is wrong with it', async (t) => {
  t.equal(checkedEmail(' Aoife@Brennan.EXAMPLE '), 'aoife@brennan.example');
  const shapeless =
    'nobody a@b@c a\u0007@b.example jane@b.example. .jane@b.example ja..ne@b.example jane@-b.example jane@b-.example';
  for (const email of ['', `${'x'.repeat(250)}@b.example`, ...shapeless.split(' ')])
    t.throws(
      () => checkedEmail(email),
      { field: 'email', message: /isn't an email address|^Enter an email address/ },
      email,
    );
  const foreign: [email: string, told: RegExp][] = [
    ['се\u043e@brennan.example', /has the character "с" \(U\+0441\)/],
    ['ceo@br\u0435nnan.example', /\(U\+0435\).*only the letters a to z/],
    ['ce\u00f8@brennan.example', /\(U\+00F8\)/],
  ];
  for (const [email, message] of foreign) t.throws(() => checkedEmail(email), { field: 'email', message });
});

t.test('people give what they have, an operator everything, and nobody what there isn’t', async (t) => {
  const by: Pick<Administrator, 'scopes'> = { scopes: ['quotes:read', 'jobs:read'] };
  t.strictSame(
    grantedScopes(['quotes:read', 'jobs:read'], by),
    ['jobs:read', 'quotes:read'],
    'in their order',
  );
  t.strictSame(grantedScopes(scopes, 'operator'), scopes);
  const refused: [given: string[], by: typeof by | 'operator', told: RegExp][] = [
    [['jobs:read', 'forms:read'], by, /"forms:read" is not a scope that you can give; you have/],
    [['jobs:write'], by, /"jobs:write" is not a scope that you can give/],
    [['jobs:write'], 'operator', /"jobs:write" is not a scope; the scopes are/],
    [[''], by, /"" is not a scope/],
    [[], by, /^Choose at least one scope\./],
    [[], 'operator', /^Choose at least one scope\./],
  ];
  for (const [given, who, message] of refused)
    t.throws(() => grantedScopes(given, who), { field: 'scopes', message }, given.join());
});

t.test('the contract refuses the names and addresses of people that the service refuses', async (t) => {
  const refuses = (check: (given: string) => string, given: string) => {
    try {
      return check(given) === '';
    } catch {
      return true;
    }
  };
  const { name, email } = feedDocument().components.schemas.PortalLinkRequest?.properties ?? {};
  const names = [
    'Jane',
    ' Jane ',
    'O’Brien-Ní',
    'میهن\u200cنما',
    '❤️',
    'x'.repeat(100),
    '😀'.repeat(100),
    'Jane\n',
  ];
  const unseen = Array.from(
    '\u0000\n\u007f\u0085\u00ad\u034f\u061c\u115f\u200b\u200e\u2028\u202e\u2060\u2800\u3164\ufeff\uffa0\ufff9',
  );
  const badNames = [
    '',
    ' ',
    '\u00a0',
    '\u200d',
    '\ufe0f',
    '😀'.repeat(101),
    ...unseen.map((one) => `Ja${one}ne`),
  ];
  const emails = [
    'a@b',
    'Jane.Doyle+x@Acme.example ',
    "o'brien_{1}@xn--mnchen-3ya.example",
    `${'a'.repeat(246)}@b.examp`,
  ];
  const badEmails =
    'jane jane@ @acme a@b@c .a@b a.@b a..b@c a@.b a@-b a@b. a@b- a@b.-c a@b-.c a(b@c a;b@c "a"@b jäne@b a@ü'.split(
      ' ',
    );
  badEmails.push('a b@c', 'a@b\u007f', `${'a'.repeat(250)}@b.ex`);
  for (const [schema, check, right, wrong] of [
    [name, checkedName, names, badNames],
    [email, checkedEmail, emails, badEmails],
  ] as const) {
    const validate = createAjv().compile(schema ?? {});
    for (const given of right)
      t.strictSame([validate(given), refuses(check, given)], [true, false], encodeURI(given));
    for (const given of wrong)
      t.strictSame([validate(given), refuses(check, given)], [false, true], encodeURI(given));
  }
});
