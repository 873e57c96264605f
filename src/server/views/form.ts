import { isDay } from '../../contract/company-time.ts';
import { UsageError } from '../../errors.ts';
import { EMAIL_CHARACTERS_MAX } from '../access/checked-input.ts';
import { FORM_TOKEN_FIELD } from './form-tokens.ts';
import type { Problems } from './page-error.ts';
import type { GuestVisit } from './visit.ts';
import { type Content, type Html, html } from './html.ts';

/** Renders a form with its token. A problem with the whole form is shown at the top. */
export function form(
  visit: Pick<GuestVisit, 'formToken'>,
  { action, problem }: { action: string; problem?: string | undefined },
  content: Html,
): Html {
  return html`<form method="post" action="${action}">
    <input type="hidden" name="${FORM_TOKEN_FIELD}" value="${visit.formToken}" />
    ${problem !== undefined && html`<p class="error" role="alert" tabindex="-1">${problem}</p>`} ${content}
  </form>`;
}

export function withQuery(path: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => !!entry[1]);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

export interface Field {
  name: string;
  /** The element's id; the field's name by default. */
  id?: string;
  label: string;
  hint?: string | undefined;
  problem?: string | undefined;
}

interface TextField extends Field {
  value?: string | null | undefined;
  type?: 'text' | 'email' | 'password' | 'url' | 'search' | 'date' | 'datetime-local';
  autocomplete?: string;
  isRequired?: boolean;
  lengthMax?: number;
}

/** Renders a field for one line of text, with its label, hint and problem. Browsers complain of a date that is none, so it is left out. */
export function textField(field: TextField): Html {
  const {
    name,
    id = name,
    label,
    value,
    type = 'text',
    autocomplete = 'off',
    isRequired = true,
    lengthMax = 200,
  } = field;
  return html`<div class="field">
    <label for="${id}">${label}</label>
    ${notes(field)}
    <input
      id="${id}"
      name="${name}"
      type="${type}"
      value="${type === 'password' || (type.startsWith('date') && !isDay((value ?? '').slice(0, 10))) ? '' : value}"
      autocomplete="${autocomplete}"
      maxlength="${lengthMax}"
      ${isRequired && html`required`}
      ${describedBy(field)}
      ${invalid(field)}
    />
  </div>`;
}

function notes({ name, id = name, hint, problem }: Field): Html {
  return html`${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
  ${problem !== undefined && html`<p class="error" id="${id}-problem" role="alert">${problem}</p>`}`;
}

/** Marks a field with a problem as invalid. A page focuses its first invalid field; see frame.ts. */
const invalid = ({ problem }: Pick<Field, 'problem'>) =>
  html`${problem !== undefined && html`aria-invalid="true"`}`;

/** Links a field to its hint and problem for screen readers. */
function describedBy({ name, id = name, hint, problem }: Field): Html {
  const ids = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`];
  const described = ids.join(' ').trim();
  return html`${described !== '' && html`aria-describedby="${described}"`}`;
}

export interface Choice {
  value: string;
  label: string;
  hint?: string | undefined;
  /** The reason why the choice is shown but can't be taken. */
  unavailable?: string | undefined;
  /** Content below the choice. */
  more?: Html;
}

/** Renders choices of which any number can be ticked. A choice that can't be ticked says why. */
export function checkboxes({
  name,
  id: group = name,
  label,
  hint,
  problem,
  choices,
  chosen,
  tools,
}: Field & { choices: readonly Choice[]; chosen: readonly string[]; tools?: Html }): Html {
  const field = { name, id: group, label, hint, problem };
  return html`<fieldset class="field" ${describedBy(field)}>
    <legend>${label}</legend>
    ${notes(field)} ${tools}
    ${choices.map(({ value, label: text, hint: beside, unavailable, more }, index) => {
      const id = `${group}-${index}`;
      const note = unavailable ?? beside;
      return html`<div class="choice">
        <input
          type="checkbox"
          id="${id}"
          name="${name}"
          value="${value}"
          ${chosen.includes(value) && unavailable === undefined && html`checked`}
          ${unavailable === undefined ? invalid(field) : html`disabled`}
          ${note !== undefined && html`aria-describedby="${id}-note"`}
        />
        <label for="${id}">${text}</label>
        ${note !== undefined && html`<span class="hint" id="${id}-note">${note}</span>`} ${more}
      </div>`;
    })}
  </fieldset>`;
}

/**
 * Renders a drop-down list of values, each with a name.
 * @param options.all the name of an extra first choice, which selects none of the values.
 */
export function select({
  all,
  choices,
  chosen = '',
  ...field
}: Field & {
  all?: string;
  choices: readonly (readonly [value: string, name: string])[];
  chosen: string | undefined;
}): Html {
  const { name, label } = field;
  const offered = all === undefined ? choices : [['', all] as const, ...choices];
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${notes(field)}
    <select id="${name}" name="${name}" ${describedBy(field)} ${invalid(field)}>
      ${offered.map(
        ([value, text]) =>
          html`<option value="${value}" ${value === chosen && html`selected`}>${text}</option>`,
      )}
    </select>
  </div>`;
}

/**
 * Renders buttons that tick all choices of a group, or none, by showing the form anew; see `isTicked`. A button that nobody
 * sees comes first, because the Enter key presses the first one of a form.
 */
export function tickButtons(action: string, group: string): Html {
  const tick = (value: string, label: string) =>
    html`<button class="quiet" name="tick" value="${value}" formaction="${action}#${group}-0" formnovalidate>
      ${label}
    </button>`;
  return html`<p>
    <button class="hidden" tabindex="-1" aria-hidden="true"></button>
    ${tick('all', 'Choose all')} ${tick('none', 'Choose none')}
  </p>`;
}

/** Ticks choices of a group as `tickButtons` asks. @returns whether one of them was pressed. */
export function isTicked(filled: URLSearchParams, group: string, all: readonly string[]): boolean {
  const pressed = filled.get('tick');
  if (pressed === null) return false;
  filled.delete(group);
  if (pressed === 'all') for (const value of all) filled.append(group, value);
  return true;
}

export function button(label: Content, kind: 'main' | 'danger' | 'quiet' = 'main'): Html {
  return html`<button class="${kind}">${label}</button>`;
}

/** Renders an action with a confirmation step, which also works without scripts. */
export function confirmForm(
  visit: Pick<GuestVisit, 'formToken'>,
  {
    action,
    open,
    subject,
    question,
    content,
    confirm,
    kind = 'danger',
    isOpen = false,
  }: {
    action: string;
    open: string;
    /** The object of the action, for screen-reader users, who hear buttons out of context. */
    subject: string;
    question: Content;
    content?: Html;
    confirm: string;
    kind?: 'main' | 'danger';
    /** Whether the confirmation is open at first, as after a refusal. */
    isOpen?: boolean;
  },
): Html {
  return html`<details class="confirm" ${isOpen && html`open`}>
    <summary>${open}<span class="hidden"> ${subject}</span></summary>
    <div class="question">
      <p>${question}</p>
      ${form(visit, { action }, html`${content}<button class="${kind}">${confirm}<span class="hidden"> ${subject}</span></button>`)}
    </div>
  </details>`;
}

/** Renders a hidden field that tells password managers which account the form is about. */
export function accountField(email: string): Html {
  return html`<input
    class="hidden"
    type="email"
    value="${email}"
    autocomplete="username"
    aria-hidden="true"
    tabindex="-1"
    readonly
  />`;
}

/** Renders the field for the email address with which somebody signs in. */
export function emailField(value?: string | null): Html {
  return textField({
    ...{ name: 'email', label: 'Email address', type: 'email', value, autocomplete: 'username' },
    lengthMax: EMAIL_CHARACTERS_MAX,
  });
}

/** Renders the fields for a new password, which is typed twice; see `newPasswordIn`. */
export function newPasswordFields(problems: Problems): Html {
  return html`${textField({
    name: 'password',
    problem: problems.password,
    label: 'New password',
    hint: 'At least 12 characters. Several unrelated words are easy to remember and hard to guess. Names and well-known phrases don’t count.',
    type: 'password',
    autocomplete: 'new-password',
  })}
  ${textField({
    name: 'password-again',
    problem: problems['password-again'],
    label: 'New password again',
    type: 'password',
    autocomplete: 'new-password',
  })}`;
}

/**
 * Reads the password entered in `newPasswordFields`.
 * @throws UsageError for the field `password-again` when the two entries differ.
 */
export function newPasswordIn(filled: URLSearchParams): string {
  const password = filled.get('password') ?? '';
  if (password !== filled.get('password-again'))
    throw new UsageError('The new passwords don’t match.', { field: 'password-again' });
  return password;
}
