import { changePassword } from '../../access/administrators.ts';
import { endSessions, listSessions, type SessionLengths } from '../../access/sessions.ts';
import type { SignInLimits } from '../../access/sign-in-limits.ts';
import { AppError } from '../../errors.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { type Problems, problemsOf } from '../page-error.ts';
import {
  accountField,
  button,
  confirmForm,
  form,
  newPasswordFields,
  newPasswordIn,
  textField,
} from '../views/form.ts';
import { browserName, time } from '../views/formats.ts';
import { html } from '../views/html.ts';
import { badge } from '../views/notice.ts';
import { facts, table } from '../views/table.ts';
import { page, type Page, type PageReply, redirect, signedOut, type Visit } from '../visit.ts';

interface Needs {
  engine: Engine;
  sessionLengths: SessionLengths;
}

export function showAccount(needs: Needs): Page {
  return (visit) => accountPage(needs, visit);
}

export function changeOwnPassword({ limits, ...needs }: Needs & { limits: SignInLimits }): Page {
  return async (visit) => {
    const { administrator, signedIn, form: filled, now } = visit;
    try {
      const browser = await changePassword(needs.engine, limits, {
        administrator,
        by: signedIn,
        present: filled.get('present') ?? '',
        next: newPasswordIn(filled),
        browser: visit.browser,
        now,
      });
      const done = redirect('/portal/account', {
        kind: 'done',
        text: 'Your password is changed. You are signed out everywhere else.',
      });
      return { ...done, browser };
    } catch (error) {
      if (error instanceof AppError) throw error;
      return accountPage(needs, visit, problemsOf(error));
    }
  };
}

export function endOtherSession(engine: Engine): Page {
  return async ({ company, signedIn, session, params, now }) => {
    const id = params.id ?? '';
    await endSessions(engine, { company: company.id, by: signedIn, now, id });
    if (id === session.id) return signedOut;
    return redirect('/portal/account', { kind: 'done', text: 'The session has ended.' });
  };
}

export function signOutEverywhere(engine: Engine): Page {
  return async ({ company, signedIn, now }) => {
    await endSessions(engine, { company: company.id, by: signedIn, now });
    return signedOut;
  };
}

async function accountPage(
  { engine, sessionLengths }: Needs,
  visit: Visit,
  problems: Problems = {},
): Promise<PageReply> {
  const { administrator, session: own, now } = visit;
  const sessions = await listSessions(engine, administrator.id, sessionLengths, now);
  return page(
    'Your account',
    html`${facts([
        ['Name', administrator.name],
        ['E-mail address', administrator.email],
        ['Access', administrator.scopes.join(', ')],
        [
          'Other administrators',
          administrator.mayInvite ? 'You may invite and remove them' : 'You may see them',
        ],
      ])}
      <h2>Password</h2>
      ${passwordForm(visit, problems)}
      <h2>Where you are signed in</h2>
      ${table({
        caption: 'Where you are signed in',
        columns: ['Browser', 'Signed in', 'Last used', 'Ends at the latest', 'Action'],
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
              question: 'The browser is signed out at once.',
              confirm: 'End it',
            }),
        ]),
      })}
      ${form(visit, { action: '/portal/account/sign-out-everywhere' }, button('Sign out everywhere', 'quiet'))}`,
    { section: 'account', isRefused: Object.keys(problems).length > 0 },
  );
}

function passwordForm(visit: Visit, problems: Problems) {
  return form(
    visit,
    { action: '/portal/account/password', problem: problems.form },
    html`${accountField(visit.administrator.email)}
    ${textField({
      name: 'present',
      label: 'Present password',
      problem: problems.present,
      type: 'password',
      autocomplete: 'current-password',
    })}
    ${newPasswordFields(problems)} ${button('Change the password')}`,
  );
}
