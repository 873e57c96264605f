import { listAdministrators } from './administrators.ts';
import { checkedEmail, grantedScopes } from '../../access/checked-input.ts';
import { invite, whyNotWithdraw, withdrawInvitation } from './invitations.ts';
import { PASSWORDS_OFF } from '../sign-in/passwords.ts';
import { requireSecondFactor } from '../sign-in/second-factor.ts';
import { listActiveKeys } from '../keys/stored-keys.ts';
import { type Administrator, lacksSecondFactor } from '../../store/accounts/administrator-rows.ts';
import { listWebhookRows } from '../webhooks/stored-webhooks.ts';
import { listInvitations, type PortalLink } from '../../store/accounts/link-rows.ts';
import { action } from '../../views/action.ts';
import { checkAll, type Problems } from '../../views/page-error.ts';
import { button, checkboxes, confirmForm, form, textField } from '../../views/form.ts';
import { emailText, time, timeText } from '../../views/formats.ts';
import { type Html, html } from '../../views/html.ts';
import { badge, emptyState } from '../../views/notice.ts';
import { named, table } from '../../views/table.ts';
import { page, type PortalPage, redirect, type Visit } from '../../views/visit.ts';
import { accessActions, accessFields, accessIn } from './person-access-page.ts';

export const showPeople: PortalPage = async (
  visit,
  { engine, passwordsOff, isMailing = false },
  problems = {},
) => {
  const { company, administrator, now } = visit;
  const people = await listAdministrators(engine, company.id);
  const invitations = await listInvitations(engine.db, company.id, now);
  const keys = await listActiveKeys(engine, company.id, now);
  const webhooks = await listWebhookRows(engine, company.id);
  return page(
    'People',
    html`<p>
        These people are administrators of ${company.name}. They can give a key the access that they have
        themselves.
      </p>
      ${table({
        caption: 'Administrators',
        columns: ['Name', 'Email address', 'Access', named('Last signed in'), 'Action'],
        rows: people
          .filter(({ disabledAt }) => disabledAt === null)
          .map((person) => [
            html`${person.name}${person.id === administrator.id && html` ${badge('plain', 'You')}`}${lacksSecondFactor(person) && html` ${badge('plain', 'No second factor')}`}`,
            emailText(person.email),
            accessOf(person),
            time(visit, person.signedInAt),
            accessActions(visit, person, keys, webhooks),
          ]),
      })}
      <h2>Open invitations</h2>
      ${invitationTable(visit, invitations)}
      <h2>Invite a colleague</h2>
      ${
        passwordsOff
          ? emptyState('Invitations are off', PASSWORDS_OFF)
          : administrator.mayInvite
            ? inviteForm(visit, isMailing, problems)
            : emptyState('You can’t invite people', 'Ask an administrator who can.')
      }
      ${administrator.mayInvite && !passwordsOff && requirement(visit)}`,
    { section: 'people' },
  );
};

/** Creates an invitation, and mails it if requested. Otherwise the next page shows its link once. */
export const inviteSomebody = action(showPeople, async (visit, { engine, baseUrl, isMailing = false }) => {
  const { company, administrator, act, form: filled } = visit;
  const email = filled.get('email') ?? '';
  const { scopes, mayInvite } = accessIn(filled);
  const isMailed = isMailing && filled.get('mail') === 'yes';
  checkAll(
    () => checkedEmail(email),
    () => grantedScopes(scopes, administrator),
  );
  const { token, invitation } = await invite(engine, { ...act, email, scopes, mayInvite, isMailed });
  const until = timeText(company.timeZone, invitation.expiresAt);
  if (isMailed) {
    const mailed = `${invitation.email} is invited, and we’ve emailed the link. It works once, until ${until}.`;
    return redirect('/portal/people', mailed);
  }
  const text = `${invitation.email} is invited. Send them this link: it works once, until ${until}.`;
  return redirect('/portal/people', text, [
    {
      label: 'Link',
      value: `${baseUrl()}/portal/invitation#${token}`,
      hint: 'We can’t show it again. Anybody who has it can use it, so send it only to them.',
    },
  ]);
});

export const withdraw: PortalPage = async ({ act, params }, { engine }) => {
  const { email } = await withdrawInvitation(engine, { ...act, id: params.id ?? '' });
  return redirect('/portal/people', `The invitation to ${email} is withdrawn.`);
};

export const requireOfAll: PortalPage = async ({ act, form: filled }, { engine }) => {
  const isRequired = filled.get('required') === 'yes';
  await requireSecondFactor(engine, { ...act, isRequired });
  const text = `A second factor is ${isRequired ? 'now required of all administrators' : 'no longer required'}.`;
  return redirect('/portal/people', text);
};

function requirement(visit: Visit): Html {
  const { company, administrator } = visit;
  const isRequired = company.secondFactorRequired;
  return html`<h2>Second factor</h2>
    <p>
      ${
        isRequired
          ? `${company.name} requires a second factor of every administrator with a password. Anyone without one has to set it up first.`
          : 'Each administrator chooses whether to sign in with a code from an app as well. You can require it of everyone with a password.'
      }
    </p>
    ${
      isRequired || administrator.hasSecondFactor
        ? form(
            visit,
            { action: '/portal/people/second-factor' },
            html`<input type="hidden" name="required" value="${isRequired ? 'no' : 'yes'}" />
              ${button(isRequired ? 'Stop requiring a second factor' : 'Require a second factor', 'quiet')}`,
          )
        : html`<p class="hint">
            Set up <a href="/portal/account/second-factor">your own</a> before you require it of others.
          </p>`
    }`;
}

function accessOf({ scopes, mayInvite }: Pick<Administrator, 'scopes' | 'mayInvite'>): Html {
  return html`<span class="scopes">${scopes.join(', ')}</span
    >${mayInvite && html` ${badge('plain', 'May invite')}`}`;
}

function invitationTable(visit: Visit, invitations: readonly PortalLink[]): Html {
  return table({
    caption: 'Open invitations',
    columns: ['Email address', 'Access', named('Valid until'), 'Action'],
    rows: invitations.map((invitation) => [
      emailText(invitation.email),
      accessOf(invitation),
      time(visit, invitation.expiresAt),
      withdrawal(visit, invitation),
    ]),
    empty: [
      'No open invitations',
      'Invitations are listed here until they are accepted, withdrawn or expire.',
    ],
  });
}

function withdrawal(visit: Visit, invitation: PortalLink) {
  const { administrator } = visit;
  const reason = whyNotWithdraw(invitation, administrator);
  if (reason !== undefined) return administrator.mayInvite && html`<span class="hint">${reason}</span>`;
  return confirmForm(visit, {
    action: `/portal/people/invitations/${invitation.id}/withdraw`,
    open: 'Withdraw',
    subject: `the invitation to ${invitation.email}`,
    question: 'The link stops working immediately.',
    confirm: 'Withdraw',
  });
}

function inviteForm(visit: Visit, isMailing: boolean, problems: Problems): Html {
  const { form: filled } = visit;
  return form(
    visit,
    { action: '/portal/people/invite', problem: problems.form },
    html`${textField({
      name: 'email',
      label: 'Their email address',
      hint: `They sign in with it.${isMailing ? '' : ' We don’t email it: you get a link to send them.'}`,
      type: 'email',
      value: filled.get('email'),
      problem: problems.email,
      lengthMax: 254,
    })}
    ${accessFields(visit, accessIn(filled), {
      hint: 'You can give any access that you have.',
      problem: problems.scopes,
    })}
    ${
      isMailing &&
      checkboxes({
        name: 'mail',
        label: 'The link',
        choices: [{ value: 'yes', label: 'Email it to them; otherwise you send it yourself' }],
        chosen: ['yes'],
      })
    }
    ${button('Create invitation')}`,
  );
}
