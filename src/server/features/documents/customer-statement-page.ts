import { companyDay } from '../../../contract/company-time.ts';
import { columnsOf } from '../../../tables/columns.ts';
import { accountSchema } from '../../../tables/receivables.ts';
import { daysAfter } from '../../backoffice/times.ts';
import { contentDisposition } from '../../invoice-pdf/file-name.ts';
import { customerAccountOf } from '../../printed-document/account.ts';
import { refuseWithoutDocuments } from '../../views/availability.ts';
import { tableFile } from '../../views/download.ts';
import { dayProblem } from '../../views/filter.ts';
import { countText } from '../../views/formats.ts';
import { notFound, PageError } from '../../views/page-error.ts';
import { file, type PortalPage } from '../../views/visit.ts';
import { readCustomerInvoices } from './receivables.ts';

export const STATEMENT_PATH = '/portal/receivables/statement';
/** Maximum number of invoices on a statement, which takes about a second to print. */
const INVOICES_MAX = 1_000;

/** A day before every invoice's last change. */
const EVER = '1970-01-03';
/** Days before today of which the month is the first that statements show, unless another day is chosen. */
const SINCE_DAYS = 60;

/** Reads the day in a page's URL since which statements show paid invoices, and says why it can't be used. */
export function sinceIn(query: URLSearchParams, today: string) {
  const since = query.get('since') || `${daysAfter(today, -SINCE_DAYS).slice(0, 'YYYY-MM'.length)}-01`;
  const isAhead = since > today ? 'Choose today or an earlier day.' : undefined;
  return { since, problem: dayProblem(query, 'since') ?? isAhead };
}

/** Serves a customer's statement in one currency as of today: what is open, and what was settled since a day. */
export const downloadCustomerStatement: PortalPage = async (visit, { engine, documents }) => {
  refuseWithoutDocuments(visit);
  const { company, query, now } = visit;
  const { customer = '', currency = '', format } = Object.fromEntries(query);
  const today = companyDay(company.timeZone, now);
  const { since, problem } = sinceIn(query, today);
  if (problem) throw new PageError(422, 'The day isn’t right', problem);
  const of = { customer, currency, since, limit: INVOICES_MAX + 1 };
  const invoices = await readCustomerInvoices(engine, company.id, of);
  const ever = { ...of, since: EVER, limit: 1 };
  // A customer who owes nothing gets a statement too, with the address of their newest invoice.
  const newest = invoices.at(-1) ?? (await readCustomerInvoices(engine, company.id, ever))[0];
  if (!newest || !['csv', 'pdf'].includes(format ?? '')) throw notFound();
  const rule = `A statement can have ${countText(INVOICES_MAX)} invoices. Choose a later day for payments, or download all receivables.`;
  if (invoices.length > INVOICES_MAX) throw new PageError(422, 'Too many invoices', rule);
  const account = customerAccountOf(invoices, since, today);
  const name = `Statement ${newest.customer.name} ${currency} ${today}`;
  if (format === 'csv') return tableFile({ name, format, columns: columnsOf(accountSchema) }, [account.rows]);
  const found = await documents.find(company.id, newest.id);
  const pdf = found && (await documents.prepareStatement(found, today, account));
  if (!pdf) throw notFound();
  return file('application/pdf', contentDisposition(name), await pdf.read());
};
