import { companyDay } from '../../../contract/company-time.ts';
import { amountText } from '../../../contract/currencies.ts';
import { contractDocument } from '../../../contract/document.ts';
import { columnsOf, type SheetColumn } from '../../../tables/columns.ts';
import type { Engine } from '../../store/engines/engine.ts';
import {
  allDocuments,
  type DocumentTotal,
  firstCustomers,
  type FoundDocument,
  searchDocuments,
} from './document-search.ts';
import type { DocumentSearch } from './searched-parts.ts';
import { whyNotShown } from '../../views/availability.ts';
import { downloadIn, downloadLinks, tableFile } from '../../views/download.ts';
import type { Problems } from '../../views/page-error.ts';
import { daysOverdue, stateBadge, stateNames, stateOf } from './document-state.ts';
import { dayField, filterForm, filterReader } from '../../views/filter.ts';
import { select, textField, withQuery } from '../../views/form.ts';
import { counted, countText, dayText, kindNames } from '../../views/formats.ts';
import { type Content, type Html, html } from '../../views/html.ts';
import { emptyState } from '../../views/notice.ts';
import { amount, named, pageOf, pagination, table } from '../../views/table.ts';
import { page, type PortalPage, type PageReply, type Visit } from '../../views/visit.ts';

const PATH = '/portal/documents';
const PAGE_DOCUMENTS = 25;
const CUSTOMERS_MAX = 200;
const SEARCH_CHARACTERS_MAX = 100;

/** Returns the columns of `fieldledger export invoices`, followed by those for the state and the amount due. */
function downloadColumns(): SheetColumn[] {
  const { properties } = contractDocument().components.schemas.InvoiceSummary ?? {};
  return columnsOf({
    properties: {
      ...{ state: { type: 'string' }, ...properties, amountDueMinor: { type: 'integer' } },
      ...{ overdue: { type: 'boolean' }, daysOverdue: { type: 'integer' } },
    },
  });
}

export const showDocuments: PortalPage = async (visit, { engine }) => {
  const withheld = withoutDocuments(visit, 'Documents', 'documents');
  if (withheld) return withheld;
  const { company, query } = visit;
  const { search, problems } = searchIn(visit);
  const isRefused = Object.keys(problems).length > 0;
  const part = { after: query.get('after') || undefined, limit: PAGE_DOCUMENTS + 1 };
  const { found, totals } = isRefused
    ? { found: [], totals: [] }
    : await searchDocuments(engine, company.id, search, part);
  const count = totals.reduce((sum, total) => sum + total.count, 0);
  const format = downloadIn(query, count);
  if (format && !isRefused)
    return tableFile(
      { name: 'documents', format, columns: downloadColumns() },
      downloadRows(engine, company.id, search),
    );
  const { shown, last } = pageOf(found, PAGE_DOCUMENTS);
  return page(
    'Documents',
    html`${await searchForm(visit, engine, search, { problems, found })}
      <h2>${counted(count, 'document', 'documents')}</h2>
      ${count > 0 && totalsTable(totals)}
      ${count > 0 && downloadLinks(count, (as) => addressOf(search, { format: as }))}
      ${documentTable(shown, search, part.after)}
      ${pagination((after?: string) => addressOf(search, { after }), { place: part.after, next: last?.place })}`,
    // A download that is too large is refused, and the page says why.
    { section: 'documents', isRefused: isRefused || (query.has('format') && count > 0) },
  );
};

/** Returns the page for an administrator who can't see documents; undefined for one who can. */
export function withoutDocuments(
  visit: Visit,
  title: string,
  section: 'documents' | 'receivables',
): PageReply | undefined {
  const reason = whyNotShown(visit, 'invoices');
  return reason === undefined
    ? undefined
    : page(title, emptyState('You can’t see documents', reason), { section });
}

/** Reads the search from a page's URL. An invalid value is left out, and reported as a problem of its field. */
function searchIn(visit: Visit): { search: DocumentSearch; problems: Problems } {
  const { query, company, now } = visit;
  const { problems, choiceOf, dayOf } = filterReader(query);
  const currency = query.get('currency') || undefined;
  if (currency !== undefined && !/^[A-Z]{3}$/.test(currency))
    problems.currency = `“${currency}” isn’t a currency such as EUR.`;
  // Only the names of the record are its keys.
  const chosen = <Name extends string>(name: string, names: Record<Name, string>) =>
    choiceOf(name, Object.keys(names) as Name[]);
  const search = {
    text: (query.get('search') ?? '').trim().slice(0, SEARCH_CHARACTERS_MAX),
    findsCustomers: whyNotShown(visit, 'customers') === undefined,
    kind: chosen('kind', kindNames),
    state: chosen('state', stateNames),
    customer: query.get('customer') || undefined,
    currency: problems.currency === undefined ? currency : undefined,
    from: dayOf('from'),
    to: dayOf('to'),
    today: companyDay(company.timeZone, now),
  };
  return { search, problems };
}

async function* downloadRows(
  engine: Engine,
  company: string,
  search: DocumentSearch,
): AsyncGenerator<object[]> {
  // Without a snapshot, a draft issued meanwhile would be in the file twice, or not at all.
  await using moment = await engine.snapshot();
  for await (const found of allDocuments(moment, company, search))
    yield found.map(({ document }) => {
      const days = daysOverdue(document, search.today);
      return { ...document, state: stateOf(document), overdue: days > 0, daysOverdue: days };
    });
}

async function searchForm(
  visit: Visit,
  engine: Engine,
  search: DocumentSearch,
  { problems, found }: { problems: Problems; found: readonly FoundDocument[] },
): Promise<Html> {
  const noCustomers = whyNotShown(visit, 'customers');
  const customers = await customerChoices(visit, engine, search, found);
  const currency = visit.query.get('currency') ?? '';
  return html`${filterForm(
      PATH,
      html`${textField({
        name: 'search',
        label: noCustomers === undefined ? 'Number, customer or amount' : 'Number or amount',
        type: 'search',
        value: search.text,
        isRequired: false,
        lengthMax: SEARCH_CHARACTERS_MAX,
      })}
      ${select({ name: 'kind', label: 'Kind', all: 'Any', choices: Object.entries(kindNames), chosen: search.kind, problem: problems.kind })}
      ${select({ name: 'state', label: 'State', all: 'Any', choices: Object.entries(stateNames), chosen: search.state, problem: problems.state })}
      ${select({ name: 'customer', label: 'Customer', all: 'Any', choices: customers, chosen: search.customer })}
      ${currency !== '' && select({ name: 'currency', label: 'Currency', all: 'Any', choices: [[currency, currency]], chosen: currency, problem: problems.currency })}
      ${dayField(visit.query, 'from', 'Issued from')} ${dayField(visit.query, 'to', 'Issued to')}`,
    )}
    <p class="hint">
      An amount such as 394.96 finds totals, balances and what was paid in all. References are found too. You
      can type just the start of a word; all words must match. Drafts have no date of issue.
      ${customers.length >= CUSTOMERS_MAX && `You can choose from the first ${CUSTOMERS_MAX} customers here, and from all of them in the list of documents.`}
      ${noCustomers !== undefined && `You can’t search customers. ${noCustomers}`}
    </p>`;
}

async function customerChoices(
  { company }: Visit,
  engine: Engine,
  { customer, findsCustomers }: DocumentSearch,
  found: readonly FoundDocument[],
): Promise<[id: string, name: string][]> {
  const first = findsCustomers ? await firstCustomers(engine, company.id, CUSTOMERS_MAX) : [];
  if (customer !== undefined && !first.some(({ id }) => id === customer))
    first.push({ id: customer, name: found[0]?.document.customer.name ?? customer });
  return [...customerLabels(first)];
}

/** Maps the ids of customers to their names; a name that several customers share is followed by the id. */
export function customerLabels(customers: readonly { id: string; name: string }[]): Map<string, string> {
  const names = new Map(customers.map(({ id, name }) => [id, name]));
  const ofName = Map.groupBy(names.keys(), (id) => names.get(id));
  return new Map(
    [...names].map(([id, name]) => [id, ofName.get(name)?.length === 1 ? name : `${name} (${id})`]),
  );
}

function totalsTable(totals: readonly DocumentTotal[]): Html {
  return table({
    caption: 'Totals',
    columns: ['Documents', ...['Count', 'Total', 'Left to pay'].map(amount)],
    rows: totals.map(({ currency, kind, status, count, grossMinor, dueMinor }) => [
      `${kindNames[kind]}s in ${currency}${status === 'draft' ? ', drafts' : ''}`,
      countText(count),
      amountText(grossMinor, currency),
      dueText(dueMinor, currency),
    ]),
  });
}

/** Renders found documents. @param after the place where the page begins, so that a document's page can link back to it. */
function documentTable(
  found: readonly FoundDocument[],
  search: DocumentSearch,
  after: string | undefined,
): Html {
  const names = customerLabels(found.map(({ document }) => document.customer));
  return table({
    caption: 'Documents',
    columns: [
      ...['Number', 'Kind', 'Customer', named('Issued')],
      ...['Total', 'Left to pay'].map(amount),
      'State',
    ],
    rows: found.map(({ document }) => [
      html`<span class="id"
        ><a href="${addressOf(search, { after }, `${PATH}/${document.id}`)}"
          >${document.number ?? 'Draft'}</a
        ></span
      >`,
      kindNames[document.kind],
      html`<a href="${addressOf({ ...search, customer: document.customer.id })}"
        >${names.get(document.customer.id)}</a
      >`,
      dayText(document.issueDate),
      amountText(document.totals.grossMinor, document.currency),
      dueText(document.amountDueMinor ?? 0, document.currency),
      stateBadge(document, search.today),
    ]),
    empty: ['No documents found', 'Try fewer words, or choose “Any” in some of the fields.'],
  });
}

/** Renders an amount due, as a link if it has an address. Zero is a dash, which the card layout of a table hides. */
export function dueText(dueMinor: number, currency: string, address?: string): Content {
  if (dueMinor === 0) return html`<span class="none">—</span>`;
  const text = amountText(dueMinor, currency);
  return address === undefined ? text : html`<a href="${address}">${text}</a>`;
}

function addressOf(
  { text, kind, state, customer, currency, from, to }: DocumentSearch,
  more: { after?: string | undefined; format?: string } = {},
  path = PATH,
): string {
  return withQuery(path, { search: text, kind, state, customer, currency, from, to, ...more });
}

/** Returns the URL of the search from which a document's page was opened. */
export function searchBehind(visit: Visit): string {
  return addressOf(searchIn(visit).search, { after: visit.query.get('after') ?? undefined });
}
