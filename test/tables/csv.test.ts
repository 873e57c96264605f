import t from 'tap';

import { columnsOf } from '../../src/tables/columns.ts';
import { csvLine } from '../../src/tables/csv.ts';

const STYLE = { separator: ',', decimal: '.' };

t.test('Smith;=1+1 runs nowhere: not behind separators, blanks, line ends and invisible characters', (t) => {
  const columns = columnsOf({ properties: { text: { type: 'string' } } });
  const lineOf = (text: string) => csvLine(columns, { text }, STYLE, new Map());
  const signs = '=+-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₊−'.split(/(?:)/u);
  const fronts = ['', ' ', '\u00a0', '\u200b', '\u2060\ufeff', '\u3000', '\u0001', '\u115f', '"', ' "\u00ad'];
  for (const sign of signs) {
    for (const front of fronts) {
      const run = `${front}${sign}A1`;
      const quoted = `'${run}`.replaceAll('"', '""');
      t.equal(lineOf(run), `"${quoted}"\r\n`);
      for (const mark of [';', ',', '|', '\t', '\n', '\r', '\r\n'])
        t.equal(lineOf(`Smith${mark}${run}`), `"Smith${mark}${quoted}"\r\n`);
    }
  }
  t.equal(lineOf('=\u0338A1'), '"\'=\u0338A1"\r\n', 'a sign with something combined');
  // Numbers and lists in JSON stay what they are.
  for (const text of ['-1', '3 - 2', 'a=b; c-d', '[1,-2]', '{"a":-1.5,"b":[-2]}', '-1;-2.50'])
    t.equal(lineOf(text), `"${text.replaceAll('"', '""')}"\r\n`);
  t.end();
});

t.test('what no cell of a spreadsheet holds is shortened with a mark', (t) => {
  const columns = columnsOf({ properties: { text: { type: 'string' }, other: { type: 'string' } } });
  const shortened = new Map<string, number>();
  const lineOf = (text: string) => csvLine(columns, { text, other: 'a' }, STYLE, shortened);
  t.equal(lineOf('x'.repeat(32_767)), `"${'x'.repeat(32_767)}","a"\r\n`);
  t.equal(shortened.size, 0);
  t.equal(lineOf('x'.repeat(32_768)), `"${'x'.repeat(32_766)}…","a"\r\n`);
  t.equal(lineOf(`${'x'.repeat(32_765)}😀y`), `"${'x'.repeat(32_765)}…","a"\r\n`);
  t.strictSame([...shortened], [['text', 2]]);
  t.end();
});
