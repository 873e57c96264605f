import { changePassword } from '../sign-in/sign-in.ts';
import { endSessions, listSessions } from '../sign-in/sessions.ts';
import { findAccount } from '../../store/accounts/administrator-rows.ts';
import { action } from '../../views/action.ts';
import type { Problems } from '../../views/page-error.ts';
import {
  accountField,
  button,
  confirmForm,
  form,
  newPasswordFields,
  newPasswordIn,
  textField,
} from '../../views/form.ts';
import { browserName, time } from '../../views/formats.ts';
import { html } from '../../views/html.ts';
import { badge } from '../../views/notice.ts';
import { facts, named, table } from '../../views/table.ts';
import { noticesForm } from '../notices/notices-page.ts';
import { secondFactorPart } from '../sign-in/second-factor-page.ts';
import { page, type PortalPage, redirect, signedOutRedirect, type Visit } from '../../views/visit.ts';

export const showAccount: PortalPage = async (
  visit,
  { engine, sessionLengths, passwordsOff, isMailing = false },
  problems = {},
) => {
  const { administrator, session: own, now } = visit;
  const sessions = await listSessions(engine, administrator, sessionLengths, now);
  const { company, id } = administrator;
  const account = await findAccount(engine.db, { company, id });
  return page(
    'Your account',
    html`${facts([
        ['Name', administrator.name],
        ['Email address', administrator.email],
        ['Access', administrator.scopes.join(', ')],
        [
          'Other administrators',
          administrator.mayInvite ? 'You can invite and remove others' : 'You can see them',
        ],
      ])}
      <h2>Notices</h2>
      ${noticesForm(visit, isMailing)}
      <h2>Password</h2>
      ${passwordsOff || !administrator.hasPassword ? html`<p>You sign in through your business system, without a password.</p>` : passwordForm(visit, problems)}
      <h2>Second factor</h2>
      ${secondFactorPart(visit, account?.secondFactor)}
      <h2>Where you are signed in</h2>
      ${table({
        caption: 'Where you are signed in',
        columns: ['Browser', named('Signed in'), named('Last used'), named('Ends by'), 'Action'],
        rows: sessions.map((session) => [
          html`${browserName(session.client)}${session.id === own.id && html` ${badge('plain', 'This one')}`}`,
          time(visit, session.createdAt),
          time(visit, session.seenAt),
          time(visit, session.expiresAt),
          session.id !== own.id &&
            confirmForm(visit, {
              action: `/portal/account/sessions/${session.id}/end`,
              open: 'End',
              subject: 'this session',
              question: 'The browser is signed out immediately.',
              confirm: 'End',
            }),
        ]),
      })}
      ${confirmForm(visit, {
        action: '/portal/account/sign-out-everywhere',
        open: 'Sign out everywhere',
        subject: '',
        question: 'All these browsers are signed out immediately, including this one.',
        confirm: 'Sign out everywhere',
      })}`,
    { section: 'account' },
  );
};

export const changeOwnPassword = action(showAccount, async (visit, { engine, limits, serviceName }) => {
  const { administrator, act, form: filled, browser: known } = visit;
  const browser = await changePassword(engine, limits, {
    ...{ administrator, by: act.by, serviceName, browser: known, now: act.now },
    present: filled.get('present') ?? '',
    next: newPasswordIn(filled),
  });
  const text = `Your password is changed, and you are signed out of ${visit.company.name} everywhere else.`;
  return { ...redirect('/portal/account', text), browser };
});

/** Ends one of the signed-in administrator's own sessions, or all of them. */
export const endOwnSessions: PortalPage = async (visit, { engine }) => {
  const { act, session, tokens, params } = visit;
  const isOther = params.id !== undefined && params.id !== session.id;
  await endSessions(engine, { ...act, id: params.id, tokens: isOther ? [] : tokens });
  return isOther ? redirect('/portal/account', 'The session has ended.') : signedOutRedirect;
};

function passwordForm(visit: Visit, problems: Problems) {
  return form(
    visit,
    { action: '/portal/account/password', problem: problems.form },
    html`${accountField(visit.administrator.email)}
    ${textField({
      name: 'present',
      label: 'Current password',
      problem: problems.present,
      type: 'password',
      autocomplete: 'current-password',
    })}
    ${newPasswordFields(problems)} ${button('Change the password')}`,
  );
}
