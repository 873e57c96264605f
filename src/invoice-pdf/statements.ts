import { moneyFormat } from './amounts.ts';
import { dateText } from './dates.ts';
import { CONTENT_WIDTH, LEFT, STYLES } from './page-design.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { Sheet } from './sheet.ts';
import type { TextStyle } from './text-blocks.ts';
import { reverseChargeStatements } from './vat-summary.ts';
import { categoryText, isMargin, numberOf } from './wording.ts';

/** A part of the document that is a heading and text under it. */
export interface Statement {
  heading: string;
  paragraphs: readonly string[];
}

/** What the document has to say beside its amounts: why no VAT is charged, a note, and how to pay. */
export function statementsOf(printed: PrintedDocument): Statement[] {
  return [vatStatement(printed), noteStatement(printed), paymentStatement(printed)].filter(
    (statement) => statement !== undefined,
  );
}

function vatStatement(printed: PrintedDocument): Statement | undefined {
  const { lines } = printed.record;
  const reasons = new Map<string, string>();
  for (const line of lines) {
    const reason = line.vatExemptionReason;
    if (reason !== null) reasons.set(`${line.vatCategory} ${reason}`, reasonText(line, reason));
  }
  const paragraphs = [...reasons.values(), ...reverseChargeStatements(printed)];
  if (hasMarkedLines(printed)) paragraphs.push(MARKED_LINES);
  return paragraphs.length === 0 ? undefined : { heading: 'About VAT', paragraphs };
}

/** HMRC's words for a document on which only some lines are under the domestic reverse charge (VATREVCON37100). */
const MARKED_LINES =
  'Customer to account to HMRC for the reverse charge output tax on the VAT-exclusive price of items marked reverse charge.';

function hasMarkedLines({ record, supplier }: PrintedDocument): boolean {
  if (supplier.countryCode !== 'GB' || record.buyer.countryCode !== 'GB') return false;
  const marked = record.lines.filter(({ vatCategory }) => vatCategory === 'AE');
  return marked.length > 0 && marked.length < record.lines.length;
}

/** The reason, with its category in front where the reason doesn't say it. */
function reasonText(line: PrintedDocument['record']['lines'][number], reason: string): string {
  if (isMargin(line) || line.vatCategory === 'O') return reason;
  const category = categoryText(line.vatCategory, line.vatRateBasisPoints).replace(/ 0%$/, '');
  return reason.toLowerCase().includes(category.toLowerCase()) ? reason : `${category}: ${reason}`;
}

function noteStatement({ record }: PrintedDocument): Statement | undefined {
  if (record.note === null || record.note.trim() === '') return undefined;
  const heading = record.kind === 'credit_note' ? 'Reason for this credit note' : 'Note';
  return { heading, paragraphs: [record.note] };
}

function paymentStatement({ record, supplier }: PrintedDocument): Statement | undefined {
  const { totals, dueDate, paymentTermsDays, kind } = record;
  if (kind === 'credit_note') return undefined;
  const amount = moneyFormat(record.currency).withSymbol(totals.grossMinor);
  const days = paymentTermsDays === 1 ? '1 day' : `${paymentTermsDays} days`;
  const terms = paymentTermsDays === 0 ? 'on receipt' : `within ${days} of the date of issue`;
  const by = dueDate === null ? terms : `by ${dateText(dueDate)}`;
  const suffix = dueDate === null || paymentTermsDays === 0 ? '' : ` (payment terms: ${days})`;
  const account = bankLines(supplier);
  const reference = record.number === null ? [] : [`Payment reference: ${numberOf(record)}`];
  return {
    heading: 'How to pay',
    paragraphs: [
      `Please pay ${amount} ${by}${suffix}.`,
      ...account,
      ...(account.length === 0 ? [] : reference),
    ],
  };
}

/** An account as people of its country write it: with sort code and number where a British IBAN holds them. */
function bankLines({ bankAccountName, iban, bic }: PrintedDocument['supplier']): string[] {
  if (iban === undefined) return [];
  const compact = iban.replace(/\s/g, '').toUpperCase();
  const [, sortCode, account] = /^GB\d\d[A-Z]{4}(\d{6})(\d{8})$/.exec(compact) ?? [];
  return [
    ...(bankAccountName === undefined ? [] : [`Account name: ${bankAccountName}`]),
    ...(sortCode === undefined || account === undefined
      ? []
      : [`Sort code: ${sortCode.replace(/(..)(?=.)/g, '$1-')}`, `Account number: ${account}`]),
    `IBAN: ${compact.replace(/(.{4})(?=.)/g, '$1 ')}`,
    ...(bic === undefined ? [] : [`BIC: ${bic}`]),
  ];
}

const GAP = 16;

/** Draws a statement; one that doesn't fit on the page begins on the next, and goes on from page to page. */
export function drawStatement(sheet: Sheet, { heading, paragraphs }: Statement): void {
  const title = sheet.text(heading, STYLES.label, CONTENT_WIDTH);
  const blocks = paragraphs.map((paragraph) => sheet.text(paragraph, STYLES.body, CONTENT_WIDTH * 0.82));
  const height = blocks.reduce((sum, block) => sum + block.height, title.height + 3);
  const begun = title.height + 3 + 3 * STYLES.body.leading;
  sheet.y += GAP;
  sheet.makeRoom(Math.min(height, height < 200 ? height : begun));
  const section = sheet.group(sheet.root, 'Sect');
  sheet.tagged(section, 'H2', () => sheet.draw(title, { x: LEFT, y: sheet.y, width: CONTENT_WIDTH }));
  sheet.y += title.height + 3;
  for (const block of blocks) drawFlowing(sheet, section, block.lines, block.style);
  section.end();
}

function drawFlowing(
  sheet: Sheet,
  section: ReturnType<Sheet['group']>,
  lines: ReturnType<Sheet['text']>['lines'],
  style: TextStyle,
): void {
  const paragraph = sheet.group(section, 'P');
  let rest = lines;
  while (rest.length > 0) {
    sheet.makeRoom(style.leading);
    const page = rest.slice(0, sheet.linesLeft(style));
    rest = rest.slice(page.length);
    sheet.content(paragraph, 'P', () => {
      for (const line of page) {
        sheet.drawLine(line, style, LEFT, sheet.y);
        sheet.y += style.leading;
      }
    });
  }
  paragraph.end();
}
