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
import { emptyState } from '../../views/notice.ts';
import { pagination, table } from '../../views/table.ts';
import { page, type PortalPage, type Visit } from '../../views/visit.ts';

const PAGE_ENTRIES = 50;

export const showAudit: PortalPage = async (visit, { engine }) => {
  const { company, query } = visit;
  const filter = filterOf(query);
  const before = query.get('before') ?? undefined;
  const found = await listAuditRows(engine, company.id, { ...filter, before, limit: PAGE_ENTRIES + 1 });
  const entries = found.slice(0, PAGE_ENTRIES);
  const last = entries.at(-1);
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
          choices: [
            { value: '', label: 'Everything' },
            ...Object.entries(auditActions).map(([value, label]) => ({ value, label })),
          ],
          chosen: filter.action ?? '',
        })}
        ${select({
          name: 'who',
          label: 'Administrator',
          choices: [
            { value: '', label: 'Everybody' },
            ...people.map(({ id, name }) => ({ value: id, label: name })),
          ],
          chosen: filter.administrator ?? '',
        })}`,
      )}
      ${
        entries.length === 0
          ? emptyState(
              'Nothing is recorded here',
              'Actions of administrators are listed here. If you chose a filter, there may be more without it.',
            )
          : entryTable(visit, entries)
      }
      ${pagination({
        newest: before === undefined ? undefined : addressOf(filter),
        older: found.length > PAGE_ENTRIES && last ? addressOf(filter, last.id) : undefined,
      })}`,
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
  });
}

function filterOf(query: URLSearchParams): AuditFilter {
  const action = query.get('action') ?? '';
  return {
    // Only an action that is recorded.
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
