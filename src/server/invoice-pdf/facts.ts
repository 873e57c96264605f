import type { DocumentTerms } from '../../contract/feed.ts';
import type { Invoice } from '../../contract/records.ts';
import { payableMinor } from '../../contract/vat.ts';
import { moneyFormat } from './amounts.ts';
import { ADDRESS_TOP, COLUMN, RIGHT, RULE, STYLES } from './page-design.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import type { Sheet } from './sheet.ts';
import { layTable } from './table.ts';
import type { TextStyle } from './text-blocks.ts';
import {
  balanceOf,
  dateText,
  isDraft,
  numberOf,
  overpaidMinor,
  dueDateOf,
  periodText,
  taxPointOf,
  taxPoints,
  titleOf,
  typeNames,
  warningOf,
} from '../printed-document/wording.ts';

const WIDTH = RIGHT - COLUMN;
const SPACE = { x: COLUMN, width: WIDTH };
const LABEL_WIDTH = 92;

/** Draws the title, the number, the dates and the references in the right column. */
export function drawFacts(sheet: Sheet, printed: PrintedDocument): void {
  const { record, statementOn } = printed;
  const [what, which] =
    statementOn === undefined
      ? [titleOf(record), numberOf(record)]
      : ['Statement of account', `for invoice ${numberOf(record)}`];
  const title = sheet.text(what, STYLES.title, WIDTH, true);
  const number = sheet.text(which, STYLES.number, WIDTH);
  if (sheet.page === 0) sheet.y = Math.max(sheet.y + 16, ADDRESS_TOP - 7);
  sheet.makeRoom(title.height + number.height);
  sheet.tagged(sheet.root, 'H1', () => {
    sheet.drawDown(title, SPACE);
    sheet.drawDown(number, SPACE);
  });
  sheet.y += 5;
  const warning = warningOf(record);
  if (warning !== undefined) {
    const block = sheet.text(warning, STYLES.warning, WIDTH);
    sheet.makeRoom(block.height);
    sheet.tagged(sheet.root, 'P', () => sheet.drawDown(block, SPACE));
    sheet.y += 3;
  }
  drawRows(sheet, statementOn === undefined ? rowsOf(printed) : rowsOfStatement(record, statementOn));
}

type Row = readonly [label: string, value: string | null, style?: TextStyle];

function rowsOf(printed: PrintedDocument): Row[] {
  const { record, terms = {} } = printed;
  const { supplyDate, supplyPeriod, creditedInvoice } = record;
  const rows: Row[] = [
    ['Kind', named(typeNames, terms.typeCode)],
    ['Date of issue', dateOrNull(record.issueDate)],
    supplyPeriod === null
      ? ['Date of supply', dateOrNull(supplyDate)]
      : ['Period of supply', periodText(supplyPeriod)],
    ['Delivered', dateOrNull(terms.delivery?.date)],
    [
      'Tax point',
      named(taxPoints, terms.taxPointCode) ?? dateOrNull(terms.taxPointDate ?? taxPointOf(record)),
    ],
    ['Due date', dateOrNull(dueDateOf(printed))],
    ['Your reference', record.buyerReference],
    ['Purchase order', record.purchaseOrderReference],
    ...referenceRows(terms),
    ['Credits invoice', creditedInvoice?.number ?? null],
    ['Invoice dated', dateOrNull(creditedInvoice?.issueDate)],
    ['Earlier invoices', earlierText(terms.precedingInvoices)],
    amountRow(printed),
  ];
  return rows.filter(([, value]) => value !== null);
}

function rowsOfStatement(record: Invoice, day: string): Row[] {
  const [label, amountMinor] = balanceOf(record);
  const rows: Row[] = [
    ['As of', dateText(day)],
    ['Invoice dated', dateOrNull(record.issueDate)],
    ['Due date', dateOrNull(record.dueDate)],
    ['Your reference', record.buyerReference],
    ['Purchase order', record.purchaseOrderReference],
    [label, moneyFormat(record.currency).withSymbol(amountMinor), STYLES.strong],
  ];
  return rows.filter(([, value]) => value !== null);
}

function referenceRows(terms: DocumentTerms): Row[] {
  const rows: (readonly [string, string | undefined])[] = [
    ['Our order', terms.salesOrderReference],
    ['Contract', terms.contractReference],
    ['Project', terms.projectReference],
    ['Tender', terms.tenderReference],
    ['Delivery note', terms.despatchAdviceReference],
    ['Goods received', terms.receivingAdviceReference],
    ['Concerning', terms.invoicedObject?.id],
    ['Your account', terms.buyerAccountingReference],
  ];
  return rows.map(([label, value]) => [label, value ?? null]);
}

function earlierText(invoices: DocumentTerms['precedingInvoices'] = []): string | null {
  const texts = invoices.map(({ number, issueDate }) =>
    issueDate === undefined ? number : `${number} of ${dateText(issueDate)}`,
  );
  return texts.length === 0 ? null : texts.join('\n');
}

function dateOrNull(date: string | null | undefined): string | null {
  return date ? dateText(date) : null;
}

function named(names: Partial<Record<string, string>>, code = ''): string | null {
  return names[code] ?? null;
}

/** Returns the row of the amount due or credited. An issued document shows the amount at issue, before later payments. */
function amountRow(printed: PrintedDocument): Row {
  const { record, amounts } = printed;
  const { withSymbol } = moneyFormat(record.currency);
  const overpaid = overpaidMinor(printed);
  if (overpaid > 0) return ['Credit balance', withSymbol(overpaid), STYLES.strong];
  const amount = withSymbol(payableMinor(record.totals, amounts));
  const asked = isDraft(record) ? 'Total' : 'Amount due';
  return [record.kind === 'credit_note' ? 'Credit total' : asked, amount, STYLES.strong];
}

function drawRows(sheet: Sheet, rows: Row[]): void {
  const behind = () => sheet.rule(sheet.y, SPACE, RULE);
  // Lowers the small label onto the line of its value.
  const drop = (STYLES.body.leading - STYLES.small.leading) / 2;
  layTable(sheet, {
    columns: [
      { x: COLUMN, width: LABEL_WIDTH - 8, style: STYLES.small, drop },
      { x: COLUMN + LABEL_WIDTH, width: WIDTH - LABEL_WIDTH },
    ],
    rows: rows.map(([label, value, style = STYLES.body]) => {
      return { texts: [label, value ?? ''], style, padding: 2.5, behind };
    }),
    hasRowHeads: true,
  }).draw(sheet.root);
}
