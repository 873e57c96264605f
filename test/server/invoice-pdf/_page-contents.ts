/** The contents of the pages of a PDF, and how they are marked (ISO 32000-1, 14.6). */
import { arrayOf, at, entryOf, isName, nameOf, Scanner, streamOf } from './_pdf-objects.ts';
import type { Pdf, PdfReference, PdfValue } from './_pdf-objects.ts';

/** One page: the marked contents that its structure knows, and everything that is wrong with how it is drawn. */
export interface PageContents {
  page: PdfReference;
  /** How often each marked content identifier is used, with its tag. */
  marked: Map<number, string>;
  /** The glyphs shown in each font, by the font's object. */
  glyphs: Map<number, Set<number>>;
  problems: string[];
}

const PAINTING = new Set('Tj TJ f F f* B B* b b* S s sh Do BI'.split(' '));
/** The operators that draw our documents; any other would have to be checked against the rules first. */
const KNOWN = new Set(
  'q Q cm w RG rg cs CS sc scn SC SCN m l re h n S f Do BT ET Tf Tm TJ BMC BDC EMC'.split(' '),
);

export function readPages(pdf: Pdf): PageContents[] {
  const kids = arrayOf(at(pdf, pdf.trailer, 'Root', 'Pages', 'Kids')) as PdfReference[];
  return kids.map((page) => readPage(pdf, page));
}

interface State {
  marks: { tag: string; mcid: number | undefined }[];
  depth: number;
  font: number;
}

function readPage(pdf: Pdf, page: PdfReference): PageContents {
  const found: PageContents = { page, marked: new Map(), glyphs: new Map(), problems: [] };
  const contents = streamOf(pdf, entryOf(at(pdf, page), 'Contents'))?.toString('latin1') ?? '';
  const scanner = new Scanner(contents);
  const state: State = { marks: [], depth: 0, font: 0 };
  for (let next = scanner.operation(); next; next = scanner.operation()) {
    const { operator, operands } = next;
    if (!KNOWN.has(operator)) found.problems.push(`has the operator ${operator}`);
    if (PAINTING.has(operator) && state.marks.length === 0)
      found.problems.push(`paints by ${operator} what isn't marked`);
    followers[operator]?.(found, state, operands, pdf);
  }
  if (state.depth !== 0) found.problems.push('leaves a graphics state open');
  if (state.marks.length !== 0) found.problems.push('leaves a mark open');
  return found;
}

type Follow = (found: PageContents, state: State, operands: PdfValue[], pdf: Pdf) => void;

const followers: Record<string, Follow> = {
  q: (found, state) => {
    state.depth += 1;
    if (state.depth > 28) found.problems.push('nests graphics states more than 28 deep');
  },
  Q: (_, state) => (state.depth -= 1),
  BDC: openMark,
  BMC: openMark,
  EMC: (found, state) => {
    if (!state.marks.pop()) found.problems.push("closes a mark that isn't open");
  },
  cs: checkColours,
  CS: checkColours,
  Do: (found, _, [name], pdf) => {
    if (resource(pdf, found, 'XObject', name) === undefined) found.problems.push("draws what it hasn't got");
  },
  Tf: (found, state, [name], pdf) => {
    const font = resource(pdf, found, 'Font', name);
    if (typeof font === 'object' && font !== null && 'object' in font) state.font = font.object;
    else found.problems.push("has a font it hasn't got");
  },
  TJ: addGlyphs,
};

function resource(
  pdf: Pdf,
  { page }: PageContents,
  kind: string,
  name: PdfValue | undefined,
): PdfValue | undefined {
  return entryOf(at(pdf, page, 'Resources', kind), nameOf(name));
}

function openMark(found: PageContents, state: State, [tag, properties]: PdfValue[]): void {
  const mcid = entryOf(properties, 'MCID');
  const name = nameOf(tag);
  // Within other content, it says how this is shown.
  if (name === 'ReversedChars' && state.marks.length === 1) {
    state.marks.push({ tag: name, mcid: undefined });
    return;
  }
  if (state.marks.some((mark) => mark.tag === 'Artifact' || mark.mcid !== undefined)) {
    found.problems.push(`has ${name} within other marked content`);
  }
  if (name !== 'Artifact' && typeof mcid !== 'number')
    found.problems.push(`has ${name} without an identifier`);
  if (typeof mcid === 'number') {
    if (found.marked.has(mcid)) found.problems.push(`uses the identifier ${mcid} twice`);
    found.marked.set(mcid, name);
  }
  state.marks.push({ tag: name, mcid: typeof mcid === 'number' ? mcid : undefined });
}

function checkColours(found: PageContents, _: State, [space]: PdfValue[]): void {
  if (!isName(space, 'DeviceRGB') && !isName(space, 'DeviceGray')) {
    found.problems.push(`has colours in ${nameOf(space)}`);
  }
}

function addGlyphs(found: PageContents, { font }: State, [shown]: PdfValue[]): void {
  const glyphs = found.glyphs.get(font) ?? new Set();
  found.glyphs.set(font, glyphs);
  for (const piece of arrayOf(shown)) {
    if (typeof piece !== 'string') continue;
    const bytes = Buffer.from(piece, 'latin1');
    for (let index = 0; index + 1 < bytes.length; index += 2) glyphs.add(bytes.readUInt16BE(index));
  }
}
