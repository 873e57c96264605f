import type { Invoice } from '../../contract/records.ts';
import { moneyFormat } from './amounts.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { TextTable } from './text-table.ts';
import { dateText, numberOf } from './wording.ts';

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

/** Returns an invoice's amount and all its entries, with the balance after each, as a table of texts. */
export function accountOf({ record }: PrintedDocument): TextTable {
  return {
    columns: [
      { head: 'Entry', align: 'left', widthMax: Infinity },
      { head: 'Date', align: 'left', widthMax: 110 },
      { head: `Amount (${record.currency})`, align: 'right', widthMax: 110 },
      { head: `Balance (${record.currency})`, align: 'right', widthMax: 110 },
    ],
    rows: textsOf(record),
  };
}

function textsOf(record: Invoice): string[][] {
  const { plain } = moneyFormat(record.currency);
  const entries = entriesOf(record);
  const { amountDueMinor = 0, creditBalanceMinor = 0, issueDate } = record;
  // The invoice began with what is left and what was settled.
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
