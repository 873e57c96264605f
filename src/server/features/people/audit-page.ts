import { listAdministrators } from './administrators.ts';
import { companyDayEnd, companyInstant } from '../../../contract/company-time.ts';
import { columnsOf } from '../../../tables/columns.ts';
import {
  type AuditAction,
  auditActions,
  type AuditEntry,
  type AuditFilter,
  countAuditEntries,
  listAuditRows,
} from '../../store/accounts/audit-trail.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { downloadIn, downloadLinks, ROWS_MAX, tableFile } from '../../views/download.ts';
import { dayField, filterForm, filterReader } from '../../views/filter.ts';
import { select, withQuery } from '../../views/form.ts';
import { browserName, momentText, time } from '../../views/formats.ts';
import { type Html, html } from '../../views/html.ts';
import type { Problems } from '../../views/page-error.ts';
import { pageOf, pagination, table } from '../../views/table.ts';
import { page, type PortalPage, type Visit } from '../../views/visit.ts';

const PATH = '/portal/audit';
const PAGE_ENTRIES = 50;
const BATCH_ENTRIES = 500;

export const showAudit: PortalPage = async (visit, { engine }) => {
  const { company, query } = visit;
  const { problems, ...filter } = filterIn(visit);
  const isRefused = Object.keys(problems).length > 0;
  const before = query.get('before') ?? undefined;
  const found = isRefused
    ? []
    : await listAuditRows(engine, company.id, { ...filter, before, limit: PAGE_ENTRIES + 1 });
  const { shown, last } = pageOf(found, PAGE_ENTRIES);
  // A page only needs to know whether there are any.
  const isDownload = query.has('format') && !isRefused;
  const count = isDownload
    ? await countAuditEntries(engine.db, company.id, filter, ROWS_MAX + 1)
    : found.length;
  const format = downloadIn(query, count);
  if (format && isDownload)
    return tableFile({ name: 'audit-trail', format, columns }, downloadRows(engine, visit, filter));
  const people = await listAdministrators(engine, company.id);
  return page(
    'Audit trail',
    html`<p>
        Everything done for ${company.name} in the last two years, here or from the operator’s command line.
      </p>
      ${filterForm(
        PATH,
        html`${select({ name: 'action', label: 'Action', all: 'Everything', choices: Object.entries(auditActions), chosen: filter.action, problem: problems.action })}
        ${select({ name: 'who', label: 'Administrator', all: 'Everybody', choices: people.map(({ id, name }) => [id, name]), chosen: filter.administrator })}
        ${dayField(query, 'from', 'From')} ${dayField(query, 'to', 'To')}`,
      )}
      ${count > 0 && downloadLinks(count, (as) => addressOf(visit, { format: as }), 'entries')}
      ${entryTable(visit, shown)}
      ${pagination((place?: string) => addressOf(visit, { before: place }), { place: before, next: last?.id })}`,
    // A download that is too large is refused, and the page says why.
    { section: 'audit', isRefused: isRefused || (query.has('format') && count > 0) },
  );
};

function entryTable(visit: Visit, entries: readonly AuditEntry[]): Html {
  return table({
    caption: 'Audit trail',
    columns: ['Time', 'Administrator', 'From', 'Action', 'Details'],
    rows: entries.map((entry) => [
      time(visit, entry.at),
      entry.administratorName,
      originOf(entry),
      auditActions[entry.action],
      detailsOf(visit, entry),
    ]),
    empty: ['No actions', 'What administrators do is listed here. If you chose a filter, try without it.'],
  });
}

/** Reads the filter from the page's URL, and its problems. */
function filterIn({ query, company: { timeZone } }: Visit): AuditFilter & { problems: Problems } {
  const { problems, choiceOf, dayOf } = filterReader(query);
  return {
    action: choiceOf('action', Object.keys(auditActions) as AuditAction[]),
    administrator: query.get('who') || undefined,
    from: companyInstant(timeZone, `${dayOf('from') ?? ''}T00:00`),
    until: companyDayEnd(timeZone, dayOf('to') ?? ''),
    problems,
  };
}

function addressOf({ query }: Visit, more: { format?: string; before?: string | undefined }): string {
  return withQuery(PATH, { ...Object.fromEntries(query), before: undefined, format: undefined, ...more });
}

const text = { type: 'string' };
const columns = columnsOf({
  properties: {
    ...{ time: { type: 'string', format: 'date-time' }, administrator: text, address: text, browser: text },
    ...{ action: text, details: text },
  },
});

async function* downloadRows(engine: Engine, visit: Visit, filter: AuditFilter): AsyncGenerator<object[]> {
  let before: string | undefined;
  do {
    const part = { ...filter, before, limit: BATCH_ENTRIES };
    const entries = await listAuditRows(engine, visit.company.id, part);
    before = entries.length === BATCH_ENTRIES ? entries.at(-1)?.id : undefined;
    yield entries.map((entry) => ({
      ...{ time: entry.at, administrator: entry.administratorName, address: entry.address },
      ...{ browser: entry.client && browserName(entry.client), action: auditActions[entry.action] },
      details: detailTexts(entry).join('; '),
    }));
  } while (before !== undefined);
}

function originOf({ administrator, address, client }: AuditEntry) {
  if (administrator === null) return 'Command line';
  if (address === null || client === null) return html`<span class="hint">Not recorded</span>`;
  return html`<code>${address}</code><br /><span class="hint">${browserName(client)}</span>`;
}

function detailsOf(visit: Visit, entry: AuditEntry) {
  const { subject, administrator } = entry;
  const texts = detailTexts(entry, visit.company.timeZone);
  if (texts.length === 0) return subject !== administrator && html`<code>${subject}</code>`;
  return html`<ul class="details">
    ${texts.map((text) => html`<li>${text}</li>`)}
  </ul>`;
}

/** Details that hold lists, some with blanks between their values and some with commas. */
const LISTS = ['events', 'scopes', 'deliveries'];
const MOMENTS = ['last day', 'since', 'until'];

/** Lists an entry's details: for a page with times of the company's zone, for a file with times as in its other columns. */
function detailTexts({ details }: AuditEntry, timeZone?: string): string[] {
  return Object.entries(details).map(([name, value]) => {
    if (LISTS.includes(name)) return `${name}: ${value.split(/,? +/).join(', ')}`;
    return `${name}: ${timeZone && MOMENTS.includes(name) ? momentText(timeZone, value) : value}`;
  });
}
