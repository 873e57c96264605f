import fc from 'fast-check';
import t from 'tap';

import { createRuns, readNumber } from '../../../../src/server/store/verify/number-runs.ts';

/** The problems of numbers, as the check meets them: in the order of their texts. */
function problemsOf(series: string, last: number, numbers: readonly number[]): string[] {
  const runs = createRuns([{ series, last }]);
  const texts = numbers.map((number) =>
    series.replace(/\{number(?::(\d))?\}/, (_place, width = '1') =>
      String(number).padStart(Number(width), '0'),
    ),
  );
  return [...texts.sort().flatMap((text) => runs.add(text)), ...runs.end().map(([, problem]) => problem)];
}

const from = (first: number, count: number) =>
  Array.from({ length: count }, (_number, index) => first + index);

t.test('a number is read in its series, and only as the series writes it', async (t) => {
  const all = [
    { series: 'INV-2026-{number:4}', last: 12_000 },
    { series: 'A{number}/26', last: 30 },
    { series: '{number}', last: 20_260_099 },
    { series: '2026{number:4}', last: 99 },
  ];
  const read = (text: string) => {
    const found = readNumber(all, text);
    return found && `${found.series} ${found.number}`;
  };
  t.equal(read('INV-2026-0001'), 'INV-2026-{number:4} 1');
  t.equal(read('INV-2026-12000'), 'INV-2026-{number:4} 12000');
  t.equal(read('A7/26'), 'A{number}/26 7');
  t.equal(read('20260007'), '2026{number:4} 7', 'the one with more text of its own');
  const unlike = 'INV-2026-1 INV-2026-00001 INV-2026-12001 INV-2026- A07/26 A7/27 A/26';
  for (const text of ['', ...unlike.split(' ')]) t.equal(read(text), undefined, text);
});

t.test('numbers without gap have no problem, whatever they begin and end with', async (t) => {
  for (const series of ['{number}', 'INV-{number:2}', 'R{number:4}/x'])
    for (const first of [1, 7, 98, 995])
      t.strictSame(problemsOf(series, first + 19, from(first, 20)), [], series);
  t.strictSame(problemsOf('{number}', 1_200, from(1, 1_200)), []);
  t.strictSame(problemsOf('{number}', 1_200, []), [], 'none has begun');
});

t.test('each number that is missing is told, and each that comes twice', async (t) => {
  const property = fc.property(
    fc.constantFrom('{number}', 'INV-{number:2}'),
    fc.array(fc.integer({ min: 1, max: 130 }), { minLength: 1, maxLength: 60 }),
    fc.integer({ min: 0, max: 5 }),
    (series, numbers, more) => {
      const [first, last] = [Math.min(...numbers), Math.max(...numbers) + more];
      const missing = from(first, last - first + 1).filter((number) => !numbers.includes(number));
      const problems = problemsOf(series, last, numbers);
      const told = problems.flatMap((problem) => {
        const [, begin, end = begin] = /numbers? (\d+)(?: to (\d+))?$/.exec(problem) ?? [];
        return begin === undefined ? [] : from(Number(begin), Number(end) - Number(begin) + 1);
      });
      const twice = problems.filter((problem) => problem.startsWith('two documents')).length;
      return (
        told.sort((a, b) => a - b).join() === [...new Set(missing)].join() &&
        twice === numbers.length - new Set(numbers).size
      );
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }));
});
