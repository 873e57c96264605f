import { companyDay } from '../../../contract/company-time.ts';
import { amountText } from '../../../contract/currencies.ts';
import { columnsOf } from '../../../tables/columns.ts';
import { receivableSchema } from '../../../tables/receivables.ts';
import { movementsOf } from '../../backoffice/settlement.ts';
import { daysAfter } from '../../backoffice/times.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { allDocuments, readDocuments } from './document-search.ts';
import { type Receivable, readReceivables } from './receivables.ts';
import type { DocumentSearch } from './searched-parts.ts';
import { downloadIn, downloadLinks, tableFile } from '../../views/download.ts';
import { daysOverdue } from './document-state.ts';
import { withQuery } from '../../views/form.ts';
import { countText } from '../../views/formats.ts';
import { type Html, html } from '../../views/html.ts';
import { emptyState } from '../../views/notice.ts';
import { amount, table } from '../../views/table.ts';
import { page, type PortalPage } from '../../views/visit.ts';
import { customerLabels, dueText, withoutDocuments } from './documents-page.ts';

const PATH = '/portal/receivables';
const CUSTOMERS_MAX = 100;
/** Boundaries between age groups, in days after the due date, oldest first. An invoice is overdue after 0 days. */
const AGES = [90, 60, 30, 0];
const ageNames = ['Not yet due', '1–30 days', '31–60 days', '61–90 days', 'Over 90 days'];

export const showReceivables: PortalPage = async (visit, { engine }) => {
  const withheld = withoutDocuments(visit, 'Receivables', 'receivables');
  if (withheld) return withheld;
  const { company, query, now } = visit;
  const today = companyDay(company.timeZone, now);
  const days = AGES.map((age) => daysAfter(today, -age));
  const receivables = await readReceivables(engine, company.id, days);
  const count = sumOf(receivables.map((receivable) => receivable.count));
  const format = downloadIn(query, count);
  if (format)
    return tableFile(
      { name: 'receivables', format, columns: columnsOf(receivableSchema) },
      downloadRows(engine, company.id, today),
    );
  const byCurrency = [...Map.groupBy(receivables, ({ currency }) => currency)].toSorted();
  const parts = byCurrency.map(([currency, owed]) => currencyPart(engine, company.id, currency, owed));
  return page(
    'Receivables',
    count === 0
      ? emptyState('Nobody owes you anything', 'Issued invoices stand here until they are paid or credited.')
      : html`<p>What is left to pay of issued invoices, by the days that have passed since they were due.</p>
          ${downloadLinks(count, (as) => withQuery(PATH, { format: as }))} ${await Promise.all(parts)}`,
    { section: 'receivables', isRefused: query.has('format') },
  );
};

async function currencyPart(
  engine: Engine,
  company: string,
  currency: string,
  owed: readonly Receivable[],
): Promise<Html> {
  const most = owed.toSorted((a, b) => sumOf(b.dueMinor) - sumOf(a.dueMinor)).slice(0, CUSTOMERS_MAX);
  // Names are taken from the invoices, because not everybody may read customers.
  const named = await readDocuments(engine, company, most);
  const names = customerLabels(named.map(({ document }) => document.customer));
  const all = ageNames.map((_name, age) => sumOf(owed.map(({ dueMinor }) => dueMinor[age] ?? 0)));
  const row = (who: Html, dueMinor: number[]) => [
    who,
    ...[...dueMinor, sumOf(dueMinor)].map((amount) => dueText(amount, currency)),
  ];
  return html`<h2>
      ${currency}: ${amountText(sumOf(all), currency)} to be paid,
      ${amountText(sumOf(all.slice(1)), currency)} of it overdue
    </h2>
    ${table({
      caption: `Receivables in ${currency}`,
      columns: ['Customer', ...[...ageNames, 'Left to pay'].map(amount)],
      rows: [
        row(html`<strong>All ${countText(owed.length)}</strong>`, all),
        ...most.map(({ customer, dueMinor }) => {
          const address = withQuery('/portal/documents', { state: 'open', customer });
          return row(html`<a href="${address}">${names.get(customer)}</a>`, dueMinor);
        }),
      ],
    })}
    ${owed.length > CUSTOMERS_MAX && html`<p>These ${CUSTOMERS_MAX} owe the most. The download has all of them.</p>`}`;
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

async function* downloadRows(engine: Engine, company: string, today: string): AsyncGenerator<object[]> {
  const search: DocumentSearch = { text: '', findsCustomers: false, state: 'open', today };
  await using moment = await engine.snapshot();
  for await (const found of allDocuments(moment, company, search))
    yield found.map(({ document }) => {
      const { customer, amountDueMinor = 0 } = document;
      const moved = movementsOf(document, {});
      const leftMinor = moved.grossMinor - moved.paidMinor + moved.refundedMinor - moved.creditedMinor;
      return {
        ...document,
        ...{ customerId: customer.id, customerName: customer.name },
        ...{ ...moved, roundingMinor: amountDueMinor - leftMinor },
        daysOverdue: daysOverdue(document, today),
      };
    });
}
