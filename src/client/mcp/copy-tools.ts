import { companyDay, machineZone } from '../../contract/company-time.ts';
import { decimalAmount } from '../../contract/currencies.ts';
import { quote, UsageError } from '../../errors.ts';
import { readCopy, type Row } from '../sync/read-copy.ts';
import { CUSTOMER, LEDGER_SUMS } from '../sync/views.ts';
import { type Arguments, statedArguments, textOf } from './arguments.ts';
import type { OperationTool } from './tools.ts';

/** A question that a copy answers in one call. */
export interface CopyTool extends Pick<OperationTool, 'title' | 'description' | 'inputSchema'> {
  name: string;
  /** Its only argument, which the queries have as `given`. */
  argument: string;
  /** The argument where none is given. */
  otherwise: string;
  rule: RegExp;
  /** The queries of the answer's tables. The last tables are shortened first. */
  tables: Record<string, string>;
}

const DUE = `SUM(amountDueMinor) AS dueMinor,
  SUM(CASE WHEN daysOverdue > 0 THEN amountDueMinor ELSE 0 END) AS overdueMinor`;

const dueBetween = (from: number, to: number) =>
  `SUM(CASE WHEN daysOverdue BETWEEN ${from} AND ${to} THEN amountDueMinor ELSE 0 END)`;

const OPEN = 'FROM receivables WHERE daysOverdue >= CAST(:given AS INTEGER)';
const WITHIN = "WHERE month LIKE :given || '%'";
const THEIRS = 'WHERE is_named(customerName, :given)';
/** Also where nothing is due or in credit, so that the customer is named. */
const CREDITABLE = "kind = 'invoice' AND creditBalanceMinor IS NOT NULL";
const NAMED = 'customerName AS customer, currency';
const AMOUNTS = 'Amounts are decimals in the currency of their row.';

export const copyTools: readonly CopyTool[] = [
  {
    name: 'getReceivables',
    title: 'Who owes money',
    description: `Returns what customers owe today on open invoices: totals by currency and by days overdue, then customers, the largest amount first, then invoices, those due first. ${AMOUNTS}`,
    ...takes(
      'daysOverdue',
      'Only invoices that are overdue for so many days or longer. For example "1". Without it: all.',
    ),
    otherwise: '0',
    rule: /^\d{1,6}$/,
    tables: {
      totals: `SELECT currency, COUNT(*) AS invoices, ${DUE}, ${dueBetween(1, 30)} AS days1to30Minor,
        ${dueBetween(31, 60)} AS days31to60Minor, ${dueBetween(61, 90)} AS days61to90Minor,
        ${dueBetween(91, 1e7)} AS over90DaysMinor ${OPEN} GROUP BY currency ORDER BY invoices DESC`,
      // Amounts of different currencies have no order: the largest of each comes first, then the second ones.
      customers: `SELECT ${NAMED}, ${DUE}, MAX(daysOverdue) AS daysOverdue, COUNT(*) AS invoices
        ${OPEN} GROUP BY customerId, currency
        ORDER BY ROW_NUMBER() OVER (PARTITION BY currency ORDER BY SUM(amountDueMinor) DESC), currency`,
      invoices: `SELECT number, ${NAMED}, dueDate, amountDueMinor AS dueMinor, daysOverdue ${OPEN} ORDER BY dueDate, number`,
    },
  },
  {
    name: 'getMonthlySums',
    title: 'Sums by month',
    description: `Returns for each month, the newest first, what was invoiced and credited (by the day of issue), what was paid and refunded (by the day of the money), and the VAT of its invoices less that of its credit notes; then that VAT by category and rate. VAT is in the currency of the VAT return. ${AMOUNTS}`,
    ...takes('period', 'Only this year or month. For example "2026-10".'),
    otherwise: '',
    rule: /^(?:\d{4}(?:-(?:0[1-9]|1[0-2]))?)?$/,
    tables: {
      months: `SELECT * FROM months ${WITHIN} ORDER BY month DESC, currency`,
      vat: `SELECT vatCategory, vatRateBasisPoints / 100.0 AS vatRatePercent, currency, SUM(taxableMinor) AS taxableMinor,
        SUM(vatMinor) AS vatMinor FROM vat ${WITHIN} GROUP BY 1, 2, 3 ORDER BY 3, 1 DESC, 2 DESC`,
    },
  },
  {
    name: 'getCustomerHistory',
    title: 'History of a customer',
    description: `Returns what customers of a name owe today and have in credit, then the sums of each year, then their invoices, credit notes, payments and refunds, the newest first. ${AMOUNTS}`,
    ...takes('customer', 'Any parts of the name. For example "kelly".', ['customer']),
    otherwise: '',
    rule: /\S/,
    tables: {
      balances: `SELECT customerId, ${NAMED}, ${DUE}, SUM(creditMinor) AS creditBalanceMinor
        FROM (SELECT ${CUSTOMER}, open.currency, open.amountDueMinor, daysOverdue, 0 AS creditMinor
            FROM receivables AS open JOIN invoices USING (id)
          UNION ALL SELECT ${CUSTOMER}, currency, 0, 0, creditBalanceMinor FROM invoices WHERE ${CREDITABLE})
        ${THEIRS} GROUP BY customerId, currency ORDER BY customer`,
      years: `SELECT substr(day, 1, 4) AS year, ${NAMED}, ${LEDGER_SUMS} FROM sales_ledger ${THEIRS}
        GROUP BY year, customerId, currency ORDER BY year DESC, customer`,
      entries: `SELECT day, kind, number, ${NAMED}, ABS(amountMinor) AS amountMinor FROM sales_ledger ${THEIRS}
        ORDER BY day DESC, number DESC`,
    },
  },
];

function takes(
  argument: string,
  description: string,
  required?: string[],
): Pick<CopyTool, 'argument' | 'inputSchema'> {
  const properties = { [argument]: { type: 'string', description } };
  return {
    argument,
    inputSchema: { type: 'object', properties, ...(required && { required }), additionalProperties: false },
  };
}

/** Some 2,000 tokens: amounts, names and ids have two bytes for each. */
const BYTES_MAX = 4_000;

/**
 * The answer of a tool from the copy in a file, as JSON: the rows that fit, and how many are left out.
 * @throws UsageError for arguments, and for a copy that can't give it.
 */
export function answerFromCopy(tool: CopyTool, file: string, args: Arguments): string {
  const given = textOf(statedArguments(tool, args)[tool.argument] ?? tool.otherwise);
  if (!tool.rule.test(given)) throw new UsageError(`${tool.argument} can't be ${quote(given)}.`);
  const today = companyDay(machineZone(), new Date());
  return readCopy(file, { today, needsDetails: true }, ({ asOf, rows }) => {
    const tables = Object.entries(tool.tables).map(([name, query]) => tableOf(name, rows(query, { given })));
    const answer = { today, asOf, ...Object.fromEntries(tables.map(({ name, table }) => [name, table])) };
    let room = BYTES_MAX - Buffer.byteLength(JSON.stringify(answer));
    for (const { table, all } of tables)
      for (const row of all) {
        room -= Buffer.byteLength(JSON.stringify(row)) + 1;
        if (room < 0) break;
        table.rows.push(row);
        table.leftOut -= 1;
      }
    return JSON.stringify(answer);
  });
}

/** A table that has no rows yet, and all its rows with decimal amounts. */
function tableOf(name: string, found: Row[]) {
  const columns = Object.keys(found[0] ?? {}).map((column) => column.replace(/Minor$/, ''));
  const all = found.map((row) =>
    Object.entries(row).map(([column, value]) =>
      column.endsWith('Minor') ? decimalAmount(Number(value), String(row.currency)) : value,
    ),
  );
  return { name, all, table: { columns, rows: [] as unknown[], leftOut: all.length } };
}
