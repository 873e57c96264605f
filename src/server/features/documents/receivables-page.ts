import { companyDay } from '../../../contract/company-time.ts';
import { amountText } from '../../../contract/currencies.ts';
import { columnsOf } from '../../../tables/columns.ts';
import { receivableSchema } from '../../../tables/receivables.ts';
import { movementsOf } from '../../backoffice/settlement.ts';
import { daysAfter } from '../../backoffice/times.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { allDocuments, readDocuments } from './document-search.ts';
import { type Receivable, readReceivables } from './receivables.ts';
import type { DocumentSearch, OpenAge } from './searched-parts.ts';
import { downloadIn, downloadLinks, tableFile } from '../../views/download.ts';
import { daysOverdue } from './document-state.ts';
import { filterForm, filterReader } from '../../views/filter.ts';
import { select, textField, withQuery } from '../../views/form.ts';
import { countText } from '../../views/formats.ts';
import { type Html, html } from '../../views/html.ts';
import { emptyState } from '../../views/notice.ts';
import { amount, named, table } from '../../views/table.ts';
import { page, type PortalPage } from '../../views/visit.ts';
import { sinceIn, STATEMENT_PATH } from './customer-statement-page.ts';
import { customerLabels, dueText, withoutDocuments } from './documents-page.ts';

const PATH = '/portal/receivables';
const DOCUMENTS = '/portal/documents';
const CUSTOMERS_MAX = 100;
/** Boundaries between age groups, in days after the due date, oldest first. An invoice is overdue after 0 days. */
const AGES = [90, 60, 30, 0];
const ages = {
  not_due: 'Not yet due',
  overdue_1_30: '1–30 days',
  overdue_31_60: '31–60 days',
  overdue_61_90: '61–90 days',
  overdue_over_90: 'Over 90 days',
} satisfies Record<OpenAge, string>;
const ageStates = Object.keys(ages);
const orders: Record<string, string> = { total: 'Left to pay', customer: 'Customer', ...ages };

export const showReceivables: PortalPage = async (visit, { engine }) => {
  const withheld = withoutDocuments(visit, 'Receivables', 'receivables');
  if (withheld) return withheld;
  const { company, query, now } = visit;
  const today = companyDay(company.timeZone, now);
  const days = AGES.map((age) => daysAfter(today, -age));
  const receivables = await readReceivables(engine, company.id, days);
  const count = sumOf(receivables.map((receivable) => receivable.count));
  const format = downloadIn(query, count);
  if (format) {
    const file = { name: 'receivables', format, columns: columnsOf(receivableSchema) };
    return tableFile(file, downloadRows(engine, company.id, today));
  }
  const { since, problem } = sinceIn(query, today);
  const { problems, choiceOf } = filterReader(query);
  const order = choiceOf('sort', Object.keys(orders)) ?? 'total';
  const byCurrency = [...Map.groupBy(receivables, ({ currency }) => currency)].toSorted();
  const parts = byCurrency.map(([currency, owed]) =>
    currencyPart(engine, company.id, currency, owed, { order, since }),
  );
  return page(
    'Receivables',
    count === 0
      ? emptyState('Nobody owes you anything', 'Issued invoices appear here until they are paid or credited.')
      : html`<p>
            What is left to pay on issued invoices, by days overdue. What is
            <a href="${withQuery(DOCUMENTS, { state: 'in_credit' })}">in credit</a> is deducted on statements
            only.
          </p>
          ${filterForm(
            PATH,
            html`${select({ name: 'sort', label: 'Sort by', choices: Object.entries(orders), chosen: order, problem: problems.sort })}
            ${textField({ name: 'since', label: 'On statements: settled since', type: 'date', value: since, problem })}`,
          )}
          ${downloadLinks(count, (as) => withQuery(PATH, { format: as }))} ${await Promise.all(parts)}`,
    {
      section: 'receivables',
      isRefused: query.has('format') || (problems.sort ?? problem) !== undefined,
    },
  );
};

async function currencyPart(
  engine: Engine,
  company: string,
  currency: string,
  owed: readonly Receivable[],
  { order, since }: Record<'order' | 'since', string>,
): Promise<Html> {
  const first = inOrder(owed, order).slice(0, CUSTOMERS_MAX);
  // Names are taken from the invoices, because not everybody may read customers.
  const documents = await readDocuments(engine, company, first);
  const names = customerLabels(documents.map(({ document }) => document.customer));
  const all = ageStates.map((_state, age) => sumOf(owed.map(({ dueMinor }) => dueMinor[age] ?? 0)));
  const [overdueMinor, oldestMinor] = [sumOf(all.slice(1)), all.at(-1) ?? 0];
  const row = (who: Html, dueMinor: number[], customer?: string) => [
    who,
    ...[...dueMinor, sumOf(dueMinor)].map((amountMinor, age) => {
      const address = withQuery(DOCUMENTS, { state: ageStates[age] ?? 'open', customer, currency });
      return dueText(amountMinor, currency, address);
    }),
    customer === undefined ? '' : statementLinks({ customer, currency, since }, names.get(customer)),
  ];
  return html`<h2>
      ${currency}: ${amountText(sumOf(all), currency)} to be paid,
      ${overdueMinor > 0 ? amountText(overdueMinor, currency) : 'none'}
      overdue${oldestMinor > 0 && `, ${amountText(oldestMinor, currency)} for over 90 days`}
    </h2>
    ${table({
      caption: `Receivables in ${currency}`,
      columns: ['Customer', ...[...Object.values(ages), 'Left to pay'].map(amount), named('Statement')],
      rows: [
        row(html`<strong>All ${countText(owed.length)}</strong>`, all),
        ...first.map(({ customer, dueMinor }) => {
          const address = withQuery(DOCUMENTS, { state: 'open', customer });
          return row(html`<a href="${address}">${names.get(customer)}</a>`, dueMinor, customer);
        }),
      ],
    })}
    ${
      owed.length > CUSTOMERS_MAX &&
      html`<p>These are the first ${CUSTOMERS_MAX} in this order. The download has all of them.</p>`
    }`;
}

/** Sorts customers by name, or by an amount with the largest first; those who owe the same, by their total and name. */
function inOrder(owed: readonly Receivable[], order: string): Receivable[] {
  const age = ageStates.indexOf(order);
  const amountOf = ({ dueMinor }: Receivable) => (age < 0 ? sumOf(dueMinor) : (dueMinor[age] ?? 0));
  const byName = owed.toSorted((a, b) => collator.compare(a.name, b.name));
  if (order === 'customer') return byName;
  return byName.toSorted((a, b) => amountOf(b) - amountOf(a) || sumOf(b.dueMinor) - sumOf(a.dueMinor));
}

const collator = new Intl.Collator('en-GB');

/** Renders the links to a customer's statement. */
function statementLinks(asked: Record<'customer' | 'currency' | 'since', string>, name = ''): Html {
  const link = (format: 'pdf' | 'csv') =>
    html`<a href="${withQuery(STATEMENT_PATH, { ...asked, format })}"
      >${format.toUpperCase()}<span class="hidden"> statement of ${name} in ${asked.currency}</span></a
    >`;
  return html`${link('pdf')} ${link('csv')}`;
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
