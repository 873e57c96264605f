import { removeAdministrator, resetSecondFactor } from './administrators.ts';
import { accessText } from '../../access/checked-input.ts';
import { changeAccess, whyNotManage } from './change-access.ts';
import { scopesLacked } from '../../../contract/withholding.ts';
import type { Administrator } from '../../store/accounts/administrator-rows.ts';
import { type Webhook, webhookName } from '../webhooks/stored-webhooks.ts';
import type { ApiKey } from '../keys/stored-keys.ts';
import { checkboxes, confirmForm, type Field } from '../../views/form.ts';
import { type Html, html } from '../../views/html.ts';
import { scopeText } from '../../views/scope-texts.ts';
import { type PortalPage, redirect, type Visit } from '../../views/visit.ts';

export const removeSomebody: PortalPage = async ({ act, params, form: filled }, { engine }) => {
  const removal = { ...act, id: params.id ?? '', revoke: filled.getAll('keys') };
  const { administrator, revoked, left } = await removeAdministrator(engine, removal);
  const sentences = [
    `${administrator.name} no longer has access.`,
    revoked.length > 0 && `Revoked: ${namesOf(revoked)}.`,
    left.length > 0 && `Keys they made that still work: ${namesOf(left)}.`,
  ];
  return redirect('/portal/people', sentences.filter(Boolean).join(' '));
};

/** Takes a colleague's second factor away, so that they can sign in without it and set it up anew. */
export const resetFactorOfSomebody: PortalPage = async ({ act, params }, { engine }) => {
  const { name } = await resetSecondFactor(engine, { ...act, id: params.id ?? '' });
  return redirect('/portal/people', `${name} no longer has a second factor, and is signed out everywhere.`);
};

/** Changes an administrator's access, and ends the ticked keys and webhooks of theirs that exceed the new access. */
export const changeSomebody: PortalPage = async ({ act, params, form: filled }, { engine }) => {
  const { administrator, ended, left } = await changeAccess(engine, {
    ...act,
    id: params.id ?? '',
    ...accessIn(filled),
    revoke: filled.getAll('made'),
  });
  const sentences = [
    `${administrator.name} now has: ${accessText(administrator)}.`,
    ended.length > 0 && `Ended: ${namesOf(ended)}.`,
    left.length > 0 && `They made these, which still work beyond that access: ${namesOf(left)}.`,
  ];
  return redirect('/portal/people', sentences.filter(Boolean).join(' '));
};

function namesOf(keys: readonly { name: string }[]): string {
  return keys.map(({ name }) => `“${name}”`).join(', ');
}

/** Renders the forms with which one administrator changes or removes another's access, or the reason why there are none. */
export function accessActions(
  visit: Visit,
  person: Administrator,
  keys: readonly ApiKey[],
  webhooks: readonly Webhook[],
) {
  const { administrator } = visit;
  const reason = whyNotManage(person, administrator);
  if (person.id === administrator.id) return html`<span class="hint">This is you</span>`;
  if (reason !== undefined) return html`<span class="hint">${reason}</span>`;
  const made = keys.filter(({ madeBy }) => madeBy === person.id);
  const hooks = webhooks.filter(({ madeBy }) => madeBy === person.id);
  return html`${accessForm(visit, person, made, hooks)}
  ${
    person.hasSecondFactor &&
    confirmForm(visit, {
      action: `/portal/people/${person.id}/second-factor`,
      open: 'Reset second factor',
      subject: `of ${person.name}`,
      question: `For somebody who has lost their phone and recovery codes. Ring ${person.name} first, to be sure who is asking. They are signed out everywhere, and need no code until they set up a new second factor. We tell both of you.`,
      confirm: 'Reset second factor',
    })
  }
  ${removeForm(visit, person, made)}`;
}

function accessForm(
  visit: Visit,
  person: Administrator,
  keys: readonly ApiKey[],
  webhooks: readonly Webhook[],
) {
  const made = [
    ...keys.map(({ id, name, scopes }) => ({ value: id, label: `Key “${name}”`, hint: scopes.join(', ') })),
    ...webhooks.map((webhook) => ({
      value: webhook.id,
      label: `Webhook to ${webhookName(webhook)}`,
      hint: scopesLacked([], webhook.events).join(', '),
    })),
  ];
  return confirmForm(visit, {
    action: `/portal/people/${person.id}/access`,
    open: 'Change access',
    subject: `of ${person.name}`,
    question:
      'This takes effect immediately. If you reduce their access, the open invitations they made end.',
    content: html`${accessFields(visit, person, { suffix: `-${person.id}` })}
    ${
      made.length > 0 &&
      checkboxes({
        name: 'made',
        id: `made-${person.id}`,
        label: 'End these if they go beyond that access',
        hint: 'They made these. Any you don’t tick keep working.',
        choices: made,
        chosen: [],
      })
    }`,
    confirm: 'Change access',
    kind: 'main',
  });
}

/** Reads the access that was entered in `accessFields`. */
export function accessIn(filled: URLSearchParams): { scopes: string[]; mayInvite: boolean } {
  return { scopes: filled.getAll('scopes'), mayInvite: filled.get('may-invite') === 'yes' };
}

/** Renders the form fields for the access that one administrator gives another. */
export function accessFields(
  { administrator }: Visit,
  { scopes, mayInvite }: { scopes: readonly string[]; mayInvite: boolean },
  { suffix = '', ...notes }: { suffix?: string } & Pick<Field, 'hint' | 'problem'>,
): Html {
  return html`${checkboxes({
    name: 'scopes',
    id: `scopes${suffix}`,
    label: 'Access, for themselves and for the keys they make',
    ...notes,
    choices: administrator.scopes.map((scope) => ({ value: scope, label: scopeText(scope) })),
    chosen: scopes,
  })}
  ${checkboxes({
    name: 'may-invite',
    id: `may-invite${suffix}`,
    label: 'Other administrators',
    choices: [{ value: 'yes', label: 'Can invite, change and remove administrators' }],
    chosen: mayInvite ? ['yes'] : [],
  })}`;
}

function removeForm(visit: Visit, person: Administrator, made: readonly ApiKey[]): Html {
  return confirmForm(visit, {
    action: `/portal/people/${person.id}/remove`,
    open: 'Remove',
    subject: `access of ${person.name}`,
    question: `${person.name} is signed out immediately and can’t sign in again. Webhooks keep working.`,
    content:
      made.length > 0
        ? checkboxes({
            name: 'keys',
            id: `keys-${person.id}`,
            label: 'Revoke these keys they made',
            hint: 'Keys you don’t tick keep working, for anyone who has copied them.',
            choices: made.map(({ id, name, scopes }) => ({
              value: id,
              label: name,
              hint: scopes.join(', '),
            })),
            chosen: [],
          })
        : html`<p class="hint">They have made no active keys.</p>`,
    confirm: 'Remove',
  });
}
