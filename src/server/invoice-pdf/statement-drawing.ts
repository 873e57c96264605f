import { CONTENT_WIDTH, LEFT_MARGIN, RIGHT, STYLES } from './page-design.ts';
import type { PaymentCode } from './payment-code.ts';
import type { Sheet, Tag } from './sheet.ts';
import { layTable } from './table.ts';
import type { TextBlock } from './text-blocks.ts';

/** A section of the document with a heading and text. */
export interface Statement {
  heading: string;
  paragraphs: readonly string[];
  /** A link shown under the paragraphs. */
  link?: { text: string; url: string } | undefined;
  /** Rows of a table shown under the paragraphs and the link. */
  details: readonly (readonly [label: string, value: string])[];
  /** A QR code beside the text, with `alt` as its alternative text. */
  code?: (PaymentCode & { alt: string }) | undefined;
}

const GAP = 16;

/** The text width in points, limited for readability. */
const TEXT_WIDTH = CONTENT_WIDTH * 0.82;
const LABEL_WIDTH = 92;
/** The greatest height, in points, of a statement that is kept on one page. */
const KEPT_HEIGHT = 200;
/** The width beside the text for a code. Even the largest code has modules of 0.4 mm there, which phones can read. */
const CODE_WIDTH = CONTENT_WIDTH - TEXT_WIDTH;
/** Light modules around a code (ISO/IEC 18004); on other sides, the page margin and the gap above serve as border. */
const LIGHT_MODULES = 4;

/** Draws a statement; one that doesn't fit on the page begins on the next, and can span several pages. */
export function drawStatement(sheet: Sheet, statement: Statement): void {
  const { heading, paragraphs, link, details, code } = statement;
  const title = sheet.text(heading, STYLES.label, CONTENT_WIDTH);
  const blocks = paragraphs.map((paragraph) => sheet.text(paragraph, STYLES.body, TEXT_WIDTH));
  const address = sheet.text(link?.text ?? '', STYLES.link, TEXT_WIDTH);
  const caption = sheet.text(code ? 'Scan in a banking app' : '', STYLES.fine, CODE_WIDTH);
  const codeHeight = code ? CODE_WIDTH + caption.height : 0;
  const begun = Math.max(title.height + 3 + 3 * STYLES.body.leading, codeHeight);
  const height = [...blocks, address].reduce((sum, block) => sum + block.height, title.height + 3);
  const whole = Math.max(height + details.length * STYLES.body.leading, codeHeight);
  sheet.y += GAP;
  sheet.makeRoom(whole <= KEPT_HEIGHT ? whole : begun);
  const { page, y } = sheet;
  const section = sheet.group(sheet.root, 'Sect');
  sheet.tagged(section, 'H2', () => sheet.drawDown(title, { x: LEFT_MARGIN, width: CONTENT_WIDTH }));
  sheet.y += 3;
  for (const block of blocks) drawFlowing(sheet, section, block);
  if (link) {
    sheet.makeRoom(address.height);
    sheet.link(section, address, { x: LEFT_MARGIN, width: TEXT_WIDTH }, link.url);
  }
  if (details.length > 0) drawDetails(sheet, section, details);
  const end = { page: sheet.page, y: sheet.y };
  if (code) {
    sheet.goTo({ page, y });
    drawCode(sheet, section, code, caption);
    if (end.page > page || end.y > sheet.y) sheet.goTo(end);
  }
  section.end();
}

/** Draws a code to the right of the text, with its caption. */
function drawCode(sheet: Sheet, section: Tag, code: PaymentCode & { alt: string }, caption: TextBlock): void {
  const width = (CODE_WIDTH * code.size) / (code.size + LIGHT_MODULES);
  const box = { x: RIGHT - width, y: sheet.y, width };
  sheet.figure(section, { ...box, height: width }, code.alt, () => sheet.code(code, box));
  sheet.y += CODE_WIDTH;
  const below = { x: RIGHT - CODE_WIDTH, y: sheet.y, width: CODE_WIDTH };
  sheet.tagged(section, 'P', () => sheet.draw(caption, below, 'right'));
  sheet.y += caption.height;
}

function drawDetails(sheet: Sheet, section: Tag, details: Statement['details']): void {
  sheet.y += 3;
  layTable(sheet, {
    columns: [
      { x: LEFT_MARGIN, width: LABEL_WIDTH, style: STYLES.bodyGrey },
      { x: LEFT_MARGIN + LABEL_WIDTH, width: TEXT_WIDTH - LABEL_WIDTH },
    ],
    rows: details.map((texts) => ({ texts, style: STYLES.body, padding: 0 })),
    hasRowHeads: true,
  }).draw(section);
}

function drawFlowing(sheet: Sheet, section: Tag, { lines, style }: TextBlock): void {
  const paragraph = sheet.group(section, 'P');
  let rest = lines;
  while (rest.length > 0) {
    sheet.makeRoom(style.leading);
    const page = rest.slice(0, sheet.linesLeft(style));
    rest = rest.slice(page.length);
    sheet.content(paragraph, 'P', () => {
      for (const line of page) {
        sheet.drawLine(line, style, LEFT_MARGIN, sheet.y);
        sheet.y += style.leading;
      }
    });
  }
  paragraph.end();
}
