import { listAdministrators } from '../../access/administrators.ts';
import { grantedScopes } from '../../access/checked-input.ts';
import {
  ACTIVE_KEYS_MAX,
  checkedKeyName,
  createKey,
  KEY_NAME_CHARACTERS_MAX,
  revokeKey,
} from '../../access/keys.ts';
import { moduleOf, type Scope, scopes } from '../../../contract/scopes.ts';
import { maySee } from '../../../contract/withholding.ts';
import { UsageError } from '../../../errors.ts';
import type { Administrator } from '../../store/accounts/administrator-rows.ts';
import type { Company } from '../../store/records/companies.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { listActiveKeys, listRevokedKeys, type RevokedBefore, type UsedKey } from '../../store/keys/keys.ts';
import { stoppedWarning, whyNot } from '../availability.ts';
import { notFound, type Problems, problemsIn, problemsOf } from '../page-error.ts';
import { button, checkboxes, type Choice, confirmForm, form, textField } from '../views/form.ts';
import { time } from '../views/formats.ts';
import { type Content, type Html, html } from '../views/html.ts';
import { emptyState, warning } from '../views/notice.ts';
import { named, pagination, table } from '../views/table.ts';
import { page, type Page, type PageReply, redirect, type Visit } from '../visit.ts';

const REVOKED_AT_ONCE = 20;
const ALL_IN_USE = `All ${ACTIVE_KEYS_MAX} keys that a company can have are in use. Revoke one that you no longer need before you create another.`;
/** The page warns from this number on. */
const NEARLY_ALL = ACTIVE_KEYS_MAX - 3;

export const showKeys: Page = async (visit, { engine, keyPrefix }) => {
  const { company, query } = visit;
  const before = placeIn(query.get('before'));
  const [active, revoked, makers] = await Promise.all([
    listActiveKeys(engine, company.id),
    listRevokedKeys(engine, company.id, { before, limit: REVOKED_AT_ONCE + 1 }),
    makerNames(engine, company.id),
  ]);
  const shown: Shown = { visit, keyPrefix, makers };
  return page(
    'API keys',
    html`${stoppedWarning(visit)}
      <p>
        A key lets one of your programs read ${company.name}’s data through the API, which
        <a href="/">the reference</a> describes. Give each program its own key, so that you can stop one
        without the others.
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

/** Stops a key at once. Another company's key is not found. */
export const revokeOldKey: Page = async ({ company, signedIn, params, now }, { engine }) => {
  const id = params.id ?? '';
  const key = await revokeKey(engine, company.id, id, now, signedIn).catch((error: unknown) => {
    throw error instanceof UsageError ? notFound() : error;
  });
  const text = `The key “${key.name}” is revoked. Its next request is answered with 401 revoked_key.`;
  return redirect('/portal/keys', text);
};

interface Shown {
  visit: Visit;
  keyPrefix: string;
  makers: ReadonlyMap<string, string>;
}

async function makerNames(engine: Engine, company: string): Promise<ReadonlyMap<string, string>> {
  const people = await listAdministrators(engine, company);
  return new Map(people.map(({ id, name }) => [id, name]));
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
  if (keys.length === 0)
    return emptyState(
      'There is no active key',
      html`<a href="/portal/keys/new">Create one</a>, and try it at once with the command that comes with it.`,
    );
  return table({
    caption: 'Active keys',
    columns: ['Name', 'Scopes', named('Created'), named('Last used'), 'Action'],
    rows: keys.map((key) => [
      ...described(shown, key),
      confirmForm(shown.visit, {
        action: `/portal/keys/${key.id}/revoke`,
        open: 'Revoke',
        subject: `the key ${key.name}`,
        question: `The API refuses every program that uses “${key.name}”, from its next request on. This can’t be undone.`,
        confirm: 'Revoke it',
      }),
    ]),
  });
}

function revokedTable(shown: Shown, keys: readonly UsedKey[]): Html {
  if (keys.length === 0) return emptyState('No key was revoked', 'Revoked keys stay in this list.');
  return table({
    caption: 'Revoked keys',
    columns: ['Name', 'Scopes', named('Created'), named('Last used'), named('Revoked')],
    rows: keys.map((key) => [...described(shown, key), time(shown.visit, key.revokedAt)]),
  });
}

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

/** A place in the list. It isn't trusted: a made-up one gives another page of the same list. */
function placeIn(text: string | null): RevokedBefore | undefined {
  const [revokedAt, id] = (text ?? '').split(' ');
  return revokedAt && id ? { revokedAt, id } : undefined;
}

const NAMED_MAX = 3;

/** The data that each scope covers (openapi.yaml, "Authentication"). */
const readings: Record<Scope, string> = {
  'jobs:read': 'Jobs',
  'people:read': 'People, without those who have left',
  'forms:read': 'Forms, and everything that was filled in on them',
  'invoices:read': 'Invoices, credit notes and pro formas, with their PDFs',
  'customers:read': 'Customers',
  'quotes:read': 'Quotes',
};

export const showNewKey: Page = (visit, { engine }) => newKeyPage(engine, visit);

/** Creates a key. The next page shows it once, with a command that tries it. */
export const createNewKey: Page = async (visit, { engine, keyPrefix, baseUrl }) => {
  const { company, administrator, signedIn, form: filled, now } = visit;
  const name = filled.get('name') ?? '';
  const chosen = filled.getAll('scopes');
  const problems = problemsIn(
    () => checkedKeyName(name),
    () => grantedScopes(chosen, administrator),
  );
  if (Object.keys(problems).length > 0) return newKeyPage(engine, visit, { problems, name, chosen });
  try {
    const { key, record } = await createKey(engine, {
      prefix: keyPrefix,
      company: company.id,
      name,
      scopes: chosen,
      by: signedIn,
      now,
    });
    const text = `The key “${record.name}” is created. Copy it into a secret store now: it can’t be shown again.`;
    return redirect('/portal/keys', text, [
      { label: 'API key', value: key },
      {
        label: 'Try it',
        value: `curl -H 'Authorization: Bearer ${key}' '${baseUrl()}/api/v1/${exampleModule(record.scopes, company)}?limit=2'`,
        hint: 'For a terminal, which may keep it in its history.',
      },
    ]);
  } catch (error) {
    return newKeyPage(engine, visit, { problems: problemsOf(error), name, chosen });
  }
};

interface Filled {
  problems?: Problems;
  name?: string;
  chosen?: readonly string[];
}

/** The list in the example request: if possible one that the API gives out. */
function exampleModule(granted: readonly Scope[], company: Company): string {
  const modules = granted.map(moduleOf);
  return modules.find((module) => whyNot(company, module) === undefined) ?? modules[0] ?? 'jobs';
}

async function newKeyPage(
  engine: Engine,
  visit: Visit,
  { problems, name = '', chosen = [] }: Filled = {},
): Promise<PageReply> {
  const { company } = visit;
  const more = { section: 'keys', isRefused: problems !== undefined } as const;
  const active = await listActiveKeys(engine, company.id);
  if (active.length >= ACTIVE_KEYS_MAX) {
    return page(
      'Create a key',
      html`${warning(ALL_IN_USE)}
        <p><a class="button" href="/portal/keys">Go to the keys</a></p>`,
      more,
    );
  }
  const people = await listAdministrators(engine, company.id);
  return page(
    'Create a key',
    html`<p>
        ${active.length} of ${ACTIVE_KEYS_MAX} keys are in use. The key is shown once, on the next page.
      </p>
      ${form(
        visit,
        { action: '/portal/keys/new', problem: problems?.form },
        html`${textField({
            name: 'name',
            label: 'Name',
            hint: 'The program that will use the key, such as “Ledger export”, so that you know later which key to revoke.',
            value: name,
            problem: problems?.name,
            lengthMax: KEY_NAME_CHARACTERS_MAX,
          })}
          ${checkboxes({
            name: 'scopes',
            label: 'The key may read',
            hint: 'Choose as little as the program needs. It can’t be changed afterwards.',
            problem: problems?.scopes,
            choices: scopes.map((scope) => choiceOf(scope, visit, people)),
            chosen,
          })}
          ${button('Create the key')} <a href="/portal/keys">Cancel</a>`,
      )}`,
    more,
  );
}

function choiceOf(scope: Scope, { administrator, company }: Visit, people: readonly Administrator[]): Choice {
  const label = `${readings[scope]} (${scope})`;
  if (!maySee(administrator.scopes, moduleOf(scope))) {
    const able = people.filter(({ disabledAt, scopes: held }) => disabledAt === null && held.includes(scope));
    const names = able
      .slice(0, NAMED_MAX)
      .map(({ name }) => name)
      .join(', ');
    const others = names === '' ? 'Nobody here has it.' : `Ask somebody who has it: ${names}.`;
    return {
      value: scope,
      label,
      unavailable: `You can’t give access that you don’t have yourself. ${others}`,
    };
  }
  const off = whyNot(company, moduleOf(scope));
  return { value: scope, label, ...(off !== undefined && { hint: `Gives nothing yet: ${off}` }) };
}
