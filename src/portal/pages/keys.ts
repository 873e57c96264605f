import { listAdministrators } from '../../access/administrators.ts';
import { ACTIVE_KEYS_MAX, listActiveKeys, listRevokedKeys, revokeKey } from '../../access/keys.ts';
import { UsageError } from '../../errors.ts';
import type { Engine } from '../../store/engine.ts';
import type { RevokedBefore, UsedKey } from '../../store/keys.ts';
import { wholeProblem } from '../availability.ts';
import { notFound } from '../page-error.ts';
import type { Page } from '../route.ts';
import { confirmForm } from '../views/form.ts';
import { type Content, type Html, html } from '../views/html.ts';
import { badge, emptyState, warning } from '../views/notice.ts';
import { pagination, table } from '../views/table.ts';
import { time } from '../views/time.ts';
import { page, redirect, type Visit } from '../visit.ts';

const REVOKED_AT_ONCE = 20;
/** From so many keys on, the page warns that there will be no more. */
const NEARLY_ALL = ACTIVE_KEYS_MAX - 3;

/** The company's keys, of which no secret is known here. */
export function showKeys({ engine, keyPrefix }: { engine: Engine; keyPrefix: string }): Page {
  return async (visit) => {
    const { company, query } = visit;
    const before = placeIn(query.get('before'));
    const [active, revoked, makers] = await Promise.all([
      listActiveKeys(engine, company.id),
      listRevokedKeys(engine, company.id, { before, limit: REVOKED_AT_ONCE + 1 }),
      makerNames(engine, company.id),
    ]);
    const shown: Shown = { visit, keyPrefix, makers };
    const problem = wholeProblem(company);
    return page(
      'API keys',
      html`${problem !== undefined && warning(problem)}
        <p>
          A key lets one of your programs read ${company.name}’s data through the API, which
          <a href="/">the reference</a> describes. Give each program a key of its own, so that you can stop
          one without the others.
        </p>
        ${standing(active.length)} ${activeTable(shown, active)}
        <h2>Revoked keys</h2>
        ${revokedTable(shown, revoked.slice(0, REVOKED_AT_ONCE))}
        ${pagination({
          newest: before && '/portal/keys',
          older: revoked.length > REVOKED_AT_ONCE ? addressAfter(revoked[REVOKED_AT_ONCE - 1]) : undefined,
        })}`,
      { section: 'keys' },
    );
  };
}

/** Stops a key at once; another company's key is nobody's. */
export function revokeOldKey(engine: Engine): Page {
  return async ({ company, signedIn, params, now }) => {
    const id = params.id ?? '';
    const key = await revokeKey(engine, company.id, id, now, signedIn).catch((error: unknown) => {
      throw error instanceof UsageError ? notFound() : error;
    });
    return redirect('/portal/keys', {
      kind: 'done',
      text: `The key “${key.name}” is revoked. Its next request is answered with 401 revoked_key.`,
    });
  };
}

interface Shown {
  visit: Visit;
  keyPrefix: string;
  /** Names of administrators by their ids, former ones included. */
  makers: ReadonlyMap<string, string>;
}

async function makerNames(engine: Engine, company: string): Promise<ReadonlyMap<string, string>> {
  const people = await listAdministrators(engine, company);
  return new Map(people.map(({ id, name }) => [id, name]));
}

/** How many keys there are, and what to do before there can't be more. */
function standing(count: number): Html {
  const left = ACTIVE_KEYS_MAX - count;
  if (left <= 0) {
    return warning(
      `All ${ACTIVE_KEYS_MAX} keys that a company can have are in use. Revoke one that isn’t needed any more before you create another.`,
    );
  }
  return html`<p>
      <strong>${count} of ${ACTIVE_KEYS_MAX}</strong> keys in
      use.${count >= NEARLY_ALL && html` ${left} more can be created; then one has to be revoked first.`}
    </p>
    <p><a class="button" href="/portal/keys/new">Create a key</a></p>`;
}

function activeTable(shown: Shown, keys: readonly UsedKey[]): Html {
  if (keys.length === 0)
    return emptyState(
      'There is no key that works',
      html`<a href="/portal/keys/new">Create one</a>, and try it at once with the command that comes with it.`,
    );
  return table({
    caption: 'Keys that work',
    columns: ['Name', 'Scopes', 'Created', 'Last used', 'State', 'Action'],
    rows: keys.map((key) => [
      ...described(shown, key),
      badge('good', 'Active'),
      confirmForm(shown.visit, {
        action: `/portal/keys/${key.id}/revoke`,
        open: 'Revoke',
        subject: `the key ${key.name}`,
        question: `Whatever uses “${key.name}” is refused from its next request on. This can’t be undone.`,
        confirm: 'Revoke it',
      }),
    ]),
  });
}

function revokedTable(shown: Shown, keys: readonly UsedKey[]): Html {
  if (keys.length === 0)
    return emptyState('No key was revoked', 'A key that you revoke stays here, with who made it and when.');
  return table({
    caption: 'Revoked keys',
    columns: ['Name', 'Scopes', 'Created', 'Last used', 'Revoked'],
    rows: keys.map((key) => [...described(shown, key), time(shown.visit, key.revokedAt)]),
  });
}

/** What both tables tell of a key. */
function described({ visit, keyPrefix, makers }: Shown, key: UsedKey): Content[] {
  const maker = key.madeBy === null ? 'the operator' : (makers.get(key.madeBy) ?? 'somebody else');
  return [
    html`<strong>${key.name}</strong><br /><code class="hint">${keyPrefix}.${key.company}.${key.id}.…</code>`,
    html`<ul class="names">
      ${key.scopes.map((scope) => html`<li>${scope}</li>`)}
    </ul>`,
    html`${time(visit, key.createdAt)}<br /><span class="hint">by ${maker}</span>`,
    time(visit, key.usedAt),
  ];
}

function addressAfter(key: UsedKey | undefined): string | undefined {
  return key && `/portal/keys?before=${encodeURIComponent(`${key.revokedAt} ${key.id}`)}`;
}

/** A place that isn't one of ours only leads to another page of the same list. */
function placeIn(text: string | null): RevokedBefore | undefined {
  const [revokedAt, id] = (text ?? '').split(' ');
  return revokedAt && id ? { revokedAt, id } : undefined;
}
