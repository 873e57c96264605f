import { hash } from 'node:crypto';

import { companyDay, machineZone } from '../../contract/company-time.ts';
import { decimalAmount } from '../../contract/currencies.ts';
import type { JsonSchema } from '../../contract/document.ts';
import { quote, UsageError } from '../../errors.ts';
import { type CopyReader, readCopy, type CopyRow } from '../sync/read-copy.ts';
import { CUSTOMER_COLUMNS_SQL, LEDGER_SUMS } from '../sync/views.ts';
import { type Arguments, definedArguments, textArgument } from './arguments.ts';
import type { Tool } from './tools.ts';

/** A tool that answers a question from a copy in one call. */
export interface CopyTool extends Tool {
  /** The SQL for each table of the answer, by table name. The tool's arguments are its parameters. */
  tables: Record<string, string>;
}

/** The pattern that each argument must match, by name, and what it "must be" in an error. */
const FORMS = {
  daysOverdue: [/^\d{1,6}$/, 'a whole number of days from 0 to 999999'],
  period: [/^\d{4}(?:-(?:0[1-9]|1[0-2]))?$/, 'a year or a month such as 2026-10'],
  customer: [/\S/, 'the id of a customer, or parts of a name'],
  cursor: [/^\d+\.[\w-]+$/, 'the nextCursor of an answer'],
} satisfies Record<string, [form: RegExp, words: string]>;

const CUSTOMER_GIVEN =
  'The id of a customer, or any parts of a name, of today or on a document. Who has this whole name answers alone, and others with its parts are named. For example "kelly".';

const DUE = `SUM(amountDueMinor) AS dueMinor,
  SUM(CASE WHEN daysOverdue > 0 THEN amountDueMinor ELSE 0 END) AS overdueMinor`;

const dueBetween = (from: number, to: number) =>
  `SUM(CASE WHEN daysOverdue BETWEEN ${from} AND ${to} THEN amountDueMinor ELSE 0 END)`;

/** SQL for open invoices with the customer's current name, because the view has the name on the invoice. */
const RECEIVABLES = `SELECT ${CUSTOMER_COLUMNS_SQL}, open.number, open.dueDate, open.currency, open.amountDueMinor, daysOverdue, 0 AS creditMinor
  FROM receivables AS open JOIN invoices USING (id)`;
const THEIRS = 'customerId IN (SELECT value FROM json_each(:customer))';
const OPEN = `FROM (${RECEIVABLES})
  WHERE daysOverdue >= COALESCE(CAST(:daysOverdue AS INTEGER), 0) AND (:customer IS NULL OR ${THEIRS})`;
const WITHIN = "WHERE month LIKE COALESCE(:period, '') || '%'";
/** SQL condition for issued invoices, including those with no credit, so that customers who owe nothing are listed too. */
const CREDITABLE = "kind = 'invoice' AND creditBalanceMinor IS NOT NULL";
const NAMED = 'customerName AS customer, currency';
const AMOUNTS = 'Amounts are decimals in the currency of their row.';

export const copyTools: readonly CopyTool[] = [
  {
    name: 'getReceivables',
    title: 'Who owes money',
    description: `Returns what customers owe today on open invoices: totals by currency and by days overdue, then customers with their earliest due date, the largest amount first, then invoices, those due first. ${AMOUNTS}`,
    inputSchema: takes({
      daysOverdue:
        'Only invoices that are overdue for so many days or longer. For example "1". Without it: all.',
      customer: CUSTOMER_GIVEN,
    }),
    tables: {
      totals: `SELECT currency, COUNT(*) AS invoices, ${DUE}, ${dueBetween(1, 30)} AS days1to30Minor,
        ${dueBetween(31, 60)} AS days31to60Minor, ${dueBetween(61, 90)} AS days61to90Minor,
        ${dueBetween(91, 1e7)} AS over90DaysMinor ${OPEN} GROUP BY currency ORDER BY invoices DESC`,
      // Amounts in different currencies can't be compared: the largest of each comes first, then the second largest.
      customers: `SELECT customerId, ${NAMED}, ${DUE}, MIN(dueDate) AS dueSince, MAX(daysOverdue) AS daysOverdue,
        COUNT(*) AS invoices ${OPEN} GROUP BY customerId, currency
        ORDER BY ROW_NUMBER() OVER (PARTITION BY currency ORDER BY SUM(amountDueMinor) DESC), currency`,
      invoices: `SELECT number, ${NAMED}, dueDate, amountDueMinor AS dueMinor, daysOverdue ${OPEN} ORDER BY dueDate, number`,
    },
  },
  {
    name: 'getMonthlySums',
    title: 'Sums by month',
    description: `Returns for each month, the newest first, what was invoiced and credited (by the day of issue), what was paid and refunded (by the day of the money), and the VAT of its invoices less that of its credit notes; then that VAT by category and rate. VAT is in the currency of the VAT return. ${AMOUNTS}`,
    inputSchema: takes({ period: 'Only this year or month. For example "2026-10".' }),
    tables: {
      months: `SELECT * FROM months ${WITHIN} ORDER BY month DESC, currency`,
      vat: `SELECT vatCategory, vatRateBasisPoints / 100.0 AS vatRatePercent, currency, SUM(taxableMinor) AS taxableMinor,
        SUM(vatMinor) AS vatMinor FROM vat ${WITHIN} GROUP BY 1, 2, 3 ORDER BY 3, 1 DESC, 2 DESC`,
    },
  },
  {
    name: 'getCustomerHistory',
    title: 'History of a customer',
    description: `Returns what a customer owes today and has in credit (without currency and amounts where there is no invoice), then the sums of each year, then invoices, credit notes, payments and refunds, the newest first. ${AMOUNTS}`,
    inputSchema: { ...takes({ customer: CUSTOMER_GIVEN }), required: ['customer'] },
    tables: {
      balances: `SELECT customerId, ${NAMED}, ${DUE}, SUM(creditMinor) AS creditBalanceMinor
        FROM (${RECEIVABLES}
          UNION ALL SELECT ${CUSTOMER_COLUMNS_SQL}, NULL, NULL, currency, 0, 0, creditBalanceMinor FROM invoices WHERE ${CREDITABLE}
          UNION ALL SELECT id, name, NULL, NULL, NULL, NULL, NULL, NULL FROM customers
            WHERE id NOT IN (SELECT json_extract(customer, '$.id') FROM invoices WHERE ${CREDITABLE}))
        WHERE ${THEIRS} GROUP BY customerId, currency ORDER BY customer`,
      years: `SELECT substr(day, 1, 4) AS year, ${NAMED}, ${LEDGER_SUMS} FROM sales_ledger WHERE ${THEIRS}
        GROUP BY year, customerId, currency ORDER BY year DESC, customer`,
      entries: `SELECT day, kind, number, ${NAMED}, ABS(amountMinor) AS amountMinor FROM sales_ledger WHERE ${THEIRS}
        ORDER BY day DESC, number DESC`,
    },
  },
];

function takes(given: Record<string, string>): Tool['inputSchema'] {
  const cursor = 'The nextCursor of an answer to the same arguments, for the rows that it left out.';
  const all = Object.entries({ ...given, cursor });
  const properties = all.map(([name, description]) => [name, { type: 'string', description }]);
  return { type: 'object', properties: Object.fromEntries(properties) as Record<string, JsonSchema> };
}

/** The maximum size of an answer in bytes, some 2,000 tokens: amounts, names and ids take two bytes per token. */
const BYTES_MAX = 4_000;

/**
 * Returns a tool call's answer from the copy in a file, as JSON: the rows that fit, the number left out, and the next cursor.
 * @throws UsageError for wrong arguments, or a copy that lacks the data.
 */
export function answerFromCopy(tool: CopyTool, file: string, args: Arguments): string {
  const { cursor, ...values } = checkedArguments(tool, args);
  const today = companyDay(machineZone(), new Date());
  return readCopy(file, { today, needsDetails: true }, ({ asOf, rows }) => {
    // A cursor from other arguments, or from another state of the copy, would silently skip rows.
    const question = hash('sha1', JSON.stringify([tool.name, values, today, asOf]), 'base64url').slice(0, 10);
    const [from, asked] = cursor?.split('.') ?? [0, question];
    if (asked !== question)
      throw new UsageError('cursor is of other arguments, or of an earlier copy: ask again without it.');
    const found = values.customer ? customersOf(values.customer, rows) : undefined;
    if (found) values.customer = JSON.stringify(found.ids);
    const tables = Object.entries(tool.tables).map(([name, query]) => tableOf(name, rows(query, values)));
    if (found?.others.length) tables.push(tableOf('otherCustomers', found.others));
    return pageOf({ today, asOf }, tables, { from: Number(from), question });
  });
}

/** Returns the queries' parameters and the cursor, null for any not given. @throws UsageError that names the broken rule. */
function checkedArguments(tool: CopyTool, args: Arguments): Record<string, string | null> {
  const given = definedArguments(tool, args);
  const { properties, required = [] } = tool.inputSchema;
  const forms = Object.entries(FORMS).filter(([name]) => name in properties);
  const checked = forms.map(([name, [form, words]]) => {
    const text = textArgument(given[name] ?? '');
    if (text === '' && !required.includes(name)) return [name, null];
    if (!form.test(text)) throw new UsageError(`${name} must be ${words}, not ${quote(text)}.`);
    return [name, text];
  });
  return Object.fromEntries(checked) as Record<string, string | null>;
}

/** SQL for customers, each with all its names, even those only on documents, so that a renamed customer is found by any. */
const KNOWN = `SELECT customerId, customerName AS customer, json_group_array(name) AS names
  FROM (SELECT ${CUSTOMER_COLUMNS_SQL}, json_extract(customer, '$.name') AS name FROM invoices WHERE customerId IS NOT NULL
    UNION SELECT id, name, name FROM customers)
  GROUP BY customerId ORDER BY customer`;

/**
 * Returns the customers with the given id or whole name, or else its parts. After an exact match, `others` match by parts.
 * @throws UsageError if there are none.
 */
function customersOf(given: string, rows: CopyReader['rows']): { ids: unknown[]; others: CopyRow[] } {
  // In the JSON of the names, a whole name has quotes around it and a part of one hasn't.
  const asked = JSON.stringify(folded(given));
  const parts = asked.slice(1, -1).split(' ');
  const known = rows(KNOWN).map(({ names, ...row }) => ({ row, names: folded(names) }));
  const alike = known.filter(({ names }) => parts.every((part) => names.includes(part)));
  const exact = known.filter(({ row, names }) => names.includes(asked) || row.customerId === given.trim());
  const found = exact.length > 0 ? exact : alike;
  if (found.length === 0)
    throw new UsageError(`customer must be ${FORMS.customer[1]}, and nobody has ${quote(given)}.`);
  const others = alike.filter((one) => !found.includes(one)).map(({ row }) => row);
  return { ids: found.map(({ row }) => row.customerId), others };
}

/** Returns text in lower case, without accents and repeated spaces, which SQLite alone doesn't ignore. */
function folded(text: unknown): string {
  return String(text).normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().trim().replaceAll(/\s+/g, ' ');
}

/** Returns the answer's next rows that fit, from a position counted across all tables; omits tables already shown in full. */
function pageOf(
  answer: object,
  tables: ReturnType<typeof tableOf>[],
  { from, question }: { from: number; question: string },
): string {
  const all = tables.flatMap(({ table, all }) => all.map((row) => ({ row, table })));
  const named = (some: typeof tables) => Object.fromEntries(some.map(({ name, table }) => [name, table]));
  let room = BYTES_MAX - Buffer.byteLength(JSON.stringify({ ...answer, ...named(tables) }));
  let next = from;
  for (const { table } of all.slice(0, from)) table.leftOut -= 1;
  for (const { row, table } of all.slice(from)) {
    room -= Buffer.byteLength(JSON.stringify(row)) + 1;
    // At least one row, so that every page makes progress.
    if (room < 0 && next > from) break;
    table.rows.push(row);
    table.leftOut -= 1;
    next += 1;
  }
  const nextCursor = next < all.length ? `${next}.${question}` : null;
  const told = tables.filter(({ table }) => from === 0 || table.rows.length + table.leftOut > 0);
  return JSON.stringify({ ...answer, nextCursor, ...named(told) });
}

/** Returns a table of an answer, still empty, and all the rows for it with amounts as decimals. */
function tableOf(name: string, found: CopyRow[]) {
  const columns = Object.keys(found[0] ?? {}).map((column) => column.replace(/Minor$/, ''));
  const all = found.map((row) =>
    Object.entries(row).map(([column, value]) =>
      column.endsWith('Minor') && row.currency !== null
        ? decimalAmount(Number(value), String(row.currency))
        : value,
    ),
  );
  return { name, all, table: { columns, rows: [] as unknown[], leftOut: all.length } };
}
