import fc from 'fast-check';
import t from 'tap';

import { readFeedLines } from '../../../src/server/backoffice/feed-lines.ts';
import { anyCharacter } from '../../_characters.ts';
import { processorMs } from '../../_processor-time.ts';

type Read = [number: number, value: unknown] | [number: number, problem: string, path: string];

const NO_JSON = /^malformed_line: The line is not JSON: .+\.$/;

/** The lines that are read from these pieces, each with its number, and its value or its problem. */
async function read(pieces: (string | Uint8Array)[], bytesMax?: number): Promise<Read[]> {
  const found: Read[] = [];
  for await (const { number, ...line } of readFeedLines(stream(pieces), bytesMax)) {
    found.push(
      line.problem
        ? [number, `${line.problem.code}: ${line.problem.message}`, line.problem.path]
        : [number, line.value],
    );
  }
  return found;
}

async function* stream(pieces: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}

/** The lines that a feed has, with their numbers. */
const feeds: [what: string, pieces: (string | Uint8Array)[], lines: Record<number, unknown>][] = [
  ['every line is a value', ['{"a":1}\n{"b":[2]}\n'], { 1: { a: 1 }, 2: { b: [2] } }],
  ['there may be none', [], {}],
  ['there may be none in a piece', [''], {}],
  ['the last line needs no line feed', ['1\n2'], { 1: 1, 2: 2 }],
  ['a carriage return belongs to no line', ['1\r\n"a"\r\n\r\n3\r'], { 1: 1, 2: 'a', 4: 3 }],
  ['blank lines are left out, and count', ['\n \t\n1\n\n2\n\n'], { 3: 1, 5: 2 }],
  ['a byte order mark is ignored', ['\ufeff1\n'], { 1: 1 }],
  ['however it is cut', [Uint8Array.of(0xef), Uint8Array.of(0xbb, 0xbf), '1'], { 1: 1 }],
  ['also before a blank line', ['\ufeff\n1'], { 2: 1 }],
];

t.test('a feed has its lines, each with its number', async (t) => {
  for (const [what, pieces, lines] of feeds)
    t.strictSame(Object.fromEntries(await read(pieces)), lines, what);
  const [, marked] = await read(['1\n\ufeff2']);
  t.match(marked, [2, NO_JSON, ''], 'a byte order mark is one at the beginning alone');
});

t.test('a text that is not JSON costs its line only', async (t) => {
  const texts = ['nonsense', '{"a":1', '{"a":1}}', "{'a':1}", '{"a":1,}', '1 2', '\u00a0', 'NaN', '"\t"'];
  for (const text of texts) {
    const [first, second, third, ...rest] = await read([`1\n${text}\n3\n`]);
    t.strictSame([first, third, rest], [[1, 1], [3, 3], []], text);
    t.match(second, [2, NO_JSON, ''], text);
  }
});

t.test('bytes that are not UTF-8 cost their line only', async (t) => {
  const notUtf8: [string, number[]][] = [
    ['Latin-1', [0x22, 0xe9, 0x22]],
    ['a character cut short', [0x22, 0xe2, 0x82, 0x22]],
    ['an overlong form', [0x22, 0xc0, 0x80, 0x22]],
    ['half a surrogate pair', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['UTF-16', [0xff, 0xfe, 0x31, 0x00]],
  ];
  for (const [what, bytes] of notUtf8) {
    const [first, second, ...rest] = await read(['1\n', Uint8Array.from(bytes), '\n3']);
    t.strictSame([first, rest], [[1, 1], [[3, 3]]], what);
    t.strictSame(second, [2, 'malformed_line: The line is not in UTF-8.', ''], what);
  }
});

t.test('a line that is too long costs that line only, and is not kept', async (t) => {
  const tooLong = [2, 'malformed_line: The line has more than 10 bytes.', ''];
  const lines = await read(['12345678', '90\n', '12345678', '901\n3'], 10);
  t.strictSame(lines, [[1, 1234567890], tooLong, [3, 3]]);
  t.strictSame(await read(['1\n', 'x'.repeat(30)], 10), [[1, 1], tooLong]);
});

t.test('a line of a gigabyte is refused within a few megabytes of memory', async (t) => {
  const MiB = 1024 * 1024;
  const piece = Buffer.alloc(MiB, 'x');
  const pieces = Array.from({ length: 1024 }, () => piece);
  const before = process.memoryUsage();
  const [long, next] = await read(['"', ...pieces, '"\n', '2']);
  const after = process.memoryUsage();
  t.strictSame(long, [1, `malformed_line: The line has more than ${8 * MiB} bytes.`, '']);
  t.strictSame(next, [2, 2]);
  const used = after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed;
  t.ok(used < 32 * MiB, `${Math.round(used / MiB)} MiB`);
});

t.test('a line of eight megabytes is read, in however many pieces it comes', async (t) => {
  const text = 'x'.repeat(8 * 1024 * 1024 - 2);
  const bytes = Buffer.from(`"${text}"`);
  const pieces = Array.from({ length: Math.ceil(bytes.length / 100) }, (_, index) =>
    bytes.subarray(index * 100, index * 100 + 100),
  );
  const tookMs = await processorMs(async () => {
    const [line, ...rest] = await read(pieces);
    t.ok(line?.[1] === text && rest.length === 0);
  });
  t.ok(tookMs < 5_000, `${Math.round(tookMs)} ms`);
});

t.test('values that nest deeper than any change are refused, and never overflow the stack', async (t) => {
  const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;
  t.match(await read([nested(100)]), [[1, [{}]]]);
  for (const depth of [102, 10_000, 1_000_000]) {
    const tooDeep = [1, 'malformed_line: The line nests values more than 100 levels deep.', ''];
    t.strictSame(await read([nested(depth), '\n2']), [tooDeep, [2, 2]]);
  }
});

t.test('the bytes that were read grow to the size of the feed, line feeds included', async (t) => {
  const counts: number[] = [];
  for await (const { bytesRead } of readFeedLines(stream(['1\n\n', '"é"\r', '\nx\n12'])))
    counts.push(bytesRead);
  t.strictSame(counts, [2, 9, 11, 13]);
});

t.test('the same lines are read however the bytes are cut', async (t) => {
  const line = fc.oneof(
    fc.json(),
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('', ' ', '\r', '{"é":"\u{1f600}"}\r', 'x'.repeat(200)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat(400), { maxLength: 20 }), async (lines, cuts) => {
      const bytes = Buffer.from(lines.join('\n'));
      const ends = [...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort((a, b) => a - b);
      const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
      t.strictSame(await read(pieces, 100), await read([bytes], 100));
    }),
    { numRuns: 300 },
  );
});

t.test('a stream that breaks off gives no line of what it had begun to say', async (t) => {
  async function* broken() {
    yield Buffer.from('1\n{"a":');
    throw new Error('The cable is out.');
  }
  const lines = readFeedLines(broken());
  t.match(await lines.next(), { value: { number: 1, value: 1 } });
  await t.rejects(lines.next(), { message: 'The cable is out.' });
});
