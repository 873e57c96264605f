import { companyDay } from '../../../contract/company-time.ts';
import { amountText } from '../../../contract/currencies.ts';
import type { Invoice } from '../../../contract/records.ts';
import { daysAfter } from '../../backoffice/times.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { searchDocuments } from '../documents/document-search.ts';
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

/** A week from Monday to Sunday. */
interface Week {
  from: string;
  to: string;
}

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
  const sum = (state: string, { currency }: OpenTotal, dueMinor: number, count: number): Content =>
    count === 0
      ? html`<span class="none">—</span>`
      : html`<a href="${withQuery(DOCUMENTS, { state, currency })}">${amountText(dueMinor, currency)}</a> on
          ${counted(count, 'invoice', 'invoices')}`;
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

async function weeksTable(engine: Engine, company: string, any: DocumentSearch): Promise<Html> {
  const monday = daysAfter(any.today, -((new Date(any.today).getUTCDay() + 6) % 7));
  const weeks = [monday, daysAfter(monday, -7)].map((from) => ({ from, to: daysAfter(from, 6) }));
  const payments = await paymentsSince(engine, company, weeks[1]?.from ?? monday);
  const issued = await Promise.all(
    weeks.map(async (week) => {
      const found = await searchDocuments(
        engine,
        company,
        { ...any, ...week },
        { after: undefined, limit: 0 },
      );
      return found.totals;
    }),
  );
  const currencies = [...issued.flat(), ...(payments ?? [])].map(({ currency }) => currency);
  const rows = [...new Set(currencies)].sort().flatMap((currency) => {
    const ofKind = (kind: Invoice['kind'], name: string) =>
      rowOf(name, currency, weeks, (week, index) => {
        const total = issued[index]?.find((one) => one.currency === currency && one.kind === kind);
        const address = withQuery(DOCUMENTS, { kind, currency, ...week });
        return total && { count: total.count, minor: total.grossMinor, address };
      });
    return [
      ...ofKind('invoice', 'Invoices'),
      ...ofKind('credit_note', 'Credit notes'),
      ...rowOf('Payments', currency, weeks, ({ from, to }) => {
        const own = (payments ?? []).filter(
          (one) => one.currency === currency && one.paidOn >= from && one.paidOn <= to,
        );
        return { count: own.length, minor: own.reduce((sum, { amountMinor }) => sum + amountMinor, 0) };
      }),
    ];
  });
  return html`${table({
    caption: 'Issued and paid',
    columns: ['Kind', 'Currency', ...['This week', 'Last week'].map(amount)],
    rows,
    empty: ['Nothing issued or paid', 'What you issue, and what you are paid, appears here for two weeks.'],
  })}
  ${payments === undefined && html`<p class="hint">Payments aren’t shown: too many invoices changed in these two weeks.</p>`}`;
}

/** Builds a row of amounts by week; none if there is nothing in either. */
function rowOf(
  name: string,
  currency: string,
  weeks: readonly Week[],
  sumOf: (week: Week, index: number) => { count: number; minor: number; address?: string } | undefined,
): Content[][] {
  const sums = weeks.map(sumOf);
  if (sums.every((sum) => !sum?.count)) return [];
  const cells = sums.map((sum) => {
    if (!sum?.count) return html`<span class="none">—</span>`;
    const text = amountText(sum.minor, currency);
    return html`${sum.address === undefined ? text : html`<a href="${sum.address}">${text}</a>`}
    (${countText(sum.count)})`;
  });
  return [[name, currency, ...cells]];
}
