import t from 'tap';

import { refuseWeakPassword } from '../../src/access/password-strength.ts';
import { UsageError } from '../../src/errors.ts';

const owner = {
  email: 'jane.murphy@example.com',
  name: 'Jane Murphy',
  companyName: 'Brennan Heating & Cooling',
};

/** The refusal's sentence; undefined when the password is taken. */
async function refusalOf(password: string): Promise<string | undefined> {
  try {
    await refuseWeakPassword(password, owner);
    return undefined;
  } catch (error) {
    if (error instanceof UsageError && error.field === 'password') return error.message;
    throw error;
  }
}

const refused: Record<string, { rule: RegExp; passwords: string[] }> = {
  'too short or too long': {
    rule: /^The password must have 12 to 200 characters\. Several words/,
    passwords: ['', 'elevenchars', 'x'.repeat(201), '𝒶𝒷'.repeat(5)],
  },
  'commonly used': {
    rule: /too easy to guess\. This is (similar to )?a commonly used password\./,
    passwords: ['password1234', '123456789012', 'qwertyuiop12', 'iloveyou12345', 'P@ssw0rd1234!'],
  },
  'repeated or in a row': {
    rule: /too easy to guess\. (Repeated character|Common character sequences)/,
    passwords: ['aaaaaaaaaaaaaa', '121212121212', 'abcdefghijkl', '𝒶𝒷𝒸𝒹𝑒𝒻𝑔𝒽𝒾𝒿𝓀𝓁'],
  },
  'a word with something around it': {
    rule: /too easy to guess\. +?Several words/,
    passwords: ['Summer2026!!'],
  },
  'made of who the owner is': {
    rule: /too easy to guess\. Whoever guesses tries your name, your e-mail address and your company first\./,
    passwords: [
      'jane.murphy@example.com',
      'Jane Murphy1',
      'Jane.Murphy2026',
      'murphyjane1990!',
      'Brennan-2026!',
      'BrennanHeatingCooling2026',
      'ＢｒｅｎｎａｎHeating1',
    ],
  },
};

for (const [kind, { rule, passwords }] of Object.entries(refused)) {
  t.test(`a weak password is refused with the rule: ${kind}`, async (t) => {
    for (const password of passwords) t.match(await refusalOf(password), rule, password.slice(0, 30));
  });
}

t.test('a password that would take long to guess is taken, in whatever language', async (t) => {
  const taken = [
    'copper kettles whistle softly',
    'jane murphy likes long walks',
    'crème brûlée for breakfast',
    'x7Kq9mPz4tLw',
    'quatre vieux chevaux dorment',
    'четыре старых лошади спят',
  ];
  for (const password of taken) t.equal(await refusalOf(password), undefined, password);
});

t.test('the longest password is looked at in a moment, and the server goes on meanwhile', async (t) => {
  let longestMs = 0;
  let seenAt = performance.now();
  const pulse = setInterval(() => {
    longestMs = Math.max(longestMs, performance.now() - seenAt);
    seenAt = performance.now();
  }, 5);
  const startedAt = performance.now();
  await refusalOf('p@$$w0rd4!1 11.11.2011 {[<6369&#'.repeat(10).slice(0, 200));
  clearInterval(pulse);
  t.comment(
    `${Math.round(performance.now() - startedAt)} ms; nothing else ran for ${Math.round(longestMs)} ms`,
  );
  t.ok(performance.now() - startedAt < 15_000);
});
