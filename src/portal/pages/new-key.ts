import { grantedScopes, listAdministrators } from '../../access/administrators.ts';
import {
  ACTIVE_KEYS_MAX,
  checkedKeyName,
  createKey,
  KEY_NAME_CHARACTERS_MAX,
  listActiveKeys,
} from '../../access/keys.ts';
import { moduleOf, type Scope, scopes } from '../../contract/scopes.ts';
import type { Administrator } from '../../store/administrators.ts';
import type { Company } from '../../store/companies.ts';
import type { Engine } from '../../store/engine.ts';
import { whyNot } from '../availability.ts';
import { refusalOf } from '../page-error.ts';
import type { Page } from '../route.ts';
import { button, checkboxes, type Choice, form, textField } from '../views/form.ts';
import { html } from '../views/html.ts';
import { warning } from '../views/notice.ts';
import { page, type PageReply, redirect, type Visit } from '../visit.ts';

const NAMED_MAX = 3;

/** What each scope lets a key read, in the words of service.md, "Authentication". */
const readings: Record<Scope, string> = {
  'jobs:read': 'Jobs',
  'people:read': 'People, without those who have left',
  'forms:read': 'Forms, and everything that was filled in on them',
  'invoices:read': 'Invoices, credit notes and pro formas, with their PDFs',
  'customers:read': 'Customers',
  'quotes:read': 'Quotes',
};

export function showNewKey(engine: Engine): Page {
  return (visit) => newKeyPage(engine, visit);
}

/** Makes a key, which the next page shows once, with a command that tries it. */
export function createNewKey({
  engine,
  keyPrefix,
  baseUrl,
}: {
  engine: Engine;
  keyPrefix: string;
  baseUrl: () => string;
}): Page {
  return async (visit) => {
    const { company, administrator, signedIn, form: filled, now } = visit;
    const name = filled.get('name') ?? '';
    const chosen = filled.getAll('scopes');
    const problems: Problems = {
      name: problemOf(() => checkedKeyName(name)),
      scopes: problemOf(() => grantedScopes(chosen, administrator)),
    };
    if (problems.name ?? problems.scopes) return newKeyPage(engine, visit, { problems, name, chosen });
    try {
      const { key, record } = await createKey(engine, {
        prefix: keyPrefix,
        company: company.id,
        name,
        scopes: chosen,
        by: signedIn,
        now,
      });
      return redirect('/portal/keys', {
        kind: 'done',
        text: `The key “${record.name}” is created. Copy it now, into a secret store: it is never shown again, and nobody can read it anywhere.`,
        secrets: [
          { label: 'API key', value: key },
          {
            label: 'Try it',
            value: `curl -H 'Authorization: Bearer ${key}' '${baseUrl()}/api/v1/${exampleModule(record.scopes, company)}?limit=2'`,
            hint: 'For a terminal. What you type there may be kept in its history.',
          },
        ],
      });
    } catch (error) {
      return newKeyPage(engine, visit, { problems: { whole: refusalOf(error) }, name, chosen });
    }
  };
}

/** What is wrong with what was filled in: in a field, or with the whole. */
interface Problems {
  name?: string | undefined;
  scopes?: string | undefined;
  whole?: string | undefined;
}

interface Filled {
  problems?: Problems;
  name?: string;
  chosen?: readonly string[];
}

function problemOf(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return refusalOf(error);
  }
}

/** The list that is asked first: one that is given out, if there is one. */
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
  const more = { section: 'keys', ...(problems && { status: 422 }) } as const;
  const active = await listActiveKeys(engine, company.id);
  if (active.length >= ACTIVE_KEYS_MAX) {
    return page(
      'Create a key',
      html`${warning(
          `All ${ACTIVE_KEYS_MAX} keys that a company can have are in use. Revoke one that isn’t needed any more; then you can create another.`,
        )}
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
        { action: '/portal/keys/new', problem: problems?.whole },
        html`${textField({
            name: 'name',
            label: 'Name',
            hint: 'What will use the key, such as “Ledger export”. You will know by it which key to revoke.',
            value: name,
            problem: problems?.name,
            lengthMax: KEY_NAME_CHARACTERS_MAX,
          })}
          ${checkboxes({
            name: 'scopes',
            label: 'What the key may read',
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
  if (!administrator.scopes.includes(scope)) {
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
