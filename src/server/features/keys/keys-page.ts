import { NAME_CHARACTERS_MAX } from '../../access/checked-input.ts';
import { ACTIVE_KEYS_MAX, changeKey, keyExpiryDay, revokeKey } from './keys.ts';
import { companyDay } from '../../../contract/company-time.ts';
import { UsageError } from '../../../errors.ts';
import { listAdministratorRows, type Administrator } from '../../store/accounts/administrator-rows.ts';
import { hasEnded, listActiveKeys, listEndedKeys, type UsedKey } from './stored-keys.ts';
import { stoppedWarning } from '../../views/availability.ts';
import { action } from '../../views/action.ts';
import { notFound, type Problems } from '../../views/page-error.ts';
import { filterForm, filterReader } from '../../views/filter.ts';
import { confirmForm, select, textField, withQuery } from '../../views/form.ts';
import { counted, dayText, time } from '../../views/formats.ts';
import { type Content, type Html, html } from '../../views/html.ts';
import { badge, warning } from '../../views/notice.ts';
import { named, pageOf, pagination, table } from '../../views/table.ts';
import { page, type PortalPage, redirect, type Visit } from '../../views/visit.ts';

const ENDED_AT_ONCE = 20;
export const ALL_IN_USE = `You have ${ACTIVE_KEYS_MAX} active keys, the most a company can have. Revoke one to create another.`;
/** Number of active keys from which the page warns that few more can be created. */
const NEARLY_ALL = ACTIVE_KEYS_MAX - 3;

/** The filters for active keys, by the value of `show` in the page's URL. */
const filters = {
  all: ['All', () => true],
  'never-used': ['Never used', ({ usedAt }) => usedAt === null],
  left: ['Created by somebody who left', (_key, maker) => maker !== undefined && maker.disabledAt !== null],
} satisfies Record<string, [label: string, has: (key: UsedKey, maker?: Administrator) => boolean]>;

export const showKeys: PortalPage = async (visit, { engine, keyPrefix }, problems) => {
  const { company, query, now } = visit;
  const before = query.get('before') || undefined;
  const [active, ended, people] = await Promise.all([
    listActiveKeys(engine, company.id, now),
    listEndedKeys(engine, company.id, { now, before, limit: ENDED_AT_ONCE + 1 }),
    listAdministratorRows(engine.db, company.id),
  ]);
  const makers = new Map(people.map((one) => [one.id, one]));
  const { shown: listed, last } = pageOf(ended, ENDED_AT_ONCE);
  const shown: Shown = { visit, keyPrefix, makers, problems };
  const found = Object.entries(filters).map(([value, [label, has]]) => {
    const keys = active.filter((key) => has(key, makers.get(key.madeBy ?? '')));
    return { value, label: `${label} (${keys.length})`, keys };
  });
  const { problems: refused, choiceOf } = filterReader(query);
  const shownBy = choiceOf('show', Object.keys(filters)) ?? 'all';
  const chosen = found.find(({ value }) => value === shownBy);
  return page(
    'API keys',
    html`${stoppedWarning(visit)}
      <p>
        A key lets one of your programs read your company’s data through the API, which
        <a href="/">the reference</a> describes. Give each program its own key, so that you can stop one
        without the others.
      </p>
      ${standing(active.length)}
      ${active.length > 0 && filterForm('/portal/keys', select({ name: 'show', label: 'Active keys', choices: found.map(({ value, label }) => [value, label]), chosen: shownBy, problem: refused.show }))}
      ${activeTable(shown, chosen?.keys ?? [])}
      <h2>Inactive keys</h2>
      ${endedTable(shown, listed)}
      ${pagination(
        (key?: UsedKey) => withQuery('/portal/keys', { before: key && `${key.endsAt} ${key.id}` }),
        { place: before, next: last },
      )}`,
    { section: 'keys', isRefused: refused.show !== undefined },
  );
};

/** Renames a key, and sets or clears its last day. */
export const saveKey = action(showKeys, async ({ act, params, form: filled }, { engine }) => {
  const [name, lastDay] = [filled.get('name') ?? '', filled.get('last-day') ?? ''];
  const key = await changeKey(engine, { ...act, id: params.id ?? '', name, lastDay });
  return redirect('/portal/keys', `The key “${key.name}” is changed.`);
});

/** Revokes a key at once. Another company's key is reported as not found. */
export const revokeOldKey: PortalPage = async ({ act: { company, by, now }, params }, { engine }) => {
  const id = params.id ?? '';
  const key = await revokeKey(engine, company, id, now, by).catch((error: unknown) => {
    throw error instanceof UsageError ? notFound() : error;
  });
  const text = `The key “${key.name}” is revoked. Programs using it now get 401 revoked_key.`;
  return redirect('/portal/keys', text);
};

interface Shown {
  visit: Visit;
  keyPrefix: string;
  makers: ReadonlyMap<string, Administrator>;
  /** Problems with the form of the key in the page's URL, if that form was refused. */
  problems: Problems | undefined;
}

function standing(count: number): Html {
  const left = ACTIVE_KEYS_MAX - count;
  if (left <= 0) {
    return warning(ALL_IN_USE);
  }
  return html`<p>
      <strong>${count} of ${ACTIVE_KEYS_MAX}</strong> keys in
      use.${count >= NEARLY_ALL && html` You can create ${left} more; after that, revoke one first.`}
    </p>
    <p><a class="button" href="/portal/keys/new">Create a key</a></p>`;
}

function activeTable(shown: Shown, keys: readonly UsedKey[]): Html {
  return table({
    caption: 'Active keys',
    columns: ['Name', 'Scopes', named('Created'), named('Last used'), 'Action'],
    rows: keys.map((key) => [
      ...described(shown, key),
      html`${key.endsAt !== null && html`<span class="hint">Until ${dayText(keyExpiryDay(key, shown.visit.company.timeZone) ?? null)}</span>`}
      ${changeForm(shown, key)}
      ${confirmForm(shown.visit, {
        action: `/portal/keys/${key.id}/revoke`,
        open: 'Revoke',
        subject: `the key ${key.name}`,
        question: `Programs using “${key.name}” will be refused from their next request. This can’t be undone.`,
        confirm: 'Revoke',
      })}`,
    ]),
    empty: [
      'No active keys',
      html`<a href="/portal/keys/new">Create one</a>, and try it with the command that comes with it.`,
    ],
  });
}

function changeForm({ visit, problems }: Shown, key: UsedKey): Html {
  const own = visit.params.id === key.id ? problems : undefined;
  const field = (name: string, present: string) => ({
    ...{ name, id: `${name}-${key.id}`, problem: own?.[name] },
    value: (own && visit.form.get(name)) ?? present,
  });
  return confirmForm(visit, {
    action: `/portal/keys/${key.id}/change`,
    open: 'Change',
    subject: `the key ${key.name}`,
    question: own?.form ?? own?.scopes ?? 'Programs using it carry on as before.',
    content: html`${textField({
      ...field('name', key.name),
      label: 'Name',
      lengthMax: NAME_CHARACTERS_MAX,
    })}
    ${lastDayField(field('last-day', keyExpiryDay(key, visit.company.timeZone) ?? ''))}`,
    confirm: 'Change',
    kind: 'main',
    isOpen: own !== undefined,
  });
}

/** Renders the field for a key's last day. */
export function lastDayField(field: Partial<Parameters<typeof textField>[0]>): Html {
  return textField({
    name: 'last-day',
    label: 'Last day',
    hint: 'The key works to the end of this day; then programs get 401 revoked_key. Leave empty for no end.',
    ...{ type: 'date', isRequired: false, ...field },
  });
}

function endedTable(shown: Shown, keys: readonly UsedKey[]): Html {
  return table({
    caption: 'Inactive keys',
    columns: ['Name', 'Scopes', named('Created'), named('Last used'), named('Ended')],
    rows: keys.map((key) => [
      ...described(shown, key),
      html`${time(shown.visit, key.endsAt)}<br /><span class="hint"
          >${key.revokedAt === null ? 'Past its last day' : 'Revoked'}</span
        >`,
    ]),
    empty: ['No inactive keys', 'Revoked keys, and those past their last day, are listed here.'],
  });
}

function described(shown: Shown, key: UsedKey): Content[] {
  const { visit, keyPrefix, makers } = shown;
  const maker = key.madeBy === null ? 'the operator' : (makers.get(key.madeBy)?.name ?? 'somebody else');
  return [
    html`<strong>${key.name}</strong><br /><code class="hint whole"
        >${keyPrefix}.${key.company}.${key.id}.…</code
      >
      ${brief(shown, key)}`,
    html`<ul class="names">
      ${key.scopes.map((scope) => html`<li>${badge('plain', scope)}</li>`)}
    </ul>`,
    html`${time(visit, key.createdAt)}<br /><span class="hint">by ${maker}</span>`,
    html`${time(visit, key.usedAt)}${
      key.usedAt !== null &&
      html`<br /><a href="/portal/requests?key=${key.id}"
          >Requests<span class="hidden"> of the key ${key.name}</span></a
        >`
    }`,
  ];
}

/** Renders a key's second line on a phone, which expands the rest of its row. Wider windows show the whole row. */
function brief({ visit: { company, now } }: Shown, key: UsedKey): Html {
  const { id, name, scopes, usedAt } = key;
  const lastDay = keyExpiryDay(key, company.timeZone);
  const used =
    usedAt === null ? 'never used' : `used ${dayText(companyDay(company.timeZone, new Date(usedAt)))}`;
  const ends = lastDay && `${hasEnded(key, now) ? 'ended' : 'ends'} ${dayText(lastDay)}`;
  return html`<details class="brief">
    <summary>
      <span class="closed"
        >…${id.slice(-4)} · ${counted(scopes.length, 'scope', 'scopes')} · ${ends ?? used}</span
      ><span class="opened">Less</span><span class="hidden">, the key ${name}</span>
    </summary>
  </details>`;
}
