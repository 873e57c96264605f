import { closeSync, openSync, readSync } from 'node:fs';

/** Reads the characters of a font file, or of each font in a collection, from its `cmap` table (ISO/IEC 14496-22). */
export function charactersIn(file: string): Set<number>[] {
  const handle = openSync(file, 'r');
  try {
    const read = (at: number, length: number) => {
      const bytes = Buffer.alloc(length);
      readSync(handle, bytes, 0, length, at);
      return bytes;
    };
    const head = read(0, 12);
    const isCollection = head.toString('latin1', 0, 4) === 'ttcf';
    const fonts = isCollection
      ? Array.from({ length: Math.min(head.readUInt32BE(8), FONTS_MAX) }, (_, index) =>
          read(12 + 4 * index, 4).readUInt32BE(),
        )
      : [0];
    return fonts.map((font) => charactersOf(read, font));
  } finally {
    closeSync(handle);
  }
}

/** The most fonts read of a collection. */
const FONTS_MAX = 64;

type Read = (at: number, length: number) => Buffer;

function charactersOf(read: Read, font: number): Set<number> {
  const count = read(font + 4, 2).readUInt16BE();
  const tables = Array.from({ length: count }, (_, index) => read(font + 12 + 16 * index, 16));
  const table = tables.find((entry) => entry.toString('latin1', 0, 4) === 'cmap');
  const characters = new Set<number>();
  if (!table) return characters;
  const cmap = read(table.readUInt32BE(8), table.readUInt32BE(12));
  for (let index = 0; index < cmap.readUInt16BE(2); index += 1) {
    const [platform, start] = [cmap.readUInt16BE(4 + 8 * index), cmap.readUInt32BE(8 + 8 * index)];
    // Only the tables for Unicode and Windows; others are for old Macintoshes.
    if (platform === 0 || platform === 3) addCharacters(cmap, start, characters);
  }
  return characters;
}

function addCharacters(cmap: Buffer, start: number, characters: Set<number>): void {
  const format = cmap.readUInt16BE(start);
  if (format === 12) addGroups(cmap, start, characters);
  if (format === 4) addSegments(cmap, start, characters);
}

/** Adds the characters of a format 12 table, whose groups have glyphs throughout. */
function addGroups(cmap: Buffer, start: number, characters: Set<number>): void {
  for (let group = 0; group < cmap.readUInt32BE(start + 12); group += 1) {
    const at = start + 16 + 12 * group;
    for (let code = cmap.readUInt32BE(at); code <= cmap.readUInt32BE(at + 4); code += 1) characters.add(code);
  }
}

/** Adds the characters of a format 4 table, whose segments can have gaps: characters with glyph 0. */
function addSegments(cmap: Buffer, start: number, characters: Set<number>): void {
  const count = cmap.readUInt16BE(start + 6) / 2;
  for (let segment = 0; segment < count; segment += 1) {
    const end = Math.min(cmap.readUInt16BE(start + 14 + 2 * segment), 0xfffe);
    const first = cmap.readUInt16BE(start + 16 + 2 * (count + segment));
    const offsetAt = start + 16 + 2 * (3 * count + segment);
    const offset = cmap.readUInt16BE(offsetAt);
    const hasGlyph = (code: number) =>
      offset === 0 || cmap.readUInt16BE(offsetAt + offset + 2 * (code - first)) !== 0;
    for (let code = first; code <= end; code += 1) if (hasGlyph(code)) characters.add(code);
  }
}
