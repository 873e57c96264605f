import { amountText } from '../../../contract/currencies.ts';
import { DAY_MS } from '../../../contract/durations.ts';
import type { Invoice } from '../../../contract/records.ts';
import { daysAfter } from '../../backoffice/times.ts';
import type { DocumentState, OpenAge } from './searched-parts.ts';
import { paidMinor } from '../../store/search-columns.ts';
import { dayText } from '../../views/formats.ts';
import type { Html } from '../../views/html.ts';
import { badge } from '../../views/notice.ts';

export const stateNames: Record<DocumentState, string> = {
  draft: 'Draft',
  open: 'Open',
  overdue: 'Overdue',
  part_paid: 'Part paid',
  paid: 'Paid',
  credited: 'Credited',
  in_credit: 'In credit',
  not_due: 'Not yet due',
  overdue_1_30: 'Overdue by 1–30 days',
  overdue_31_60: 'Overdue by 31–60 days',
  overdue_61_90: 'Overdue by 61–90 days',
  overdue_over_90: 'Overdue by over 90 days',
};

/** Renders the badge of a document's state, which sets overdue invoices apart from those that are merely due. */
export function stateBadge(document: Invoice, today: string): Html {
  const { dueDate, currency, creditBalanceMinor = 0, totals } = document;
  const state = stateOf(document);
  if (state === 'draft') return badge('plain', stateNames.draft);
  if (state === 'in_credit') return badge('warn', `${amountText(creditBalanceMinor, currency)} in credit`);
  if (state === 'open' || state === 'part_paid') {
    const more = state === 'part_paid' ? ', part paid' : '';
    if (dueDate !== null && daysOverdue(document, today) > 0)
      return badge('bad', `Overdue since ${dayText(daysAfter(dueDate, 1))}${more}`);
    return badge('plain', `${dueDate === null ? 'Open' : `Due ${dayText(dueDate)}`}${more}`);
  }
  if (state === 'issued') return badge('good', 'Issued');
  return badge('good', totals.grossMinor > 0 ? stateNames[state] : 'Nothing due');
}

/** Returns the state of a document as searches name it; `issued` for credit notes and pro formas, which nobody pays. */
export function stateOf(document: Invoice): Exclude<DocumentState, 'overdue' | OpenAge> | 'issued' {
  const { kind, status, amountDueMinor = 0, creditBalanceMinor = 0, totals } = document;
  if (status === 'draft') return 'draft';
  if (kind !== 'invoice') return 'issued';
  const isPaid = paidMinor(document) > 0;
  if (amountDueMinor > 0) return isPaid ? 'part_paid' : 'open';
  if (creditBalanceMinor > 0) return 'in_credit';
  return isPaid || totals.grossMinor === 0 ? 'paid' : 'credited';
}

/** Returns the number of days since an unpaid invoice's due date, otherwise 0. It is overdue from the day after that date. */
export function daysOverdue({ dueDate, amountDueMinor = 0 }: Invoice, today: string): number {
  if (dueDate === null || amountDueMinor === 0) return 0;
  return Math.max(0, (Date.parse(today) - Date.parse(dueDate)) / DAY_MS);
}
