import { moneyFormat } from './amounts.ts';
import { CONTENT_WIDTH, LEFT, STYLES } from './page-design.ts';
import type { PrintedDocument } from './printed-document.ts';
import { reverseChargeStatements } from './reverse-charge.ts';
import type { Sheet, Tag } from './sheet.ts';
import { layTable } from './table.ts';
import type { TextBlock } from './text-blocks.ts';
import { asksForPayment, categoryText, dateText, isDraft, isMargin, numberOf, titleOf } from './wording.ts';

/** A part of the document that is a heading and text under it. */
export interface Statement {
  heading: string;
  paragraphs: readonly string[];
  /** Set as a table under the paragraphs. */
  details: readonly (readonly [label: string, value: string])[];
}

/** The statements beside the amounts: why no VAT is charged, a note, and how to pay. */
export function statementsOf(printed: PrintedDocument): Statement[] {
  return [
    vatStatement(printed),
    noteStatement(printed),
    paymentStatement(printed),
    originStatement(printed),
  ].filter((statement) => statement !== undefined);
}

/** A document that is issued elsewhere has its original there. */
function originStatement({ record, isImported = false }: PrintedDocument): Statement | undefined {
  if (!isImported) return undefined;
  const document = titleOf(record).toLowerCase();
  const paragraph = `This PDF was made from the data of the business system that issued the ${document}.`;
  return { heading: 'About this PDF', paragraphs: [paragraph], details: [] };
}

function vatStatement(printed: PrintedDocument): Statement | undefined {
  const { lines } = printed.record;
  const reasons = new Map<string, string>();
  for (const line of lines) {
    const reason = line.vatExemptionReason;
    if (reason !== null) reasons.set(`${line.vatCategory} ${reason}`, reasonText(line, reason));
  }
  const paragraphs = [...reasons.values(), ...reverseChargeStatements(printed, [...reasons.values()])];
  return paragraphs.length === 0 ? undefined : { heading: 'About VAT', paragraphs, details: [] };
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
  return { heading, paragraphs: [record.note], details: [] };
}

function paymentStatement({ record, supplier }: PrintedDocument): Statement | undefined {
  const { totals, dueDate, paymentTermsDays, kind } = record;
  if (kind === 'credit_note') return undefined;
  if (!asksForPayment(record)) return nothingDue(record);
  const amount = moneyFormat(record.currency).withSymbol(totals.grossMinor);
  const days = paymentTermsDays === 1 ? '1 day' : `${paymentTermsDays} days`;
  const terms = paymentTermsDays === 0 ? 'on receipt' : `within ${days} of the date of issue`;
  const by = dueDate === null ? terms : `by ${dateText(dueDate)}`;
  const suffix = dueDate === null || paymentTermsDays === 0 ? '' : ` (payment terms: ${days})`;
  const account = bankDetails(supplier);
  const reference = [['Payment reference', numberOf(record)] as const];
  return {
    heading: account.length === 0 ? 'Payment' : 'How to pay',
    paragraphs: isDraft(record)
      ? ['There is nothing to pay on this draft.', `Once it is issued, ${amount} will be due ${by}${suffix}.`]
      : [`Please pay ${amount} ${by}${suffix}.`],
    details: [...account, ...(account.length === 0 || record.number === null ? [] : reference)],
  };
}

function nothingDue(record: PrintedDocument['record']): Statement {
  const verb = isDraft(record) ? 'will be' : 'is';
  const paragraphs = [`Nothing ${verb} due on this ${titleOf(record).toLowerCase()}.`];
  return { heading: 'Payment', paragraphs, details: [] };
}

/** An account as people of its country write it: with sort code and number where a British IBAN holds them. */
function bankDetails({
  bankAccountName,
  iban,
  bic,
}: PrintedDocument['supplier']): (readonly [string, string])[] {
  if (iban === undefined) return [];
  const compact = iban.replace(/\s/g, '').toUpperCase();
  const [, sortCode, account] = /^GB\d\d[A-Z]{4}(\d{6})(\d{8})$/.exec(compact) ?? [];
  const isBritish = sortCode !== undefined && account !== undefined;
  return [
    ...(bankAccountName === undefined ? [] : [['Account name', bankAccountName] as const]),
    ...(isBritish ? [['Sort code', sortCode.replace(/(..)(?=.)/g, '$1-')] as const] : []),
    ...(isBritish ? [['Account number', account] as const] : []),
    ['IBAN', compact.replace(/(.{4})(?=.)/g, '$1 ')],
    ...(bic === undefined ? [] : [['BIC', bic] as const]),
  ];
}

const GAP = 16;

/** As wide as is read with ease. */
const TEXT_WIDTH = CONTENT_WIDTH * 0.82;
const LABEL_WIDTH = 92;
/** A statement up to this height is kept on one page. */
const KEPT_HEIGHT = 200;

/** Draws a statement; one that doesn't fit on the page begins on the next, and goes on from page to page. */
export function drawStatement(sheet: Sheet, { heading, paragraphs, details }: Statement): void {
  const title = sheet.text(heading, STYLES.label, CONTENT_WIDTH);
  const blocks = paragraphs.map((paragraph) => sheet.text(paragraph, STYLES.body, TEXT_WIDTH));
  const begun = title.height + 3 + 3 * STYLES.body.leading;
  const height = blocks.reduce((sum, block) => sum + block.height, title.height + 3);
  const whole = height + details.length * STYLES.body.leading;
  sheet.y += GAP;
  sheet.makeRoom(whole <= KEPT_HEIGHT ? whole : begun);
  const section = sheet.group(sheet.root, 'Sect');
  sheet.tagged(section, 'H2', () => sheet.drawDown(title, { x: LEFT, width: CONTENT_WIDTH }));
  sheet.y += 3;
  for (const block of blocks) drawFlowing(sheet, section, block);
  if (details.length > 0) drawDetails(sheet, section, details);
  section.end();
}

function drawDetails(sheet: Sheet, section: Tag, details: Statement['details']): void {
  sheet.y += 3;
  layTable(sheet, {
    columns: [
      { x: LEFT, width: LABEL_WIDTH, style: STYLES.bodyGrey },
      { x: LEFT + LABEL_WIDTH, width: TEXT_WIDTH - LABEL_WIDTH },
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
        sheet.drawLine(line, style, LEFT, sheet.y);
        sheet.y += style.leading;
      }
    });
  }
  paragraph.end();
}
