import type { Invoice } from '../../contract/records.ts';
import { moneyFormat } from './amounts.ts';
import { ACCENT, COLUMN, CONTENT_WIDTH, LEFT_MARGIN, RIGHT, RULE, STYLES } from './page-design.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import type { Sheet } from './sheet.ts';
import { layTable, type NaturalColumn, naturalWidths, placeColumns } from './table.ts';
import { laySums } from './totals.ts';
import { balanceOf, dateText, numberOf } from '../printed-document/wording.ts';

/** A payment, refund or credit note of an invoice. */
export interface StatementEntry {
  day: string;
  kind: 'Payment' | 'Refund' | 'Credit note';
  /** The payment method in words; undefined for a credit note. */
  method?: string;
  creditNote?: Invoice['creditNotes'][number];
  /** The amount deducted from the balance, in minor units; negative for a refund. */
  settledMinor: number;
}

/** Returns the payments, refunds and credits of an invoice since its issue, by day. */
export function entriesOf({ payments = [], refunds = [], creditNotes }: Invoice): StatementEntry[] {
  const entries: StatementEntry[] = [
    ...payments.map(({ paidOn, method, amountMinor }) => ({
      ...{ day: paidOn, kind: 'Payment' as const, method: method.replaceAll('_', ' ') },
      settledMinor: amountMinor,
    })),
    ...refunds.map(({ refundedOn, method, amountMinor }) => ({
      ...{ day: refundedOn, kind: 'Refund' as const, method: method.replaceAll('_', ' ') },
      settledMinor: -amountMinor,
    })),
    ...creditNotes.map((creditNote) => ({
      ...{ day: creditNote.issueDate, kind: 'Credit note' as const, creditNote },
      settledMinor: creditNote.grossMinor,
    })),
  ];
  return entries.sort((a, b) => Number(a.day > b.day) - Number(a.day < b.day));
}

const PADDING = 4.5;
const GAP = 14;
const SPACE = { x: LEFT_MARGIN, width: CONTENT_WIDTH };

/** Draws an invoice, all its entries with the balance after each, and the final balance. */
export function drawAccount(sheet: Sheet, { record }: PrintedDocument): void {
  const columns: NaturalColumn[] = [
    { head: 'Entry', align: 'left', widthMax: CONTENT_WIDTH },
    { head: 'Date', align: 'left', widthMax: 110 },
    { head: `Amount (${record.currency})`, align: 'right', widthMax: 110 },
    { head: `Balance (${record.currency})`, align: 'right', widthMax: 110 },
  ];
  const texts = textsOf(record);
  const table = layTable(sheet, {
    columns: placeColumns(columns, naturalWidths(sheet, columns, texts, STYLES), SPACE),
    heads: { style: STYLES.head, padding: PADDING, below: [ACCENT, 1] },
    rows: texts.map((own) => ({ texts: own, style: STYLES.cell, padding: PADDING, below: [RULE] })),
    hasRowHeads: false,
  });
  const sums = laySums(sheet, [balanceOf(record)], record.currency, { x: COLUMN, width: RIGHT - COLUMN });
  table.draw(sheet.root, { tailHeight: GAP + sums.height });
  sheet.y += GAP;
  sums.draw(sheet.root);
}

function textsOf(record: Invoice): string[][] {
  const { plain } = moneyFormat(record.currency);
  const entries = entriesOf(record);
  const { amountDueMinor = 0, creditBalanceMinor = 0, issueDate } = record;
  // The opening balance is the current balance plus everything settled.
  const settledMinor = entries.reduce((sum, entry) => sum + entry.settledMinor, 0);
  let balanceMinor = amountDueMinor - creditBalanceMinor + settledMinor;
  const begun = plain(balanceMinor);
  return [
    [`Invoice ${numberOf(record)}`, issueDate === null ? '' : dateText(issueDate), begun, begun],
    ...entries.map(({ day, kind, method, creditNote, settledMinor: offMinor }) => {
      balanceMinor -= offMinor;
      const what = creditNote ? `${kind} ${creditNote.number}` : `${kind} (${method})`;
      return [what, dateText(day), plain(-offMinor), plain(balanceMinor)];
    }),
  ];
}
