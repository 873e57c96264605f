/**
 * The rules that validators of PDF/A-3a (ISO 19005-3) and PDF/UA-1 (ISO 14289-1) check in objects of our documents.
 * No such validator can be installed here, so the rules are written again.
 */
import { create } from 'fontkit';
import type { Font } from 'fontkit';
import { readPages } from './_page-contents.ts';
import type { PageContents } from './_page-contents.ts';
import { arrayOf, at, entryOf, isName, nameOf, readPdf, streamOf, unless } from './_pdf-objects.ts';
import type { Pdf, PdfReference, PdfValue } from './_pdf-objects.ts';
import { structureProblems } from './_structure.ts';

/** The faults of a document, as sentences. */
export function conformanceProblems(bytes: Buffer): string[] {
  const pdf = readPdf(bytes);
  const pages = readPages(pdf);
  return [
    ...fileProblems(pdf, bytes),
    ...catalogProblems(pdf),
    ...pages.flatMap(({ problems }) => problems),
    ...pages.flatMap(({ page }) => pageProblems(pdf, page)),
    ...structureProblems(pdf, pages),
    ...fontProblems(pdf, pages),
    ...[...pdf.objects.values()].flatMap(({ value, stream }) => objectProblems(pdf, value, stream)),
  ];
}

function fileProblems(pdf: Pdf, bytes: Buffer): string[] {
  const [first, second] = arrayOf(entryOf(pdf.trailer, 'ID'));
  return unless(
    [pdf.header.startsWith('%PDF-1.7\n%'), 'the header is not that of PDF 1.7'],
    [
      [...bytes.subarray(10, 14)].every((byte) => byte > 127),
      'the second line has no four bytes above 127 (6.1.2)',
    ],
    [typeof first === 'string' && first.length === 16 && first === second, 'the trailer has no ID (6.1.3)'],
    [entryOf(pdf.trailer, 'Encrypt') === undefined, 'it is encrypted (6.1.3)'],
    [!bytes.toString('latin1').includes('/Lab'), 'it has colours in Lab'],
  );
}

function catalogProblems(pdf: Pdf): string[] {
  const root = at(pdf, pdf.trailer, 'Root');
  const intents = arrayOf(at(pdf, root, 'OutputIntents'));
  const profile = streamOf(pdf, entryOf(at(pdf, intents[0]), 'DestOutputProfile'));
  const metadata = at(pdf, root, 'Metadata');
  return unless(
    [['en-IE', 'en-GB'].includes(at(pdf, root, 'Lang') as string), 'it has no language'],
    [at(pdf, root, 'MarkInfo', 'Marked') === true, 'it is not marked as tagged'],
    [at(pdf, root, 'MarkInfo', 'Suspects') !== true, 'its tags are suspect'],
    [at(pdf, root, 'ViewerPreferences', 'DisplayDocTitle') === true, 'its title is not displayed'],
    [at(pdf, root, 'StructTreeRoot', 'RoleMap') === undefined, 'it maps roles'],
    [
      intents.length === 1 && isName(at(pdf, intents[0], 'S'), 'GTS_PDFA1'),
      'it has no output intent of PDF/A',
    ],
    [profile?.toString('latin1', 12, 20) === 'mntrRGB ', 'its output intent is not of RGB'],
    [profile?.toString('latin1', 36, 40) === 'acsp', 'its output intent is no ICC profile'],
    [at(pdf, at(pdf, intents[0], 'DestOutputProfile'), 'N') === 3, 'its output intent has not three colours'],
    [entryOf(metadata, 'Filter') === undefined, 'its metadata is compressed (6.6.2.1)'],
    [isName(entryOf(metadata, 'Subtype'), 'XML'), 'its metadata is not XML'],
    ...['AcroForm', 'OpenAction', 'AA', 'OCProperties', 'Requirements', 'Collection'].map(
      (key): [boolean, string] => [at(pdf, root, key) === undefined, `its catalog has ${key}`],
    ),
  );
}

function pageProblems(pdf: Pdf, page: PdfReference): string[] {
  return unless(
    [isName(at(pdf, page, 'Tabs'), 'S'), 'a page has no order of tabs'],
    [
      ['[0,0,595.28,841.89]', '[0,0,612,792]'].includes(JSON.stringify(at(pdf, page, 'MediaBox'))),
      'a page is neither A4 nor Letter',
    ],
    [at(pdf, page, 'Resources', 'ExtGState') === undefined, 'a page has transparency, or other states'],
  );
}

/** The faults that no object may have (6.1.6 to 6.2.8). */
function objectProblems(pdf: Pdf, value: PdfValue, stream: Buffer | undefined): string[] {
  const filter = at(pdf, value, 'Filter');
  const isImage = isName(at(pdf, value, 'Subtype'), 'Image');
  const colours = nameOf(at(pdf, value, 'ColorSpace'));
  return unless(
    [
      filter === undefined || ['FlateDecode', 'DCTDecode'].includes(nameOf(filter)),
      'a stream has another filter',
    ],
    [stream === undefined || entryOf(value, 'F') === undefined, 'a stream is in another file (6.1.7.1)'],
    [!isImage || ['DeviceRGB', 'DeviceGray'].includes(colours), `a picture has colours in ${colours}`],
    [!isImage || at(pdf, value, 'Interpolate') !== true, 'a picture is interpolated (6.2.8)'],
    [!isImage || at(pdf, value, 'SMask') === undefined, 'a picture has transparency'],
    [longestText(value) <= 32_767, 'a string is longer than 32,767 bytes (6.1.13)'],
  );
}

function longestText(value: PdfValue): number {
  if (typeof value === 'string') return value.length;
  if (Array.isArray(value)) return Math.max(0, ...value.map(longestText));
  if (value !== null && typeof value === 'object' && 'entries' in value) {
    return Math.max(0, ...[...value.entries.values()].map(longestText));
  }
  return 0;
}

function fontProblems(pdf: Pdf, pages: readonly PageContents[]): string[] {
  const shown = new Map<number, Set<number>>();
  for (const { glyphs } of pages) {
    for (const [font, ids] of glyphs) shown.set(font, new Set([...(shown.get(font) ?? []), ...ids]));
  }
  return [...shown].flatMap(([object, glyphs]) => problemsOfFont(pdf, { object }, glyphs));
}

function problemsOfFont(pdf: Pdf, font: PdfReference, glyphs: ReadonlySet<number>): string[] {
  const [descendant] = arrayOf(at(pdf, font, 'DescendantFonts'));
  const descriptor = at(pdf, descendant, 'FontDescriptor');
  const program = streamOf(pdf, entryOf(descriptor, 'FontFile2'));
  const map = streamOf(pdf, entryOf(at(pdf, font), 'ToUnicode'));
  if (!program || !map) return ['a font is not embedded, or has no map to Unicode'];
  const embedded = create(program) as Font;
  const name = nameOf(at(pdf, font, 'BaseFont'));
  const [from, widths] = arrayOf(at(pdf, descendant, 'W'));
  const scale = 1000 / embedded.unitsPerEm;
  const isWidthRight = (glyph: number) => {
    const width = arrayOf(widths)[glyph - Number(from)];
    return typeof width === 'number' && Math.abs(width - embedded.getGlyph(glyph).advanceWidth * scale) < 1;
  };
  const unicode = unicodeMap(map.toString('latin1'));
  return unless(
    [isName(at(pdf, font, 'Subtype'), 'Type0'), 'a font is not composite'],
    [isName(at(pdf, font, 'Encoding'), 'Identity-H'), 'a font has another encoding'],
    [isName(at(pdf, descendant, 'CIDToGIDMap'), 'Identity'), 'a font has no CIDToGIDMap (6.2.11.3.2)'],
    [
      /^[A-Z]{6}\+/.test(name) && isName(at(pdf, descriptor, 'FontName'), name),
      'a font is not named as a subset',
    ],
    [at(pdf, descriptor, 'CIDSet') === undefined, 'a font has a CIDSet, which would have to be complete'],
    [!glyphs.has(0), 'the mark for a missing glyph is shown (6.2.11.8)'],
    [
      [...glyphs].every((glyph) => glyph < embedded.numGlyphs),
      'a glyph that is shown is not embedded (6.2.11.4.1)',
    ],
    [[...glyphs].every(isWidthRight), 'a glyph has another width than its font says (6.2.11.5)'],
    [[...glyphs].every((glyph) => unicode.has(glyph)), 'a glyph stands for no character (6.2.11.7.2)'],
    [[...unicode.values()].every(isText), 'a glyph stands for what is no text (6.2.11.7.2 and .3)'],
  );
}

/** Not U+0000, not a mark of byte order, and nothing private, which would need another text beside it. */
function isText(text: string): boolean {
  return text !== '' && !/[\u0000\ufeff\ufffe\p{Co}\p{Cs}]/u.test(text);
}

/** The text of each glyph, by a map in the form that pdfkit writes (ISO 32000-1, 9.10.3). */
function unicodeMap(map: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const [, start = '', list = ''] of map.matchAll(/<([0-9a-f]+)> <[0-9a-f]+> \[(.*?)\]/g)) {
    [...list.matchAll(/<([0-9a-f ]*)>/g)].forEach(([, hexadecimal = ''], index) => {
      const units = Buffer.from(hexadecimal.replaceAll(' ', ''), 'hex').swap16();
      found.set(parseInt(start, 16) + index, units.toString('utf16le'));
    });
  }
  return found;
}
