import { grantedScopes, NAME_CHARACTERS_MAX } from '../../access/checked-input.ts';
import { ACTIVE_KEYS_MAX, checkedKeyEnd, checkedKeyName, createKey } from './keys.ts';
import { moduleOf, type Scope, scopes } from '../../../contract/scopes.ts';
import { maySee } from '../../../contract/withholding.ts';
import { listAdministratorRows, type Administrator } from '../../store/accounts/administrator-rows.ts';
import { listActiveKeys } from './stored-keys.ts';
import type { Company } from '../../store/records/companies.ts';
import { whyNot } from '../../views/availability.ts';
import { action } from '../../views/action.ts';
import { checkAll } from '../../views/page-error.ts';
import { button, checkboxes, type Choice, form, textField } from '../../views/form.ts';
import { html } from '../../views/html.ts';
import { warning } from '../../views/notice.ts';
import { scopeText } from '../../views/scope-texts.ts';
import { page, type PortalPage, redirect, type Visit } from '../../views/visit.ts';
import { ALL_IN_USE, lastDayField } from './keys-page.ts';

const NAMED_MAX = 3;

export const showNewKey: PortalPage = async (visit, { engine }, problems = {}) => {
  const { company, form: filled, now } = visit;
  const active = await listActiveKeys(engine, company.id, now);
  if (active.length >= ACTIVE_KEYS_MAX) {
    return page(
      'Create a key',
      html`${warning(ALL_IN_USE)}
        <p><a class="button" href="/portal/keys">Go to the keys</a></p>`,
      { section: 'keys' },
    );
  }
  const people = await listAdministratorRows(engine.db, company.id);
  return page(
    'Create a key',
    html`<p>
        ${active.length} of ${ACTIVE_KEYS_MAX} keys are in use. The key is shown once, on the next page.
      </p>
      ${form(
        visit,
        { action: '/portal/keys/new', problem: problems.form },
        html`${textField({
            name: 'name',
            label: 'Name',
            hint: 'The program that will use it, such as “Ledger export”.',
            value: filled.get('name'),
            problem: problems.name,
            lengthMax: NAME_CHARACTERS_MAX,
          })}
          ${checkboxes({
            name: 'scopes',
            label: 'The key may read',
            hint: 'Choose only what the program needs. You can’t change this later.',
            problem: problems.scopes,
            choices: scopes.map((scope) => choiceOf(scope, visit, people)),
            chosen: filled.getAll('scopes'),
          })}
          ${lastDayField({ value: filled.get('last-day'), problem: problems['last-day'] })}
          ${button('Create the key')} <a href="/portal/keys">Cancel</a>`,
      )}`,
    { section: 'keys' },
  );
};

/** Creates a key. The next page shows it once, with a command that tries it. */
export const createNewKey = action(showNewKey, async (visit, { engine, keyPrefix, baseUrl }) => {
  const { company, administrator, act, form: filled } = visit;
  const name = filled.get('name') ?? '';
  const chosen = filled.getAll('scopes');
  const lastDay = filled.get('last-day') ?? '';
  checkAll(
    () => checkedKeyName(name),
    () => grantedScopes(chosen, administrator),
    () => checkedKeyEnd(lastDay, company.timeZone, act.now),
  );
  const { key, record } = await createKey(engine, {
    ...act,
    prefix: keyPrefix,
    name,
    scopes: chosen,
    lastDay,
  });
  const text = `The key “${record.name}” is created. Copy it into a secret store now: we can’t show it again.`;
  return redirect('/portal/keys', text, [
    { label: 'API key', value: key },
    {
      label: 'Try it',
      value: `curl -H 'Authorization: Bearer ${key}' '${baseUrl()}/api/v1/${exampleModule(record.scopes, company)}?limit=2'`,
      hint: 'Run it in a terminal, which may keep it in its history.',
    },
  ]);
});

/** Picks the list for the example request, preferably one that the API serves for this company. */
function exampleModule(granted: readonly Scope[], company: Company): string {
  const modules = granted.map(moduleOf);
  return modules.find((module) => whyNot(company, module) === undefined) ?? modules[0] ?? 'jobs';
}

function choiceOf(scope: Scope, { administrator, company }: Visit, people: readonly Administrator[]): Choice {
  const label = scopeText(scope);
  if (!maySee(administrator.scopes, moduleOf(scope))) {
    const able = people.filter(({ disabledAt, scopes: held }) => disabledAt === null && held.includes(scope));
    const names = able
      .slice(0, NAMED_MAX)
      .map(({ name }) => name)
      .join(', ');
    const others = names === '' ? 'No administrator has it.' : `Ask somebody who has it: ${names}.`;
    const unavailable = `You can’t give access that you don’t have yourself. ${others}`;
    return { value: scope, label, unavailable };
  }
  const off = whyNot(company, moduleOf(scope));
  return { value: scope, label, hint: off && `No data yet: ${off}` };
}
