import { CONTENT_WIDTH, FOOT_MARGIN, LEFT_MARGIN, PAGE_WIDTH, RULE, STYLES, TOP } from './page-design.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import type { Sheet } from './sheet.ts';
import type { TextBlock } from './text-blocks.ts';
import { isDraft, documentName, supplierName } from '../printed-document/wording.ts';

/** Draws the header of every page but the first, and the watermark on each page of a draft. */
export function drawPageHead(sheet: Sheet, printed: PrintedDocument): number {
  if (isDraft(printed.record)) drawWatermark(sheet);
  if (sheet.pageCount === 1) return TOP;
  const left = sheet.text(documentName(printed), STYLES.strong, CONTENT_WIDTH / 2);
  const right = sheet.text(supplierName(printed), STYLES.small, CONTENT_WIDTH / 2 - 20);
  const box = { x: LEFT_MARGIN, y: TOP, width: CONTENT_WIDTH };
  sheet.artifact(() => {
    sheet.draw(left, box);
    sheet.draw(right, box, 'right');
  }, 'Pagination');
  return TOP + Math.max(left.height, right.height) + 14;
}

/** Draws the watermark as an artifact, since the warning under the title already says it. */
function drawWatermark(sheet: Sheet): void {
  const { height } = sheet.size;
  const block = sheet.text('DRAFT', STYLES.watermark, height);
  const width = block.lines[0]?.width ?? 0;
  sheet.artifact(() => {
    sheet.document.save().rotate(-52, { origin: [PAGE_WIDTH / 2, height / 2] });
    sheet.draw(block, {
      x: (PAGE_WIDTH - width) / 2,
      y: (height - STYLES.watermark.leading) / 2,
      width,
    });
    sheet.document.restore();
  }, 'Pagination');
}

/** Draws the footer of every page, when the number of pages is known. */
export function drawPageFeet(sheet: Sheet, printed: PrintedDocument): void {
  const { supplier } = printed;
  const registered = [
    supplier.legalName,
    supplier.vatId === undefined ? undefined : `VAT no. ${supplier.vatId}`,
    supplier.companyNumber === undefined ? undefined : `Company no. ${supplier.companyNumber}`,
  ].filter((text) => text !== undefined);
  const left = atMostTwoLines(sheet.text(registered.join('  ·  '), STYLES.fine, CONTENT_WIDTH * 0.58));
  const foot = sheet.size.height - FOOT_MARGIN;
  for (let page = 0; page < sheet.pageCount; page++) {
    sheet.goTo({ page, y: foot });
    const count = `Page ${page + 1} of ${sheet.pageCount}`;
    const right = atMostTwoLines(
      sheet.text(`${count}  ·  ${documentName(printed)}`, STYLES.fine, CONTENT_WIDTH * 0.38),
    );
    sheet.artifact(() => {
      sheet.rule(foot - 6, { x: LEFT_MARGIN, width: CONTENT_WIDTH }, RULE);
      sheet.draw(left, { x: LEFT_MARGIN, y: foot, width: CONTENT_WIDTH });
      sheet.draw(right, { x: LEFT_MARGIN, y: foot, width: CONTENT_WIDTH }, 'right');
    }, 'Pagination');
  }
}

/** Cuts a footer to two lines: a third would reach the edge of the paper, and the first page has the full text. */
function atMostTwoLines(block: TextBlock): TextBlock {
  return { ...block, lines: block.lines.slice(0, 2) };
}
