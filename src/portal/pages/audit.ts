import { listAdministrators } from '../../access/administrators.ts';
import {
  type AuditAction,
  auditActions,
  type AuditEntry,
  type AuditFilter,
  isAuditAction,
  listAuditRows,
} from '../../store/audit.ts';
import type { Engine } from '../../store/engine.ts';
import type { Page } from '../route.ts';
import { filterForm, select } from '../views/form.ts';
import { type Html, html } from '../views/html.ts';
import { browserName } from '../views/names.ts';
import { emptyState } from '../views/notice.ts';
import { pagination, table } from '../views/table.ts';
import { time } from '../views/time.ts';
import { page, type Visit } from '../visit.ts';

const PAGE_ENTRIES = 50;

/** The name of each action; a new one doesn't compile without. */
export const actionNames: Record<AuditAction, string> = {
  'administrator.signed_in': 'Signed in',
  'administrator.sign_in_failed': 'Failed to sign in: wrong password',
  'administrator.changed_password': 'Changed their password',
  'administrator.removed': 'Removed an administrator',
  'invitation.created': 'Invited somebody',
  'invitation.accepted': 'Accepted an invitation',
  'invitation.withdrawn': 'Withdrew an invitation',
  'reset.created': 'Made a link to set a password',
  'reset.used': 'Set a new password by a link',
  'key.created': 'Created an API key',
  'key.revoked': 'Revoked an API key',
  'webhook.registered': 'Registered a webhook',
  'webhook.paused': 'Paused a webhook',
  'webhook.resumed': 'Resumed a webhook',
  'webhook.pinged': 'Pinged a webhook',
  'webhook.deleted': 'Deleted a webhook',
  'delivery.sent_again': 'Sent a delivery again',
  'deliveries.recovered': 'Sent failed deliveries again',
};

export function showAudit(engine: Engine): Page {
  return async (visit) => {
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
          Who did what for ${company.name}, and from where: here, and by the operator’s command line. It goes
          back two years.
        </p>
        ${filterForm(
          '/portal/audit',
          html`${select({
            name: 'action',
            label: 'What',
            choices: [
              { value: '', label: 'Everything' },
              ...auditActions.map((action) => ({ value: action, label: actionNames[action] })),
            ],
            chosen: filter.action ?? '',
          })}
          ${select({
            name: 'who',
            label: 'Who',
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
                'What administrators do from now on stands here. With a filter, there may be more without it.',
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
}

function entryTable(visit: Visit, entries: readonly AuditEntry[]): Html {
  return table({
    caption: 'Audit trail',
    columns: ['When', 'Who', 'From', 'What', 'Details'],
    rows: entries.map((entry) => [
      time(visit, entry.at),
      entry.administratorName,
      originOf(entry),
      actionNames[entry.action],
      detailsOf(entry),
    ]),
  });
}

function filterOf(query: URLSearchParams): AuditFilter {
  const action = query.get('action') ?? '';
  return {
    action: isAuditAction(action) ? action : undefined,
    administrator: query.get('who') || undefined,
  };
}

function addressOf({ action, administrator }: AuditFilter, before?: string): string {
  const query = new URLSearchParams();
  if (action) query.set('action', action);
  if (administrator) query.set('who', administrator);
  if (before !== undefined) query.set('before', before);
  const text = query.toString();
  return text === '' ? '/portal/audit' : `/portal/audit?${text}`;
}

/** From where: the network address and the browser, or the command line. */
function originOf({ administrator, address, client }: AuditEntry) {
  if (administrator === null) return 'Command line';
  if (address === null || client === null) return html`<span class="hint">Not recorded</span>`;
  return html`<code>${address}</code><br /><span class="hint">${browserName(client)}</span>`;
}

function detailsOf({ details, subject, administrator }: AuditEntry) {
  const entries = Object.entries(details);
  // What somebody did to themselves says whom it was done to.
  if (entries.length === 0) return subject !== administrator && html`<code>${subject}</code>`;
  return html`<ul class="details">
    ${entries.map(([name, value]) => html`<li>${name}: ${value}</li>`)}
  </ul>`;
}
