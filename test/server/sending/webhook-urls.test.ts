import { isIP } from 'node:net';

import fc from 'fast-check';
import t from 'tap';

import { UsageError } from '../../../src/errors.ts';
import { canonicalWebhookUrl } from '../../../src/server/sending/webhook-urls.ts';
import { anyCharacter } from '../../_characters.ts';
import { acceptedUrls, refusedUrls } from './_webhook-urls.ts';

/** Random addresses of a run; 20,000 take ten seconds. */
const RUNS = Number(process.env.RANDOM_URLS ?? 6_000);

/** The canonical form, or the message of the refusal. */
function judge(url: string): { canonical: string } | { refusal: string } {
  try {
    return { canonical: canonicalWebhookUrl(url) };
  } catch (error) {
    if (error instanceof UsageError) return { refusal: error.message };
    throw error;
  }
}

t.test('an address on a public host name is accepted, in its canonical form', async (t) => {
  for (const [given, canonical] of acceptedUrls) {
    t.strictSame(judge(given), { canonical }, given.slice(0, 100));
    t.equal(canonicalWebhookUrl(canonical), canonical, 'and that is accepted as it is');
  }
});

t.test('every other address is refused, and the refusal names it and the rule', async (t) => {
  for (const [rule, urls] of Object.entries(refusedUrls)) {
    const strange = urls.flatMap((url) => {
      const outcome = judge(url);
      const isRight =
        'refusal' in outcome &&
        outcome.refusal.startsWith('The webhook\'s address "') &&
        outcome.refusal.includes(`" ${rule}`);
      return isRight ? [] : [{ url: url.slice(0, 100), ...outcome }];
    });
    t.strictSame(strange, [], rule);
  }
  t.ok(Object.values(refusedUrls).flat().length > 200);
});

t.test('a refusal says which part is wrong, and what to write instead', async (t) => {
  const rules: [given: string, rule: string, shown?: string][] = [
    ['https://kubernetes.default.svc/', 'have a public host name, and none ends in ".svc"'],
    ['https://co.uk/', 'have a public host name, and "co.uk" is only the suffix of such names'],
    ['https://\u2488example.com/', 'have a valid host name, which "\u2488example.com" is not'],
    ["https://example.com/a/../b?'", 'be written in its normal form: https://example.com/b?%27'],
    [
      'https://a_b.example.com/',
      'have a host name whose parts are 1 to 63 letters, digits and hyphens, with no hyphen at an end, which "a_b" is not',
    ],
    ['https://printer.local/', 'have a public host name, and none ends in ".local"'],
    ['https://intranet/', 'have a public host name, which "intranet" is not'],
    ['https://me:hunter2@example.com/', 'have no user name or password', 'https://***@example.com/'],
  ];
  for (const [given, rule, shown = given] of rules)
    t.strictSame(judge(given), { refusal: `The webhook's address "${shown}" must ${rule}.` });
});

const hostLabel = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
const host = fc
  .tuple(
    fc.array(hostLabel, { minLength: 1, maxLength: 4 }),
    fc.constantFrom('com', 'io', 'co.uk', 'xn--p1ai', 'svc'),
  )
  .map(([labels, last]) => [...labels, last].join('.'));
const rest = fc.stringMatching(/^(\/[\w~:@!$&()*+,;=-]{0,6}){0,3}(\?[\w~:@!$&()*+,;=/?-]{0,8})?$/);
const plausible = fc.tuple(host, rest).map(([name, tail]) => `https://${name}${tail}`);
/** Pieces that attackers and typing errors put into an address. */
const splinter = fc.oneof(
  fc.constantFrom(
    ...['@', '#', '\\', '/', '?', ':', ':443', '.', '..', '%2e', '%', '[', ']', '\t', ' ', '\n', '\u3002'],
  ),
  fc.constantFrom(...'127.0.0.1 0x7f000001 2130706433 [::1] 0 .1 localhost .local \u212a \uff0e'.split(' ')),
  fc.string({ unit: anyCharacter, minLength: 1, maxLength: 3 }),
);
const mutated = fc
  .tuple(plausible, fc.array(fc.tuple(fc.nat(40), fc.nat(3), splinter), { minLength: 1, maxLength: 3 }))
  .map(([url, cuts]) =>
    cuts.reduce((text, [at, removed, put]) => text.slice(0, at) + put + text.slice(at + removed), url),
  );

/** The fault of an address that was accepted; undefined when it has none. */
function wrongWith(canonical: string): string | undefined {
  const url = new URL(canonical);
  if (url.href !== canonical) return 'a parser reads it otherwise';
  if (url.protocol !== 'https:' || url.port !== '') return 'it is not https on port 443';
  if (url.username !== '' || url.password !== '' || canonical.includes('#')) return 'it has too many parts';
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return 'it is a numeric address';
  if (!/^(?:[a-z0-9][a-z0-9-]*\.)+[a-z][a-z0-9-]*[a-z0-9]$/.test(url.hostname))
    return 'it has no name of several parts';
  if (/(?:^|\.)(?:localhost|local|internal|test|arpa|svc)$/.test(url.hostname)) return 'it is a local name';
  return canonicalWebhookUrl(canonical) === canonical ? undefined : 'it is not the canonical form';
}

t.test('whatever is accepted is https on port 443 of a name of several parts, as it stands', async (t) => {
  const anything = fc.oneof(
    { weight: 1, arbitrary: plausible },
    { weight: 4, arbitrary: mutated },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }).map((text) => `https://${text}`) },
    {
      weight: 1,
      arbitrary: fc.webUrl({ withFragments: true, withQueryParameters: true, validSchemes: ['https'] }),
    },
  );
  let acceptedCount = 0;
  const property = fc.property(anything, (text) => {
    const outcome = judge(text);
    if (!('canonical' in outcome)) return;
    acceptedCount += 1;
    const wrong = wrongWith(outcome.canonical);
    if (wrong !== undefined) throw new Error(`${JSON.stringify(text)} is accepted, but ${wrong}`);
    // A parser that repairs nothing but case, port and empty path reads the same host in what was typed.
    if (new URL(text).href !== outcome.canonical) throw new Error(`${JSON.stringify(text)} was repaired`);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: RUNS }));
  t.ok(acceptedCount > RUNS / 10, `${acceptedCount} are accepted`);
});

t.test('an address written in whatever notation is never accepted in place of a name', async (t) => {
  const part = (max: number) =>
    fc.tuple(fc.nat(max), fc.constantFrom(10, 8, 16)).map(([value, radix]) => {
      const digits = value.toString(radix);
      return radix === 16 ? `0x${digits}` : radix === 8 ? `0${digits}` : digits;
    });
  const parts = fc.oneof(
    fc.tuple(part(0xff_ff_ff_ff)),
    fc.tuple(part(255), part(0xff_ff_ff)),
    fc.tuple(part(255), part(255), part(0xff_ff)),
    fc.tuple(part(255), part(255), part(255), part(255)),
  );
  const dotted = fc.tuple(parts, fc.constantFrom('.', '\u3002', '%2e'), fc.constantFrom('', '.', ':443'));
  const four = dotted.map(([numbers, dot, tail]) => `${numbers.join(dot)}${tail}`);
  const six = fc.ipV6().map((address) => `[${address}]`);
  const property = fc.property(fc.oneof(four, six), rest, (address, tail) => {
    return 'refusal' in judge(`https://${address}${tail}`);
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: RUNS / 2 }));
});
