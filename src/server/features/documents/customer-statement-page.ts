import { companyDay, isDay } from '../../../contract/company-time.ts';
import { columnsOf } from '../../../tables/columns.ts';
import { accountSchema } from '../../../tables/receivables.ts';
import { contentDisposition } from '../../invoice-pdf/file-name.ts';
import { customerAccountOf } from '../../printed-document/account.ts';
import { refuseWithoutDocuments } from '../../views/availability.ts';
import { tableFile } from '../../views/download.ts';
import { countText } from '../../views/formats.ts';
import { notFound, PageError } from '../../views/page-error.ts';
import { file, type PortalPage } from '../../views/visit.ts';
import { readCustomerInvoices } from './receivables.ts';

/** Maximum number of invoices on a statement, which takes about a second to print. */
const INVOICES_MAX = 1_000;

/** Serves a customer's statement in one currency as of today: what is open, and what was settled since a day. */
export const downloadCustomerStatement: PortalPage = async (visit, { engine, documents }) => {
  refuseWithoutDocuments(visit);
  const { company, query, now } = visit;
  const { customer = '', currency = '', since = '', format } = Object.fromEntries(query);
  const of = { customer, currency, since, limit: INVOICES_MAX + 1 };
  const invoices = isDay(since) ? await readCustomerInvoices(engine, company.id, of) : [];
  const newest = invoices.at(-1);
  if (!newest) throw notFound();
  const rule = `A statement can have ${countText(INVOICES_MAX)} invoices. Choose a later day for payments, or download all receivables.`;
  if (invoices.length > INVOICES_MAX) throw new PageError(422, 'Too many invoices', rule);
  const today = companyDay(company.timeZone, now);
  const account = customerAccountOf(invoices, since, today);
  const name = `statement-${customer}-${currency}-${today}`;
  if (format === 'csv') return tableFile({ name, format, columns: columnsOf(accountSchema) }, [account.rows]);
  const found = await documents.find(company.id, newest.id);
  const pdf = found && (await documents.prepareStatement(found, today, account));
  if (!pdf) throw notFound();
  return file('application/pdf', contentDisposition(name), await pdf.read());
};
