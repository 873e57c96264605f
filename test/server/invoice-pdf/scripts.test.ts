/** Names in scripts that join letters, put them in another order, go from right to left or have no spaces. */
import t from 'tap';

import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import { textBlock } from '../../../src/server/invoice-pdf/text-blocks.ts';
import { loadFonts } from '../../../src/server/typefaces/fonts.ts';
import { readSlices } from '../../../src/server/typefaces/han.ts';
import { breakableParts } from '../../../src/server/typefaces/line-breaks.ts';
import { printable, runsOf } from '../../../src/server/typefaces/shaping.ts';
import { openTestDatabase } from '../../_server.ts';
import { createTestBackoffice } from '../backoffice/_backoffice.ts';
import { invoiceDraft, issued, line, openIssuer } from '../backoffice/_documents.ts';
import { conformanceProblems } from './_conformance.ts';
import { printedDocument } from './_documents.ts';
import { namesInScripts as names } from './_rich-documents.ts';
import { readByTags } from './_reading-by-tags.ts';
import { placedTexts } from './_reading.ts';

const fonts = loadFonts();
const renderer = createRenderer();
const style = { size: 10, leading: 12, weight: 'regular', color: '#000000' } as const;

const database = await openTestDatabase('sqlite');
t.teardown(() => database[Symbol.asyncDispose]());
const backoffice = createTestBackoffice(database);

/** An invoice to a customer of a name, which is also what the one line describes. */
async function invoiceTo(name: string, countryCode = 'IE', description = name) {
  const customer = { name, legalName: name, countryCode, vatId: null, addressLines: [name] };
  const company = await openIssuer(backoffice, { customer });
  const { id } = await issued(company, invoiceDraft({ lines: [line({ description })] }));
  return renderer.render(await printedDocument(backoffice.engine, company, id));
}

t.test('a foreign reader finds each name as it was given, where it stands and by its tags', async (t) => {
  const plain = await invoiceTo('Wang Xiaoming');
  for (const [script, name] of Object.entries(names)) {
    const bytes = await invoiceTo(name);
    const seen = (await placedTexts(bytes)).map(({ text }) => text);
    t.ok(seen.includes(name), `${script}: ${seen.join(' / ')}`);
    const heard = (await readByTags(bytes)).map(({ text }) => text);
    t.equal(heard.filter((text) => text === name).length, 3, script);
    t.strictSame(conformanceProblems(bytes), [], script);
    t.ok(bytes.length < plain.length + 12_000, `${script}: the document grows by the letters that it shows`);
  }
});

/** The runs of a text's first line from left to right; letters from right to left come with an arrow. */
const seenFromLeft = (text: string) =>
  (textBlock(text, style, 500, fonts).lines[0]?.runs ?? [])
    .toSorted((a, b) => a.left - b.left)
    .map(({ text: run, isRtl }) => (isRtl ? `←${run.trim()}` : run.trim()))
    .filter((run) => !/^←?$/.test(run));

t.test('a line of both directions is seen in the order of UAX 9', async (t) => {
  t.strictSame(seenFromLeft('Attention: שרה כהן (12 kW)'), ['Attention:', '←שרה כהן', '(', '12', 'kW)']);
  t.strictSame(seenFromLeft('שרה 12 כהן ABC'), ['ABC', '←כהן', '12', '←שרה']);
  t.strictSame(seenFromLeft('شارع 12، بيروت'), ['←، بيروت', '12', '←شارع']);
  const [bracket] = runsOf('(שרה)', fonts, 'regular', { levels: new Uint8Array(5).fill(1), base: 1 });
  const layout = bracket?.face.layOut('(', true).glyphs[0];
  const closing = bracket?.face.layOut(')', false).glyphs[0];
  t.strictSame(layout?.parts, closing?.parts, 'an opening bracket looks as a closing one');
  t.equal(layout?.codePoint, 0x28);
});

t.test('a line of its own goes on in the direction of its paragraph', async (t) => {
  const { lines } = textBlock('שרה כהן מירושלים '.repeat(20), style, 65, fonts);
  t.ok(lines.length > 5);
  // The space at its end stands out to the left, so the widest begins at the margin.
  const lefts = lines.map(({ runs: [run] }) => run?.left ?? 0);
  t.ok(Math.min(...lefts) < 0 && Math.min(...lefts) > -0.4);
  const rights = lines.map(({ runs: [run] }) => Math.round(100 * ((run?.left ?? 0) + (run?.width ?? 0))));
  t.equal(new Set(rights).size, 1, 'all lines begin at one edge, the short ones too');
  t.ok(new Set(lefts).size > 2);
});

t.test('letters take the forms that their neighbours ask for', async (t) => {
  const width = (text: string) => runsOf(text, fonts, 'regular').reduce((sum, run) => sum + run.width, 0);
  const apart = (text: string) => [...text].reduce((sum, letter) => sum + width(letter), 0);
  const formsOf = (text: string) =>
    runsOf(text, fonts, 'regular').flatMap(({ face, text: run, isRtl }) =>
      face.layOut(run, isRtl).glyphs.map(({ key }) => key),
    );
  t.equal(
    new Set([...formsOf('ععع'), ...formsOf('ع')]).size,
    4,
    'at the end, within, at the beginning, alone',
  );
  t.ok(width('क्षि') < 0.9 * apart('क्षि'));
  t.ok(width('می‌خ') > width('میخ'), 'a sign against joining is kept');
  t.equal(printable('a\u200cb', fonts), 'ab');
});

t.test('lines of Thai, Chinese and Japanese break without spaces', async (t) => {
  t.strictSame(breakableParts('ถนนสุขุมวิทกรุงเทพมหานคร ').at(-1), 'กรุงเทพมหานคร ');
  t.strictSame(breakableParts('北京（甲）号。AB c'), ['北', '京', '（甲）', '号。', 'AB ', 'c']);
  t.strictSame(breakableParts('Ballybane-Castlegar '), ['Ballybane-Castlegar ']);
  const text = '北京市朝阳区建国路'.repeat(20);
  await readSlices(text);
  const { lines } = textBlock(text, style, 100, fonts);
  t.equal(lines.flatMap(({ runs }) => runs.map((run) => run.text)).join(''), text);
  t.ok(lines.every(({ width }) => width <= 100));
});

t.test('Chinese letters look as in the country of the customer', async (t) => {
  const [chinese, japanese] = await Promise.all(['CN', 'JP'].map((country) => invoiceTo('直角', country)));
  t.ok(chinese?.includes('+NotoSansSC') && !chinese.includes('+NotoSansJP'));
  t.ok(japanese?.includes('+NotoSansJP') && !japanese.includes('+NotoSansSC'));
});

t.test('hostile texts take bounded time', async (t) => {
  const hostile: Record<string, string> = {
    marks: `e${'\u0301\u0323'.repeat(1000)}`,
    'Arabic marks': `م${'\u0651\u064e'.repeat(1000)}`,
    'Hindi marks': `क${'\u094d\u0937'.repeat(1000)}`,
    'one word': 'شركة'.repeat(500),
    brackets: '(א['.repeat(600),
    controls: '\u202e\u2067א\u2066a\u202b'.repeat(400),
    Thai: 'กรุงเทพมหานคร'.repeat(150),
    'many letters': Array.from({ length: 2000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join(''),
  };
  for (const [what, text] of Object.entries(hostile)) {
    const description = [...printable(text, fonts)].filter((letter) => letter !== '\ufffd').join('');
    const startedAt = performance.now();
    const bytes = await invoiceTo('Wang', 'IE', description.slice(0, 2000));
    t.ok(performance.now() - startedAt < 10_000, `${what}: ${Math.round(performance.now() - startedAt)} ms`);
    t.strictSame(conformanceProblems(bytes), [], what);
  }
});
