import { listAdministrators, removeAdministrator, whyNotRemove } from '../../access/administrators.ts';
import { checkedEmail, grantedScopes } from '../../access/checked-input.ts';
import { invite, whyNotWithdraw, withdrawInvitation } from '../../access/invitations.ts';
import { type ApiKey, listActiveKeys } from '../../store/keys/keys.ts';
import type { Administrator } from '../../store/accounts/administrator-rows.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { listInvitations, type PortalLink } from '../../store/accounts/link-rows.ts';
import { type Problems, problemsIn, problemsOf } from '../page-error.ts';
import { button, checkboxes, confirmForm, form, textField } from '../views/form.ts';
import { emailText, time, timeText } from '../views/formats.ts';
import { type Html, html } from '../views/html.ts';
import { badge, emptyState } from '../views/notice.ts';
import { named, table } from '../views/table.ts';
import { page, type Page, type PageReply, redirect, type Visit } from '../visit.ts';

export const showPeople: Page = (visit, { engine }) => peoplePage(engine, visit);

/** Makes an invitation. The next page shows its link once, so no mail server is needed. */
export const inviteSomebody: Page = async (visit, { engine, baseUrl }) => {
  const { company, administrator, signedIn, form: filled, now } = visit;
  const email = filled.get('email') ?? '';
  const scopes = filled.getAll('scopes');
  const mayInvite = filled.get('may-invite') === 'yes';
  const problems = problemsIn(
    () => checkedEmail(email),
    () => grantedScopes(scopes, administrator),
  );
  if (Object.keys(problems).length > 0)
    return peoplePage(engine, visit, { problems, email, scopes, mayInvite });
  try {
    const { token, invitation } = await invite(engine, {
      company: company.id,
      email,
      scopes,
      mayInvite,
      by: signedIn,
      now,
    });
    const until = timeText(company.timeZone, invitation.expiresAt);
    const text = `${invitation.email} is invited. Send them this link; it works once, until ${until}.`;
    return redirect('/portal/people', text, [
      {
        label: 'Link',
        value: `${baseUrl()}/portal/invitation#${token}`,
        hint: 'It is shown only now. Anybody who has it can use it, so send it to that person alone.',
      },
    ]);
  } catch (error) {
    return peoplePage(engine, visit, { problems: problemsOf(error), email, scopes, mayInvite });
  }
};

export const withdraw: Page = async ({ company, signedIn, params, now }, { engine }) => {
  const { email } = await withdrawInvitation(engine, {
    company: company.id,
    id: params.id ?? '',
    by: signedIn,
    now,
  });
  return redirect('/portal/people', `The invitation of ${email} is withdrawn.`);
};

export const removeSomebody: Page = async (visit, { engine }) => {
  const { company, signedIn, params, form: filled, now } = visit;
  const { administrator, revoked, left } = await removeAdministrator(engine, {
    company: company.id,
    id: params.id ?? '',
    by: signedIn,
    now,
    revoke: filled.getAll('keys'),
  });
  const sentences = [
    `${administrator.name} no longer has access.`,
    revoked.length > 0 && `Revoked: ${namesOf(revoked)}.`,
    left.length > 0 && `These keys that they made keep working: ${namesOf(left)}.`,
  ];
  return redirect('/portal/people', sentences.filter(Boolean).join(' '));
};

function namesOf(keys: readonly ApiKey[]): string {
  return keys.map(({ name }) => `“${name}”`).join(', ');
}

interface Filled {
  problems?: Problems;
  email?: string;
  scopes?: readonly string[];
  mayInvite?: boolean;
}

async function peoplePage(engine: Engine, visit: Visit, filled: Filled = {}): Promise<PageReply> {
  const { company, administrator, now } = visit;
  const people = await listAdministrators(engine, company.id);
  const invitations = await listInvitations(engine.db, company.id, now);
  const keys = await listActiveKeys(engine, company.id);
  return page(
    'People',
    html`<p>
        These people administer ${company.name} here. They can give a key the access that they have
        themselves.
      </p>
      ${table({
        caption: 'Administrators',
        columns: ['Name', 'E-mail address', 'Access', named('Last signed in'), 'Action'],
        rows: people
          .filter(({ disabledAt }) => disabledAt === null)
          .map((person) => [
            html`${person.name}${person.id === administrator.id && html` ${badge('plain', 'You')}`}`,
            emailText(person.email),
            accessOf(person),
            time(visit, person.signedInAt),
            removal(visit, person, keys),
          ]),
      })}
      <h2>Open invitations</h2>
      ${invitationTable(visit, invitations)}
      <h2>Invite somebody</h2>
      ${
        administrator.mayInvite
          ? inviteForm(visit, filled)
          : emptyState('You can’t invite anybody', 'Ask an administrator who may invite others.')
      }`,
    { section: 'people', isRefused: filled.problems !== undefined },
  );
}

function accessOf({ scopes, mayInvite }: Pick<Administrator, 'scopes' | 'mayInvite'>): Html {
  return html`<span class="scopes">${scopes.join(', ')}</span
    >${mayInvite && html` ${badge('plain', 'May invite')}`}`;
}

function removal(visit: Visit, person: Administrator, keys: readonly ApiKey[]) {
  const { administrator } = visit;
  const reason = whyNotRemove(person, administrator);
  if (person.id === administrator.id) return html`<span class="hint">This is you</span>`;
  if (reason !== undefined) return html`<span class="hint">${reason}</span>`;
  const made = keys.filter(({ madeBy }) => madeBy === person.id);
  return confirmForm(visit, {
    action: `/portal/people/${person.id}/remove`,
    open: 'Remove',
    subject: person.name,
    question: `${person.name} is signed out at once and can’t sign in again. Webhooks keep working.`,
    content:
      made.length > 0
        ? checkboxes({
            name: 'keys',
            id: `keys-${person.id}`,
            label: 'Revoke these keys that they made',
            hint: 'A key that isn’t ticked keeps working. Somebody who has copied it can go on reading.',
            choices: made.map(({ id, name, scopes }) => ({
              value: id,
              label: name,
              hint: scopes.join(', '),
            })),
            chosen: [],
          })
        : html`<p class="hint">They have made no key that works.</p>`,
    confirm: 'Remove access',
  });
}

function invitationTable(visit: Visit, invitations: readonly PortalLink[]): Html {
  if (invitations.length === 0)
    return emptyState(
      'Nobody is invited',
      'Invitations are listed here until they are accepted, withdrawn or expired.',
    );
  return table({
    caption: 'Open invitations',
    columns: ['E-mail address', 'Access', named('Valid until'), 'Action'],
    rows: invitations.map((invitation) => [
      emailText(invitation.email),
      accessOf(invitation),
      time(visit, invitation.expiresAt),
      withdrawal(visit, invitation),
    ]),
  });
}

function withdrawal(visit: Visit, invitation: PortalLink) {
  const { administrator } = visit;
  const reason = whyNotWithdraw(invitation, administrator);
  if (reason !== undefined) return administrator.mayInvite && html`<span class="hint">${reason}</span>`;
  return confirmForm(visit, {
    action: `/portal/people/invitations/${invitation.id}/withdraw`,
    open: 'Withdraw',
    subject: `the invitation of ${invitation.email}`,
    question: 'The link stops working at once.',
    confirm: 'Withdraw',
  });
}

function inviteForm(visit: Visit, { problems, email = '', scopes, mayInvite = false }: Filled): Html {
  const own = visit.administrator.scopes;
  return form(
    visit,
    { action: '/portal/people/invite', problem: problems?.form },
    html`${textField({
      name: 'email',
      label: 'Their e-mail address',
      hint: 'They sign in with it. No message is sent: you get a link to send them.',
      type: 'email',
      value: email,
      problem: problems?.email,
      lengthMax: 254,
    })}
    ${checkboxes({
      name: 'scopes',
      label: 'Access, for themselves and for the keys they make',
      hint: 'You can give the access that you have yourself.',
      problem: problems?.scopes,
      choices: own.map((scope) => ({ value: scope, label: scope })),
      chosen: scopes ?? own,
    })}
    ${checkboxes({
      name: 'may-invite',
      label: 'Other administrators',
      choices: [{ value: 'yes', label: 'They may invite and remove administrators' }],
      chosen: mayInvite ? ['yes'] : [],
    })}
    ${button('Make an invitation')}`,
  );
}
