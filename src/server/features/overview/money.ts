import { companyDay } from '../../../contract/company-time.ts';
import { daysAfter } from '../../backoffice/times.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { searchDocuments } from '../documents/document-search.ts';
import { dueText } from '../documents/documents-page.ts';
import { type OpenTotal, openTotals } from '../documents/overdue.ts';
import { paymentsSince } from '../documents/payments.ts';
import { type DocumentSearch, partsOf } from '../documents/searched-parts.ts';
import { whyNotShown } from '../../views/availability.ts';
import { withQuery } from '../../views/form.ts';
import { counted, countText, dayText } from '../../views/formats.ts';
import { type Content, type Html, html } from '../../views/html.ts';
import { amount, named, table } from '../../views/table.ts';
import type { Visit } from '../../views/visit.ts';

const DOCUMENTS = '/portal/documents';

/**
 * Renders what is owed to the company, and what was issued and paid this week and last. Undefined for an administrator who
 * can't see documents, and for a company that has none yet.
 */
export async function moneyPart(engine: Engine, visit: Visit): Promise<Html | undefined> {
  if (whyNotShown(visit, 'invoices') !== undefined) return undefined;
  const { company, now } = visit;
  const today = companyDay(company.timeZone, now);
  const any = { text: '', findsCustomers: false, today };
  if ((await partsOf(engine, company.id, any).next()).done) return undefined;
  const [totals, weeks] = await Promise.all([
    openTotals(engine, company.id, today),
    weeksTable(engine, company.id, any),
  ]);
  return html`<h2>What you are owed</h2>
    ${owedTable(totals)}
    <p><a href="/portal/receivables">Receivables by customer</a></p>
    <h2>Issued and paid</h2>
    ${weeks}`;
}

function owedTable(totals: readonly OpenTotal[]): Html {
  const sum = (state: string, { currency }: OpenTotal, dueMinor: number, count: number): Html =>
    html`${dueText(dueMinor, currency, withQuery(DOCUMENTS, { state, currency }))}
    ${count > 0 && `on ${counted(count, 'invoice', 'invoices')}`}`;
  return table({
    caption: 'What you are owed',
    columns: ['Currency', ...['Open', 'Overdue'].map(amount), named('Oldest')],
    rows: totals.map((total) => [
      total.currency,
      sum('open', total, total.dueMinor, total.count),
      sum('overdue', total, total.overdueMinor, total.overdueCount),
      total.oldest &&
        html`<a href="${DOCUMENTS}/${total.oldest.id}">${total.oldest.number}</a> of ${total.oldest.customer},
          due ${dayText(total.oldest.dueDate)}`,
    ]),
    empty: ['Nobody owes you anything', 'Issued invoices appear here until they are paid or credited.'],
  });
}

/** Documents issued or payments made in a week, of one kind and in one currency. */
interface WeekSum {
  kind: string;
  currency: string;
  count: number;
  minor: number;
  address?: string;
}

const kinds = { invoice: 'Invoices', credit_note: 'Credit notes', payment: 'Payments' };

async function weeksTable(engine: Engine, company: string, any: DocumentSearch): Promise<Html> {
  const monday = daysAfter(any.today, -((new Date(any.today).getUTCDay() + 6) % 7));
  const lastMonday = daysAfter(monday, -7);
  const payments = await paymentsSince(engine, company, lastMonday);
  const sums = await Promise.all(
    [monday, lastMonday].map(async (from): Promise<WeekSum[]> => {
      const week = { from, to: daysAfter(from, 6) };
      const none = { after: undefined, limit: 0 };
      const { totals } = await searchDocuments(engine, company, { ...any, ...week }, none);
      const paid = (payments ?? []).filter(({ paidOn }) => paidOn >= from && paidOn <= week.to);
      return [
        ...totals.map(({ kind, currency, count, grossMinor: minor }) => {
          return { kind, currency, count, minor, address: withQuery(DOCUMENTS, { kind, currency, ...week }) };
        }),
        ...[...Map.groupBy(paid, ({ currency }) => currency)].map(([currency, own]) => {
          const minor = own.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
          return { kind: 'payment', currency, count: own.length, minor };
        }),
      ];
    }),
  );
  const currencies = [...new Set(sums.flat().map(({ currency }) => currency))].sort();
  const rows = currencies.flatMap((currency) =>
    Object.entries(kinds).flatMap(([kind, name]) => {
      const own = sums.map((week) => week.find((sum) => sum.currency === currency && sum.kind === kind));
      return own.some(Boolean) ? [[name, currency, ...own.map((sum) => sumText(currency, sum))]] : [];
    }),
  );
  return html`${table({
    caption: 'Issued and paid',
    columns: ['Kind', 'Currency', ...['This week', 'Last week'].map(amount)],
    rows,
    empty: ['Nothing issued or paid', 'What you issue, and what you are paid, appears here for two weeks.'],
  })}
  ${payments === undefined && html`<p class="hint">Payments aren’t shown: too many invoices changed in these two weeks.</p>`}`;
}

function sumText(currency: string, sum: WeekSum | undefined): Content {
  if (!sum) return dueText(0, currency);
  return html`${dueText(sum.minor, currency, sum.address)} (${countText(sum.count)})`;
}
