/** Names in scripts that join letters, put them in another order, go from right to left or have no spaces. */
import t from 'tap';

import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import type { PrintedDocument } from '../../../src/server/printed-document/printed-document.ts';
import { unprintable } from '../../../src/server/typefaces/letters.ts';
import { conformanceProblems } from './_conformance.ts';
import { documentsByName } from './_documents.ts';
import { placedTexts } from './_reading.ts';
import { namesInScripts as names } from './_rich-documents.ts';

const renderer = createRenderer();
const plain = (await documentsByName())('issued invoice, Irish, one rate');

/** An invoice to a customer of a name, with lines of these descriptions. */
function invoiceTo(name: string, countryCode = 'IE', descriptions = [name]): PrintedDocument {
  const { record } = plain;
  const lines = descriptions.flatMap((description, index) =>
    record.lines.map((line) => ({ ...line, id: `lin_${index}`, description })),
  );
  const buyer = { ...record.buyer, name, legalName: name, countryCode, addressLines: [name] };
  return { ...plain, record: { ...record, buyer, lines } };
}

t.test('names in every script are set, and a document grows by the letters that it shows', async (t) => {
  const { length } = await renderer.render(invoiceTo('Wang Xiaoming'));
  for (const [script, name] of Object.entries({ ...names, Taiwanese: '臺灣電力' })) {
    t.strictSame(unprintable(name), [], script);
    const bytes = await renderer.render(invoiceTo(name));
    t.strictSame(await conformanceProblems(bytes), [], script);
    t.ok(bytes.length < length + 14_000, `${script}: ${bytes.length - length} bytes`);
  }
});

t.test('a foreign reader finds names whose letters stand as they are written', async (t) => {
  for (const name of [names.Chinese, names.Japanese, names.Korean]) {
    const texts = await placedTexts(await renderer.render(invoiceTo(name)));
    t.ok(
      texts
        .map(({ text }) => text)
        .join('')
        .split(name).length > 3,
      name,
    );
  }
});

t.test('words of other directions are seen in the order of UAX 9', async (t) => {
  const texts = await placedTexts(await renderer.render(invoiceTo('Attention: שרה כהן (12 kW)')));
  const name = texts.find(({ text }) => text.startsWith('Attention'));
  const line = texts.filter(({ baseline, left }) => baseline === name?.baseline && left < 300);
  const seen = line.toSorted((a, b) => a.left - b.left).map(({ text }) => text);
  t.strictSame(seen.slice(0, 3), ['Attention:', 'כהן', 'שרה']);
});

t.test('lines of Thai and Chinese break without spaces', async (t) => {
  const texts = ['ถนนสุขุมวิทกรุงเทพมหานคร'.repeat(10), '北京市朝阳区建国路'.repeat(20)];
  const placed = await placedTexts(await renderer.render(invoiceTo('Wang', 'IE', texts)));
  t.ok(placed.every(({ right }) => right < 540));
  const rows = new Set(
    placed.filter(({ text }) => /[\u4e00-\u9fff]/.test(text)).map(({ baseline }) => baseline),
  );
  t.ok(rows.size > 5, `${rows.size} rows`);
});

t.test('Chinese letters look as in the country of the customer', async (t) => {
  for (const [country, own, other] of [
    ['CN', 'NotoSansSC', 'NotoSansJP'],
    ['JP', 'NotoSansJP', 'NotoSansSC'],
  ] as const) {
    const bytes = await renderer.render(invoiceTo('直角', country));
    t.ok(bytes.includes(own) && !bytes.includes(other), country);
  }
});

/** Attacks, which are set or refused at once. */
const hostile: Record<string, string | string[]> = {
  'marks on one letter': `e${'\u0301\u0323'.repeat(10_000)}`,
  'Arabic marks': `م${'\u0651\u064e'.repeat(1000)}`,
  'one Hindi syllable': `क${'\u094d\u0937'.repeat(1000)}`,
  'Hindi marks': `क${'\u094d'.repeat(30)}`.repeat(60),
  'one word': 'a'.repeat(150_000),
  'one Arabic word': 'شركة'.repeat(37_500),
  'the longest word of a text': 'شركة'.repeat(500),
  'texts without a blank': Array.from({ length: 500 }, (_, at) =>
    String.fromCharCode(97 + (at % 26)).repeat(300),
  ),
  'a thousand lines': Array.from({ length: 1000 }, (_, at) => `Valve ${at}`),
  brackets: '(א['.repeat(600),
  controls: '\u202e\u2067א\u2066a\u202b'.repeat(400),
  Thai: 'กรุงเทพมหานคร'.repeat(150),
  'many letters': Array.from({ length: 2000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join(''),
};

/** The processor time of this process for some work, in milliseconds. */
async function processorTimeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = process.cpuUsage();
  await work();
  return process.cpuUsage(startedAt).user / 1000;
}

async function setUsual(): Promise<void> {
  for (let index = 0; index < 20; index += 1) await renderer.render(invoiceTo(`Wang ${index}`));
}

await setUsual();
/** A machine's speed is that of usual documents on it, once they are quick. */
const usualMs = (await processorTimeOf(setUsual)) / 20;

for (const [what, description] of Object.entries(hostile)) {
  t.test(`${what}: set or refused at once`, async (t) => {
    const invoice = invoiceTo('Wang', 'IE', [description].flat());
    let bytes: unknown;
    const ms = await processorTimeOf(async () => {
      bytes = await renderer.render(invoice).catch((error: unknown) => error);
    });
    t.ok(ms < 400 * usualMs, `${Math.round(ms / usualMs)} times a usual document`);
    t.ok(bytes instanceof Buffer || bytes instanceof Error);
    // A megabyte of tags takes the foreign reader twenty seconds.
    if (bytes instanceof Buffer && bytes.length < 1_000_000)
      t.strictSame(await conformanceProblems(bytes), []);
  });
}
