import type { JsonSchema } from '../../contract/document.ts';
import { companyDay, machineZone } from '../../contract/company-time.ts';
import type { Terminal } from '../../command-line/terminal.ts';
import { receivableSchema } from '../../tables/receivables.ts';
import { readCopy, type CopyRow } from '../sync/read-copy.ts';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'integer' };
const day: JsonSchema = { type: 'string', format: 'date' };

/** The reports from a copy: the columns that each view has, and the selection and order of its rows. */
const reports = {
  receivables: {
    needsDetails: true,
    columns: receivableSchema.properties,
    rows: 'ORDER BY issueDate DESC, id DESC',
  },
  vat: {
    needsDetails: false,
    columns: {
      ...{ kind: text, number: text, issueDate: day, supplyDate: day, customerId: text, customerName: text },
      ...{ vatCategory: text, vatRateBasisPoints: number, currency: text, taxableMinor: number },
      ...{ vatMinor: number, documentCurrency: text, id: text },
    },
    rows: 'WHERE month = :month ORDER BY issueDate, number, id, vatRateBasisPoints DESC, vatCategory',
  },
};

/** The options of `export` that apply to reports. */
export interface ReportOptions {
  from?: string;
  month?: string;
  overdueOn?: string;
  timeZone?: string;
}

export type Report = keyof typeof reports;

export const reportNames = Object.keys(reports);

export function isReport(name: string): name is Report {
  return Object.hasOwn(reports, name);
}

export function reportSchema(report: Report): JsonSchema {
  return { properties: reports[report].columns };
}

/** Returns a report's rows, all from one state of the copy, and the time of that state. */
export function reportRows(
  report: Report,
  { from = '', month, timeZone = machineZone(), overdueOn }: ReportOptions,
  { tell }: Terminal,
): { rows: CopyRow[]; asOf: string } {
  const { columns, rows: which, needsDetails } = reports[report];
  const today = overdueOn ?? companyDay(timeZone, new Date());
  const select = `SELECT ${Object.keys(columns).join(', ')} FROM ${report} ${which}`;
  const values = month === undefined ? {} : { month };
  return readCopy(from, { today, needsDetails }, ({ rows, asOf }) => {
    if (month !== undefined && asOf.slice(0, 7) <= month)
      tell(`${month} wasn't over when the copy was made (${asOf}): documents may be missing.\n`);
    return { rows: rows(select, values), asOf };
  });
}
