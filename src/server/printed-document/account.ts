import type { Invoice } from '../../contract/records.ts';
import { moneyFormat } from './amounts.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { TextTable } from './text-table.ts';
import { balanceMinorOf, dateText, numberOf } from './wording.ts';

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

/** A row of an invoice's account: the invoice itself or an entry, with the balance after it, in minor units. */
export interface AccountRow {
  day: string | null;
  /** As in 'Invoice INV-1', 'Payment (bank transfer)' and 'Credit note CN-1'. */
  entry: string;
  /** The invoice's number. */
  invoice: string;
  /** The invoice's due date, in its own row. */
  dueDate?: string | null;
  currency: string;
  amountMinor: number;
  balanceMinor: number;
}

/** A customer's account in one currency: the rows of invoices, oldest first, and sums in minor units. */
export interface CustomerAccount {
  /** The day since which paid invoices are listed. */
  since: string;
  rows: readonly AccountRow[];
  /** Amounts left to pay of invoices, overdue after credits are deducted, and in credit on other invoices. */
  openMinor: number;
  overdueMinor: number;
  creditMinor: number;
}

/**
 * Returns the account of a customer on a day: invoices with a balance, and those on which something was settled since a day.
 * @param invoices issued invoices in one currency, oldest first.
 */
export function customerAccountOf(invoices: readonly Invoice[], since: string, on: string): CustomerAccount {
  const accounts = invoices
    .map((record) => ({ record, rows: rowsOf(record) }))
    .filter(
      ({ rows: [, ...entries], record }) =>
        balanceMinorOf(record) !== 0 || entries.some(({ day }) => day !== null && day >= since),
    );
  let [openMinor, overdueMinor, creditMinor] = [0, 0, 0];
  for (const { record } of accounts) {
    const balanceMinor = balanceMinorOf(record);
    if (balanceMinor < 0) creditMinor -= balanceMinor;
    else openMinor += balanceMinor;
    if (balanceMinor > 0 && (record.dueDate ?? on) < on) overdueMinor += balanceMinor;
  }
  overdueMinor = Math.min(overdueMinor, Math.max(0, openMinor - creditMinor));
  return { since, rows: accounts.flatMap(({ rows }) => rows), openMinor, overdueMinor, creditMinor };
}

/** Returns the account of an invoice, or of its customer, as a table of texts. */
export function accountOf({ record, account }: PrintedDocument): TextTable {
  const { plain } = moneyFormat(record.currency);
  const rows = account?.rows ?? rowsOf(record);
  const texts = rows.map(({ entry, day, dueDate, amountMinor, balanceMinor }) => [
    account && dueDate ? `${entry}, due ${dateText(dueDate)}` : entry,
    day === null ? '' : dateText(day),
    plain(amountMinor),
    plain(balanceMinor),
  ]);
  return {
    columns: [
      { head: 'Entry', align: 'left', widthMax: Infinity },
      { head: 'Date', align: 'left', widthMax: 110 },
      { head: `Amount (${record.currency})`, align: 'right', widthMax: 110 },
      {
        head: `${account ? 'Left to pay' : 'Balance'} (${record.currency})`,
        align: 'right',
        widthMax: 110,
      },
    ],
    // Without a row, the table would have no head for a screen reader.
    rows: texts.length > 0 ? texts : [['Nothing is open, and nothing was settled.', '', '', '']],
  };
}

function rowsOf(record: Invoice): AccountRow[] {
  const { issueDate, dueDate, currency } = record;
  const entries = entriesOf(record);
  // The invoice began with what is left and what was settled.
  const settledMinor = entries.reduce((sum, entry) => sum + entry.settledMinor, 0);
  let balanceMinor = balanceMinorOf(record) + settledMinor;
  const of = { invoice: numberOf(record), currency };
  return [
    {
      ...of,
      day: issueDate,
      entry: `Invoice ${of.invoice}`,
      dueDate,
      amountMinor: balanceMinor,
      balanceMinor,
    },
    ...entries.map(({ day, kind, method, creditNote, settledMinor: offMinor }) => {
      balanceMinor -= offMinor;
      const entry = creditNote ? `${kind} ${creditNote.number}` : `${kind} (${method})`;
      return { ...of, day, entry, amountMinor: -offMinor, balanceMinor };
    }),
  ];
}
