import { amountText } from '../../../contract/currencies.ts';
import type { InvoiceSummary } from '../../../contract/records.ts';
import {
  findByDays,
  findByNumber,
  findCustomersByName,
  findNewest,
  type FoundCustomer,
  type FoundDocument,
  type Place,
} from '../../store/records/document-search.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { whyNotShown } from '../availability.ts';
import { PageError } from '../page-error.ts';
import { filterForm, textField, withQuery } from '../views/form.ts';
import { dayText } from '../views/formats.ts';
import { type Content, type Html, html } from '../views/html.ts';
import { badge, emptyState, warning } from '../views/notice.ts';
import { pagination, table } from '../views/table.ts';
import { page, type Page, type Visit } from '../visit.ts';

const PATH = '/portal/documents';
const PAGE_DOCUMENTS = 25;
const CUSTOMERS_MAX = 20;
const SEARCH_CHARACTERS_MAX = 100;

/** The search of a page. Only one part is used at a time, so that one index answers it. */
interface Search {
  /** The beginning of a number or of a customer's name. */
  text: string;
  from: string | undefined;
  to: string | undefined;
  customer: string | undefined;
  isDrafts: boolean;
  after: Place | undefined;
}

export const showDocuments: Page = async (visit, { engine }) => {
  const title = 'Documents';
  const reason = whyNotShown(visit, 'invoices');
  if (reason !== undefined)
    return page(title, emptyState('No documents are shown to you', reason), { section: 'documents' });
  const noCustomers = whyNotShown(visit, 'customers');
  const search = searchIn(visit.query);
  const problem = dayProblem(visit.query);
  const found = problem === undefined ? await find(engine, visit, search) : [];
  const isFirst = search.after === undefined;
  const customers =
    search.text !== '' && isFirst && noCustomers === undefined
      ? await findCustomersByName(engine, visit.company.id, search.text, CUSTOMERS_MAX)
      : undefined;
  return page(
    title,
    html`${searchForm(search, noCustomers)} ${problem !== undefined && warning(problem)}
      ${customers && customerLinks(customers)}
      <h2>${headingOf(search, found)}</h2>
      ${documentTable(found.slice(0, PAGE_DOCUMENTS))}
      ${pagination({
        newest: isFirst ? undefined : addressOf({ ...search, after: undefined }),
        older:
          found.length > PAGE_DOCUMENTS
            ? addressOf({ ...search, after: found[PAGE_DOCUMENTS - 1]?.place })
            : undefined,
      })}`,
    { section: 'documents', isRefused: problem !== undefined },
  );
};

function searchIn(query: URLSearchParams): Search {
  const id = query.get('after');
  return {
    text: (query.get('search') ?? '').trim().normalize('NFC').slice(0, SEARCH_CHARACTERS_MAX),
    from: query.get('from') || undefined,
    to: query.get('to') || undefined,
    customer: query.get('customer') || undefined,
    isDrafts: query.get('show') === 'drafts',
    after: id ? { at: query.get('at') ?? '', id } : undefined,
  };
}

function dayProblem(query: URLSearchParams): string | undefined {
  for (const name of ['from', 'to']) {
    const day = query.get(name) ?? '';
    if (day !== '' && !isDay(day)) return `“${day}” is not a day such as 2026-11-20.`;
  }
  return undefined;
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** A browser's field for days shows nothing else. */
function shownDay(day: string): string {
  return isDay(day) ? day : '';
}

async function find(engine: Engine, { company }: Visit, search: Search): Promise<FoundDocument[]> {
  const { text, from, to, customer, isDrafts, after } = search;
  const part = { after, limit: PAGE_DOCUMENTS + 1 };
  if (text !== '') return findByNumber(engine, company.id, text, part);
  if (customer !== undefined) return findNewest(engine, company.id, { customer, ...part });
  if (isDrafts) return findNewest(engine, company.id, { customer: undefined, ...part });
  return findByDays(engine, company.id, { from, to, ...part });
}

function searchForm({ text, from = '', to = '' }: Search, noCustomers: string | undefined): Html {
  return html`${filterForm(
      PATH,
      html`${textField({
        name: 'search',
        label: noCustomers === undefined ? 'Number or customer begins with' : 'Number begins with',
        type: 'search',
        value: text,
        isRequired: false,
        lengthMax: SEARCH_CHARACTERS_MAX,
      })}
      ${textField({ name: 'from', label: 'Or issued from', type: 'date', value: shownDay(from), isRequired: false })}
      ${textField({ name: 'to', label: 'to', type: 'date', value: shownDay(to), isRequired: false })}`,
    )}
    <p class="hint">
      The days are used when no number or customer is given. Drafts have neither a number nor a day:
      <a href="${PATH}?show=drafts">show the drafts</a>.
      ${noCustomers !== undefined && `Customers can’t be searched. ${noCustomers}`}
    </p>`;
}

function customerLinks(customers: readonly FoundCustomer[]): Html {
  return html`<h2>Customers whose name begins with this</h2>
    ${
      customers.length === 0
        ? html`<p>There is none.</p>`
        : html`<ul>
            ${customers.map(
              ({ id, name }) =>
                html`<li><a href="${PATH}?customer=${encodeURIComponent(id)}">Documents of ${name}</a></li>`,
            )}
          </ul>`
    }
    ${customers.length === CUSTOMERS_MAX && html`<p>There may be more: type more of the name.</p>`}`;
}

function headingOf({ text, customer, isDrafts, from, to }: Search, found: readonly FoundDocument[]): string {
  if (text !== '') return 'Documents whose number begins with this';
  if (customer !== undefined) {
    const name = found[0]?.summary.customer.name;
    return name === undefined ? 'Documents of this customer' : `Documents of ${name}`;
  }
  if (isDrafts) return 'Drafts';
  return from !== undefined || to !== undefined ? 'Issued on these days' : 'Issued last';
}

function documentTable(found: readonly FoundDocument[]): Html {
  if (found.length === 0)
    return emptyState(
      'No documents found',
      'Try fewer characters or other days. The search compares the beginning of numbers and customers’ names.',
    );
  return table({
    caption: 'Documents',
    columns: [
      'Number',
      'Kind',
      'Customer',
      { name: 'Issued', kind: 'named' },
      { name: 'Total', kind: 'amount' },
      'State',
    ],
    rows: found.map(({ summary, amountDueMinor }) => [
      html`<span class="id"><a href="${PATH}/${summary.id}">${summary.number ?? 'Draft'}</a></span>`,
      kindNames[summary.kind],
      summary.customer.name,
      dayText(summary.issueDate),
      amountText(summary.totals.grossMinor, summary.currency),
      stateOf(summary, amountDueMinor),
    ]),
  });
}

/** Whether a document is issued, and the amount that is left to pay. */
export function stateOf(
  { status, currency }: Pick<FoundDocument['summary'], 'status' | 'currency'>,
  amountDueMinor: number | undefined,
): Content {
  if (status === 'draft') return badge('plain', 'Draft');
  if (amountDueMinor === undefined) return badge('good', 'Issued');
  if (amountDueMinor === 0) return badge('good', 'Nothing due');
  return badge('warn', `${amountText(amountDueMinor, currency)} due`);
}

function addressOf({ text, from, to, customer, isDrafts, after }: Search): string {
  const show = isDrafts ? 'drafts' : undefined;
  return withQuery(PATH, { search: text, from, to, customer, show, at: after?.at, after: after?.id });
}

export const kindNames: Record<InvoiceSummary['kind'], string> = {
  invoice: 'Invoice',
  credit_note: 'Credit note',
  pro_forma: 'Pro forma',
};

/** @throws PageError for an administrator who sees no documents, whether the document exists or not. */
export function refuseWithoutDocuments(visit: Visit): void {
  const reason = whyNotShown(visit, 'invoices');
  if (reason !== undefined) throw new PageError(403, 'Documents are not shown', reason);
}
