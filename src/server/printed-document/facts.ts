import type { DocumentTerms } from '../../contract/feed.ts';
import { payableMinor } from '../../contract/vat.ts';
import { moneyFormat } from './amounts.ts';
import type { PrintedDocument } from './printed-document.ts';
import {
  balanceOf,
  dateText,
  dueDateOf,
  isDraft,
  numberOf,
  subjectOf,
  overpaidMinor,
  periodText,
  taxPointOf,
  taxPoints,
  titleOf,
  typeNames,
} from './wording.ts';

/** A labelled date, reference or amount; `isStrong` makes it stand out. */
export interface Fact {
  label: string;
  value: string;
  isStrong: boolean;
}

/** Returns the title and the number of a document. */
export function headOf(printed: PrintedDocument): { title: string; number: string } {
  const { record, statementOn } = printed;
  return statementOn === undefined
    ? { title: titleOf(record), number: numberOf(record) }
    : { title: 'Statement of account', number: `for ${subjectOf(printed)}` };
}

/** The most references shown among the facts; more of them go into two columns, so that a short invoice fits on one page. */
const REFERENCES_MAX = 3;

/** Returns the dates, references and amount at the head of a document; many references are returned separately. */
export function factTexts(printed: PrintedDocument): { facts: Fact[]; references: Fact[] } {
  const { statementOn } = printed;
  if (statementOn !== undefined)
    return { facts: said(rowsOfStatement(printed, statementOn)), references: [] };
  const references = said(referenceRows(printed));
  const isFew = references.length <= REFERENCES_MAX;
  const facts = [...said(dateRows(printed)), ...(isFew ? references : []), ...said([amountRow(printed)])];
  return { facts, references: isFew ? [] : references };
}

type Row = readonly [label: string, value: string | null | undefined, isStrong?: true];

function said(rows: readonly Row[]): Fact[] {
  return rows.flatMap(([label, value, isStrong = false]) => (value ? [{ label, value, isStrong }] : []));
}

function dateRows(printed: PrintedDocument): Row[] {
  const { record, terms = {} } = printed;
  const { supplyDate, supplyPeriod } = record;
  return [
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
  ];
}

function rowsOfStatement(printed: PrintedDocument, day: string): Row[] {
  const { record, account } = printed;
  const { withSymbol } = moneyFormat(record.currency);
  const [label, amountMinor] = balanceOf(printed);
  const ofInvoice: Row[] = [
    ['Invoice dated', dateOrNull(record.issueDate)],
    ['Due date', dateOrNull(record.dueDate)],
    ['Your reference', record.buyerReference],
    ['Purchase order', record.purchaseOrderReference],
  ];
  const ofCustomer: Row[] = [
    ['Settled since', dateOrNull(account?.since)],
    ['Overdue', withSymbol(account?.overdueMinor ?? 0)],
  ];
  const rows = account ? ofCustomer : ofInvoice;
  return [['As of', dateText(day)], ...rows, [label, withSymbol(amountMinor), true]];
}

function referenceRows({ record, terms = {} }: PrintedDocument): Row[] {
  const { creditedInvoice } = record;
  return [
    ['Your reference', record.buyerReference],
    ['Purchase order', record.purchaseOrderReference],
    ['Our order', terms.salesOrderReference],
    ['Contract', terms.contractReference],
    ['Project', terms.projectReference],
    ['Tender', terms.tenderReference],
    ['Delivery note', terms.despatchAdviceReference],
    ['Goods received', terms.receivingAdviceReference],
    ['Concerning', terms.invoicedObject?.id],
    ['Your account', terms.buyerAccountingReference],
    ['Credits invoice', creditedInvoice?.number],
    ['Invoice dated', dateOrNull(creditedInvoice?.issueDate)],
    ['Earlier invoices', earlierText(terms.precedingInvoices)],
  ];
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
  if (overpaid > 0) return ['Credit balance', withSymbol(overpaid), true];
  const amount = withSymbol(payableMinor(record.totals, amounts));
  const asked = isDraft(record) ? 'Total' : 'Amount due';
  return [record.kind === 'credit_note' ? 'Credit total' : asked, amount, true];
}
