import type { DatabaseSync as Connection } from 'node:sqlite';

/** SQL for a document's customer, with the current name if the copy has the customer, or else the name on the document. */
export const CUSTOMER_COLUMNS_SQL = `json_extract(invoices.customer, '$.id') AS customerId,
  COALESCE(
    (SELECT customers.name FROM customers WHERE customers.id = json_extract(invoices.customer, '$.id')),
    json_extract(invoices.customer, '$.name')
  ) AS customerName`;

const ISSUED = "status = 'issued' AND kind IN ('invoice', 'credit_note')";
const SIGN = "CASE kind WHEN 'credit_note' THEN -1 ELSE 1 END";

/** Returns SQL for a property of a JSON list's item. */
const member = (name: string) => `json_extract(item.value, '$.${name}')`;

/** Returns SQL for the sum of a property over one of an invoice's lists; 0 if the list is empty. */
const sumOf = (list: string, name: string) =>
  `(SELECT COALESCE(SUM(${member(name)}), 0) FROM json_each(invoices.${list}) AS item)`;

/** SQL for the rounding of an invoice and its credit notes (BT-114), worked out because the API doesn't show it. */
const ROUNDING = `COALESCE(amountDueMinor, 0) - COALESCE(creditBalanceMinor, 0) - json_extract(totals, '$.grossMinor')
  + ${sumOf('payments', 'amountMinor')} - ${sumOf('refunds', 'amountMinor')} + ${sumOf('creditNotes', 'grossMinor')}`;

// Only issued invoices have amountDueMinor: gross plus rounding, less payments and credit notes, plus refunds.
const receivables = (today: string) => `SELECT number, json_extract(invoices.customer, '$.id') AS customerId,
  json_extract(invoices.customer, '$.name') AS customerName, issueDate, dueDate, currency,
  json_extract(totals, '$.grossMinor') AS grossMinor, ${sumOf('payments', 'amountMinor')} AS paidMinor,
  ${sumOf('refunds', 'amountMinor')} AS refundedMinor, ${sumOf('creditNotes', 'grossMinor')} AS creditedMinor,
  ${ROUNDING} AS roundingMinor,
  amountDueMinor, MAX(0, CAST(julianday(${today}) - julianday(dueDate) AS INTEGER)) AS daysOverdue, id
FROM invoices WHERE amountDueMinor > 0`;

const vat = `SELECT substr(issueDate, 1, 7) AS month, kind, number, issueDate, supplyDate, ${CUSTOMER_COLUMNS_SQL},
  ${member('category')} AS vatCategory, ${member('rateBasisPoints')} AS vatRateBasisPoints,
  COALESCE(json_extract(accountingCurrency, '$.currency'), currency) AS currency,
  ${SIGN} * ${member('taxableMinor')} AS taxableMinor, ${SIGN} * ${member('vatMinor')} AS vatMinor,
  currency AS documentCurrency, invoices.id AS id
FROM invoices, json_each(COALESCE(json_extract(accountingCurrency, '$.vatBreakdown'), vatBreakdown)) AS item
WHERE ${ISSUED}`;

const entriesOf = (list: string, kind: string, day: string, amountMinor: string) =>
  `SELECT ${member(day)}, '${kind}', number, ${CUSTOMER_COLUMNS_SQL}, ${member('currency')}, ${amountMinor}, invoices.id
FROM invoices, json_each(invoices.${list}) AS item`;

// The sum of a customer's amounts in a currency is what the customer owes.
const salesLedger = `SELECT issueDate AS day, kind, number, ${CUSTOMER_COLUMNS_SQL}, currency,
  ${SIGN} * json_extract(totals, '$.grossMinor') AS amountMinor, id
FROM invoices WHERE ${ISSUED}
UNION ALL
${entriesOf('payments', 'payment', 'paidOn', `-${member('amountMinor')}`)}
UNION ALL
${entriesOf('refunds', 'refund', 'refundedOn', member('amountMinor'))}
UNION ALL
SELECT issueDate, 'rounding', number, ${CUSTOMER_COLUMNS_SQL}, currency, ${ROUNDING}, id
FROM invoices WHERE ${ISSUED} AND kind = 'invoice' AND ${ROUNDING} <> 0`;

/** Returns SQL for a column with the sum of the ledger's amounts of one kind. */
const sumOfKind = (name: string, kind: string, sign = '') =>
  `SUM(CASE kind WHEN '${kind}' THEN ${sign}amountMinor ELSE 0 END) AS ${name}Minor`;

export const LEDGER_SUMS = `${sumOfKind('invoiced', 'invoice')}, ${sumOfKind('credited', 'credit_note', '-')},
  ${sumOfKind('paid', 'payment', '-')}, ${sumOfKind('refunded', 'refund')},
  ${sumOfKind('rounding', 'rounding')}`;

const months = `SELECT month, currency, ${LEDGER_SUMS}, SUM(vatMinor) AS vatMinor
FROM (
  SELECT substr(day, 1, 7) AS month, currency, kind, amountMinor, 0 AS vatMinor FROM sales_ledger
  UNION ALL
  SELECT month, currency, '', 0, vatMinor FROM vat
)
GROUP BY month, currency`;

/**
 * The queries of a copy's views for accountants, by view name. Amounts are in minor units of the row's currency.
 * @param today SQL for the day up to which days overdue are counted
 */
const selections = (today: string) => ({
  receivables: typed(
    `number customerId customerName issueDate dueDate currency grossMinor paidMinor refundedMinor creditedMinor
      roundingMinor amountDueMinor daysOverdue id`,
    receivables(today),
  ),
  vat: typed(
    `month kind number issueDate supplyDate customerId customerName vatCategory vatRateBasisPoints currency taxableMinor
      vatMinor documentCurrency id`,
    vat,
  ),
  sales_ledger: typed('day kind number customerId customerName currency amountMinor id', salesLedger),
  months: typed(
    'month currency invoicedMinor creditedMinor paidMinor refundedMinor roundingMinor vatMinor',
    months,
  ),
});

/** Returns a view's query with each column cast to its type: programs learn types only from a cast, from SQLite 3.41 on. */
function typed(columns: string, select: string): string {
  const casts = columns.split(/\s+/).map((column) => {
    const type = /Minor$|^daysOverdue$|BasisPoints$/.test(column) ? 'INTEGER' : 'TEXT';
    return `CAST(${column} AS ${type}) AS ${column}`;
  });
  return `SELECT ${casts.join(', ')}\nFROM (${select})`;
}

/** The SQL comment that marks a view as ours, so that the user's own are left alone. */
const MARK = '-- kept by pull';

/**
 * Returns the statements that create a copy's views or replace those of another version; none if all are up to date. The
 * user's own table or view of the same name is kept.
 */
export function viewStatements(db: Connection): string[] {
  const find = db.prepare('SELECT sql FROM sqlite_schema WHERE name = ? COLLATE NOCASE');
  return Object.entries(selections("date('now', 'localtime')")).flatMap(([name, select]) => {
    const definition = `${name} AS ${MARK}\n${select}`;
    const there = find.get(name)?.sql;
    const isOurs = there === undefined || String(there).includes(MARK);
    if (!isOurs || there === `CREATE VIEW ${definition}`) return [];
    return [`DROP VIEW IF EXISTS ${name}`, `CREATE VIEW IF NOT EXISTS ${definition}`];
  });
}

/** SQL for a WITH clause that defines the views for a query, with the parameter `today`. It needs no views in the copy. */
export const WITH_VIEWS = `WITH ${Object.entries(selections(':today'))
  .map(([name, select]) => `${name} AS (${select})`)
  .join(',\n')}`;
