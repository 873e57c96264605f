import { listAdministrators } from './administrators.ts';
import {
  type AuditAction,
  auditActions,
  type AuditEntry,
  type AuditFilter,
  listAuditRows,
} from '../../store/accounts/audit-trail.ts';
import { filterForm, select, withQuery } from '../../views/form.ts';
import { browserName, time } from '../../views/formats.ts';
import { type Html, html } from '../../views/html.ts';
import { pageOf, pagination, table } from '../../views/table.ts';
import { page, type PortalPage, type Visit } from '../../views/visit.ts';

const PAGE_ENTRIES = 50;

export const showAudit: PortalPage = async (visit, { engine }) => {
  const { company, query } = visit;
  const filter = filterOf(query);
  const before = query.get('before') ?? undefined;
  const found = await listAuditRows(engine, company.id, { ...filter, before, limit: PAGE_ENTRIES + 1 });
  const { shown, last } = pageOf(found, PAGE_ENTRIES);
  const people = await listAdministrators(engine, company.id);
  return page(
    'Audit trail',
    html`<p>
        All actions of the last two years for ${company.name}, taken here or with the operator’s command line.
      </p>
      ${filterForm(
        '/portal/audit',
        html`${select({
          name: 'action',
          label: 'Action',
          all: 'Everything',
          choices: Object.entries(auditActions),
          chosen: filter.action,
        })}
        ${select({
          name: 'who',
          label: 'Administrator',
          all: 'Everybody',
          choices: people.map(({ id, name }) => [id, name]),
          chosen: filter.administrator,
        })}`,
      )}
      ${entryTable(visit, shown)}
      ${pagination((place?: string) => addressOf(filter, place), { place: before, next: last?.id })}`,
    { section: 'audit' },
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
      detailsOf(entry),
    ]),
    empty: [
      'Nothing is recorded here',
      'Actions of administrators are listed here. If you chose a filter, there may be more without it.',
    ],
  });
}

function filterOf(query: URLSearchParams): AuditFilter {
  const action = query.get('action') ?? '';
  return {
    // Unknown actions in the query are ignored.
    action: Object.hasOwn(auditActions, action) ? (action as AuditAction) : undefined,
    administrator: query.get('who') || undefined,
  };
}

function addressOf({ action, administrator: who }: AuditFilter, before?: string): string {
  return withQuery('/portal/audit', { action, who, before });
}

function originOf({ administrator, address, client }: AuditEntry) {
  if (administrator === null) return 'Command line';
  if (address === null || client === null) return html`<span class="hint">Not recorded</span>`;
  return html`<code>${address}</code><br /><span class="hint">${browserName(client)}</span>`;
}

function detailsOf({ details, subject, administrator }: AuditEntry) {
  const entries = Object.entries(details);
  if (entries.length === 0) return subject !== administrator && html`<code>${subject}</code>`;
  return html`<ul class="details">
    ${entries.map(([name, value]) => html`<li>${name}: ${value}</li>`)}
  </ul>`;
}
