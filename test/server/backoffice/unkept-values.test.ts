import fc from 'fast-check';
import t from 'tap';

import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { applyFeed } from '../../../src/server/backoffice/feed.ts';
import { findLossyValue } from '../../../src/server/backoffice/kept-json.ts';
import { Refusal } from '../../../src/server/backoffice/refusal.ts';
import type { Answer, Change } from '../../../src/contract/feed.ts';
import { anyCharacter } from '../../_characters.ts';
import { jobCreate, openStaffedCompany } from './_changes.ts';
import { answerIn } from './_feed.ts';
import { onSqlite, tablesChangedBy } from './_backoffice.ts';

onSqlite('a value that JSON can’t carry is refused, and nothing changes', async (t, office) => {
  const company = await openStaffedCompany(office.openCompany);
  const { id } = await company.apply(jobCreate({ teamId: 'team_1' }));
  const answer = async (members: string): Promise<Answer> => {
    const line = `{"id":"x","company":"${company.id}","change":"job.update","with":{"id":"${id}",${members}}}`;
    for await (const { text } of applyFeed(office.backoffice, lines(line))) return answerIn(text);
    throw new Error('There was no answer.');
  };
  const refused: [members: string, path: string, named: RegExp][] = [
    ['"teamId":1e309', '/with/teamId', /is 1e309, .* become Infinity\. Send it as a text\.$/],
    ['"customFields":{"a":1e400}', '/with/customFields/a', /is 1e400, .* Send it as a text/],
    ['"customFields":{"a":1e-400}', '/with/customFields/a', /is 1e-400, .* become 0\. Send it as a text/],
    ['"customFields":{"a":12345678901234567890}', '/with/customFields/a', /become 12345678901234567000/],
    ['"customFields":{"a":0.1000000000000000055}', '/with/customFields/a', /become 0\.1\. .* 15 significant/],
    ['"jobTypeVersion":1e309', '/with/jobTypeVersion', /is 1e309/],
    ['"jobTypeVersion":1.00000000000000000001', '/with/jobTypeVersion', /become 1\./],
    ['"title":"a","title":"b"', '/with/title', /is given twice/],
    ['"title":"a","t\\u0069tle":"a"', '/with/title', /is given twice/],
    ['"customFields":{"a/b":1,"a/b":1}', '/with/customFields/a~1b', /is given twice/],
    ['"customFields":{"__proto__":1,"__proto__":2}', '/with/customFields/__proto__', /is given twice/],
    ['"title":"half \\ud83d"', '/with/title', /half a surrogate pair/],
  ];
  for (const [members, path, named] of refused) {
    const changed = await tablesChangedBy(office.engine, async () => {
      const error = { code: 'invalid_change', path, message: named };
      t.match(await answer(members), { id: 'x', status: 'refused', error });
    });
    t.strictSame(changed, []);
  }

  await t.test('and what it can carry is kept', async (t) => {
    const kept = '{"__proto__":"x","a":0.1,"b":150,"c":1e+21,"d":5e-324,"e":123456789012345680000}';
    t.match(await answer(`"customFields":${kept.replace('150', '1.50E2')}`), { status: 'applied' });
    const { customFields } = (await company.record('jobs', id)) ?? {};
    t.equal(JSON.stringify(customFields), kept);
  });

  await t.test('nor is it taken from a program', async (t) => {
    const change = (customFields: unknown) =>
      ({ company: company.id, change: 'job.update', with: { id, customFields } }) as Change;
    for (const value of [Infinity, NaN, () => 1, Symbol('a')]) {
      const path = '/with/customFields/a/value';
      const message = `${path} is ${String(value)}, which JSON can't carry.`;
      const refusal = { name: 'Refusal', path, message };
      await t.rejects(applyChange(office.backoffice, change({ a: { value } })), refusal);
    }
    const refusal = { name: 'Refusal', path: '/with/customFields/a/1' };
    await t.rejects(applyChange(office.backoffice, change({ a: ['b', undefined] })), refusal);
  });
});

async function* lines(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(`${text}\n`);
}

t.test('every number that a program writes is kept, and every JSON without twins', async (t) => {
  fc.assert(
    fc.property(fc.json({ stringUnit: anyCharacter }), (text) => {
      t.strictSame([text, findLossyValue(text)], [text, undefined], 'a JSON');
    }),
  );
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      t.equal(findLossyValue(JSON.stringify([number])), undefined);
      t.equal(findLossyValue(`[${number.toExponential()}]`), undefined);
    }),
  );
});

t.test('an integer that a double rounds is refused, and no other is', async (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), (integer) => {
      const problem = findLossyValue(`{"a":[${integer}]}`);
      // A number is written with zeros where its digits end.
      const isKept = BigInt(Number(integer).toLocaleString('fullwide', { useGrouping: false })) === integer;
      t.strictSame([integer, problem === undefined], [integer, isKept], 'an integer');
      if (problem) t.ok(problem instanceof Refusal && problem.path === '/a/0');
    }),
  );
});

t.test('a line of 8 MiB is read to its end, whatever its text escapes', async (t) => {
  for (const part of ['\n', 'x\n', '"', '\\', '\u0001']) {
    const written = JSON.stringify(part).slice(1, -1);
    const text = written.repeat(Math.floor((8 * 1024 * 1024) / written.length));
    t.equal(findLossyValue(`{"a":"${text}","b":1}`), undefined);
    t.match(findLossyValue(`{"a":"${text}","b":1e400}`), { path: '/b' });
  }
});
