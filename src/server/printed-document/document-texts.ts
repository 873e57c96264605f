import { accountOf } from './account.ts';
import { moneyFormat } from './amounts.ts';
import { type Fact, factTexts, headOf } from './facts.ts';
import { linesOf } from './lines.ts';
import { type PrintedParty, partyTexts, supplierTexts } from './parties.ts';
import type { PrintedDocument } from './printed-document.ts';
import { accountStatementsOf, type Statement, statementsOf, vatStatement } from './statements.ts';
import { sumsOf } from './sums.ts';
import type { TextTable } from './text-table.ts';
import { type VatTable, vatTablesOf } from './vat-tables.ts';
import { accountSumsOf, isDraft, documentName, supplierName, titleOf, warningOf } from './wording.ts';

/** All texts of a document, in reading order. Nothing has a measure in points, except the widest columns. */
export interface DocumentTexts {
  /** The title of the PDF. */
  name: string;
  language: 'en-GB' | 'en-IE';
  isDraft: boolean;
  supplier: ReturnType<typeof supplierTexts>;
  parties: PrintedParty[];
  head: { title: string; number: string };
  /** Warns that a draft or a pro forma isn't a VAT invoice. */
  warning: string | null;
  facts: Fact[];
  /** The references, if they are too many for a place among the facts. */
  references: Fact[];
  /** The lines of the document, or the entries of a statement of account. */
  table: TextTable;
  sums: readonly (readonly [label: string, amount: string])[];
  vatTables: VatTable[];
  /** The section on why no VAT is charged, and on who accounts for it. */
  vatNotes: Statement | null;
  statements: Statement[];
  /** The header of every page but the first. */
  running: { left: string; right: string };
  /** The supplier's registered details in the footer of every page. */
  registered: string;
}

/** Returns all texts of a document, or of a statement of account. */
export function documentTexts(printed: PrintedDocument): DocumentTexts {
  const { record, supplier, statementOn } = printed;
  const isAccount = statementOn !== undefined;
  const { withSymbol } = moneyFormat(record.currency);
  const sums = isAccount ? accountSumsOf(printed) : sumsOf(printed);
  const registered = [
    supplier.legalName,
    supplier.vatId && `VAT no. ${supplier.vatId}`,
    supplier.companyNumber && `Company no. ${supplier.companyNumber}`,
  ];
  return {
    name: isDraft(record) ? `${titleOf(record)} (draft)` : documentName(printed),
    language: supplier.countryCode === 'GB' ? 'en-GB' : 'en-IE',
    isDraft: isDraft(record),
    supplier: supplierTexts(printed),
    parties: partyTexts(printed),
    head: headOf(printed),
    warning: warningOf(record) ?? null,
    ...factTexts(printed),
    table: isAccount ? accountOf(printed) : linesOf(printed),
    sums: sums.map(([label, amountMinor]) => [label, withSymbol(amountMinor)] as const),
    vatTables: isAccount ? [] : vatTablesOf(printed),
    vatNotes: isAccount ? null : (vatStatement(printed) ?? null),
    statements: isAccount ? accountStatementsOf(printed) : statementsOf(printed),
    running: { left: documentName(printed), right: supplierName(printed) },
    registered: registered.filter(Boolean).join('  ·  '),
  };
}
