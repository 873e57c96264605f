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
        These people administer ${company.name} here. They can give a key the access that they have
        themselves.
      </p>
      ${table({
        caption: 'Administrators',
        columns: ['Name', 'E-mail address', 'Access', named('Last signed in'), 'Action'],
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
      <h2>Invite somebody</h2>
      ${
        passwordsOff
          ? emptyState('Nobody is invited here', PASSWORDS_OFF)
          : administrator.mayInvite
            ? inviteForm(visit, isMailing, problems)
            : emptyState('You can’t invite anybody', 'Ask an administrator who may invite others.')
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
    const mailed = `${invitation.email} is invited, and the link is mailed. It works once, until ${until}.`;
    return redirect('/portal/people', mailed);
  }
  const text = `${invitation.email} is invited. Send them this link; it works once, until ${until}.`;
  return redirect('/portal/people', text, [
    {
      label: 'Link',
      value: `${baseUrl()}/portal/invitation#${token}`,
      hint: 'It is shown only now. Anybody who has it can use it, so send it to that person alone.',
    },
  ]);
});

export const withdraw: PortalPage = async ({ act, params }, { engine }) => {
  const { email } = await withdrawInvitation(engine, { ...act, id: params.id ?? '' });
  return redirect('/portal/people', `The invitation of ${email} is withdrawn.`);
};

export const requireOfAll: PortalPage = async ({ act, form: filled }, { engine }) => {
  const isRequired = filled.get('required') === 'yes';
  await requireSecondFactor(engine, { ...act, isRequired });
  const text = `A second factor is ${isRequired ? 'required of all administrators now' : 'no longer required'}.`;
  return redirect('/portal/people', text);
};

function requirement(visit: Visit): Html {
  const { company, administrator } = visit;
  const isRequired = company.secondFactorRequired;
  return html`<h2>Second factor</h2>
    <p>
      ${
        isRequired
          ? `${company.name} requires a second factor of all its administrators who have a password. Whoever has none sets one up before anything else.`
          : 'Each administrator decides whether signing in also asks for a code of an app. You can require it of all who have a password.'
      }
    </p>
    ${
      isRequired || administrator.hasSecondFactor
        ? form(
            visit,
            { action: '/portal/people/second-factor' },
            html`<input type="hidden" name="required" value="${isRequired ? 'no' : 'yes'}" />
              ${button(isRequired ? 'No longer require it' : 'Require it of all', 'quiet')}`,
          )
        : html`<p class="hint">
            To require it, set up <a href="/portal/account/second-factor">your own</a> first.
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
    columns: ['E-mail address', 'Access', named('Valid until'), 'Action'],
    rows: invitations.map((invitation) => [
      emailText(invitation.email),
      accessOf(invitation),
      time(visit, invitation.expiresAt),
      withdrawal(visit, invitation),
    ]),
    empty: [
      'Nobody is invited',
      'Invitations are listed here until they are accepted, withdrawn or expired.',
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
    subject: `the invitation of ${invitation.email}`,
    question: 'The link stops working at once.',
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
      label: 'Their e-mail address',
      hint: `They sign in with it.${isMailing ? '' : ' No message is sent: you get a link to send them.'}`,
      type: 'email',
      value: filled.get('email'),
      problem: problems.email,
      lengthMax: 254,
    })}
    ${accessFields(visit, accessIn(filled), {
      hint: 'You can give the access that you have yourself.',
      problem: problems.scopes,
    })}
    ${
      isMailing &&
      checkboxes({
        name: 'mail',
        label: 'The link',
        choices: [{ value: 'yes', label: 'Mail it to them; otherwise you get it to send yourself' }],
        chosen: ['yes'],
      })
    }
    ${button('Make an invitation')}`,
  );
}
