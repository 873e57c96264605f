import { scryptSync } from 'node:crypto';

import t from 'tap';

import {
  type PasswordOwner,
  refuseWeakPassword,
} from '../../../../src/server/features/sign-in/password-strength.ts';
import { arePasswords, hashPassword } from '../../../../src/server/features/sign-in/passwords.ts';
import { AppError, UsageError } from '../../../../src/errors.ts';
import { processorMs } from '../../../_processor-time.ts';

const PASSWORD = 'copper kettles whistle softly';

/** The stored form of the password at another cost. */
function storedAt(N: number): string {
  const salt = Buffer.alloc(16, 7);
  const key = scryptSync(PASSWORD, salt, 32, { N, r: 8, p: 1 });
  return `scrypt$${N}$8$1$${salt.toString('base64url')}$${key.toString('base64url')}`;
}

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
  t.strictSame(await arePasswords('crème brûlée for breakfast'.normalize('NFD'), [stored]), [true]);
  t.strictSame(await arePasswords('creme brulee for breakfast', [stored]), [false]);
  t.strictSame(await arePasswords('', [stored]), [false]);
  t.strictSame(await arePasswords('anything', []), [], 'nobody has a password');
});

t.test('of a crowd that signs in at once some are sent away, and the others are answered', async (t) => {
  const stored = storedAt(1_024);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 60 }, () => arePasswords(PASSWORD, [stored])),
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
  t.strictSame(await arePasswords(PASSWORD, [stored]), [true], 'and the next one has its turn');
});

const owner = {
  email: 'jane.murphy@example.com',
  name: 'Jane Murphy',
  companyName: 'Brennan Heating & Cooling',
  serviceName: 'Acme Books',
};

/** The refusal's sentence; undefined when the password is taken. */
async function refusalOf(password: string, of: Partial<PasswordOwner> = {}): Promise<string | undefined> {
  try {
    await refuseWeakPassword(password, { ...owner, ...of });
    return undefined;
  } catch (error) {
    if (error instanceof UsageError && error.field === 'password') return error.message;
    throw error;
  }
}

/** Passwords that are refused, by the sentence that says why; each line is several of them. */
const refused: [rule: RegExp, ...passwords: string[]][] = [
  [
    /^The password must have 12 to 200 characters\. Several unrelated words/,
    ...['', 'elevenchars', 'x'.repeat(201), '𝒶𝒷'.repeat(5)],
  ],
  [
    /too easy to guess\. This is (similar to )?a commonly used password\./,
    ...['password1234', '123456789012', 'qwertyuiop12'],
    ...['iloveyou12345', 'P@ssw0rd1234!'],
  ],
  [
    /too easy to guess\. (Repeated character|Common character sequences)/,
    ...['aaaaaaaaaaaaaa', '121212121212', 'abcdefghijkl', '𝒶𝒷𝒸𝒹𝑒𝒻𝑔𝒽𝒾𝒿𝓀𝓁'],
  ],
  [/too easy to guess\. +?Several unrelated words/, 'Summer2026!!', 'p\u00adassword p\u00adassword'],
  [
    /too easy to guess\. People who guess passwords first try your name,/,
    ...['jane.murphy@example.com', 'Jane Murphy1', 'Jane.Murphy2026', 'murphyjane1990!', 'Brennan-2026!'],
    ...['BrennanHeatingCooling2026', 'ＢｒｅｎｎａｎHeating1', 'Jane-Mur.phy1'],
  ],
  // As it is, and as it is configured.
  [
    /too easy to guess\. .* and the name of this service\./,
    ...['Fieldledger!2026', 'Field-Ledger 2026', 'Welcome2Fieldledger'],
    ...['AcmeBooks2026!!', 'Acme.Books_123'],
  ],
  [
    /too easy to guess\. .* well-known phrases/,
    ...['correcthorsebatterystaple', 'йцукенгшщзхъ', 'пароль пароль', 'Correct Horse Battery Staple!'],
    ...['correct-horse-battery-staple-9', 'thequickbrownfoxjumpsoverthelazydog'],
    'To be, or not to be: that is the question',
  ],
];

t.test('a password that is soon guessed is refused with its reason', async (t) => {
  for (const [rule, ...passwords] of refused)
    for (const password of passwords) t.match(await refusalOf(password), rule, password.slice(0, 30));
});

t.test('a password that would take long to guess is taken, in whatever language', async (t) => {
  const taken = [
    ...['copper kettles whistle softly', 'jane murphy likes long walks', 'crème brûlée for breakfast'],
    ...['x7Kq9mPz4tLw', 'quatre vieux chevaux dorment', 'четыре старых лошади спят'],
  ];
  for (const password of taken) t.equal(await refusalOf(password), undefined, password);
});

/** People whose names are typed in several ways, or are short, with passwords that are made of these names. */
const named: [companyName: string, name: string, ...passwords: string[]][] = [
  [
    ...(['Ó Ceallacháin Pluiméireacht', 'Siobhán Ní Dhómhnaill'] as const),
    ...['oceallachain2026', 'ceallachain2026!', 'pluimeireacht1', 'Dhomhnaill2026!', 'Ní Dhómhnaill 1'],
    'Siobhan.Ni.2026',
  ],
  [
    'Müller Sanitär',
    'Seán Brónagh',
    'SeanBronagh1',
    'MullerSanitar1',
    'muellersanitaer',
    'Mu\u0308ller2026!!',
  ],
  ['Čerpadla s.r.o.', 'Žofie Nováková', 'zofienovakova', 'Cerpadla2026!'],
  [
    ...(['Łukasz Sørensen Straßenbau', 'Jim Roe'] as const),
    ...['lukasz2026!!', 'Sorensen2026!', 'soerensen2026', 'Strassenbau26'],
  ],
  ['ABC Ltd', 'Jim Roe', 'jimroeabc2026', 'JimRoe1985!!', 'abcltd2026!!', 'Jim-Roe-2026', 'roejim.1985.'],
  ['Acme Plumbing', 'Bob Day', 'bobday2026!!', 'Bob.Day.2026', 'Acme.Bob.1985'],
];
/** What has parts of these names by chance. */
const byChance = [
  ...['tidy-walrus-gravel-lantern-9', 'tram lantern orbit velvet', 'holiday abscess bobbin heroes'],
  ...['sunday jimjams progress cobalt', 'a bob of lanterns for a day', 'the ferret and roe deer limited'],
  ...['T7#kbobW9q!mz2', 'x7Kq9mPz4tLw'],
];

t.test(
  'nobody can take a password that is made of their names, and each one that has parts of them',
  async (t) => {
    const rule = /too easy to guess\. People who guess passwords first try your name,/;
    for (const [companyName, name, ...passwords] of named) {
      const of = { companyName, name, email: 'office@pipes.example' };
      for (const password of passwords) t.match(await refusalOf(password, of), rule, password);
      for (const password of byChance) t.equal(await refusalOf(password, of), undefined, password);
    }
  },
);

t.test('the longest password is looked at in a moment', async (t) => {
  const tookMs = await processorMs(() =>
    refusalOf('p@$$w0rd4!1 11.11.2011 {[<6369&#'.repeat(10).slice(0, 200)),
  );
  t.ok(tookMs < 15_000);
});

t.test('a password of signs is answered at once, whatever name its owner gives', async (t) => {
  const tookMs = await processorMs(async () => {
    for (const sign of ['@', '!', '$', '@!$', '-', '@a', '!1-'])
      for (const name of ['aaaaaaaab', 'iiiiiiiib', 'ssssssssb', 'asiasiasib', `${'ai'.repeat(49)}b`])
        t.match(await refusalOf(sign.repeat(200).slice(0, 200), { name }), /too easy to guess/);
  });
  t.ok(tookMs < 20_000, `${Math.round(tookMs)} ms`);
});
