import { signIn } from './sign-in.ts';
import { PASSWORDS_OFF } from './passwords.ts';
import { endSessions } from './sessions.ts';
import { guessRefusal } from '../../views/page-error.ts';
import { button, form, textField, withQuery } from '../../views/form.ts';
import { COMPANIES_PATH } from './choose-company-page.ts';
import { html } from '../../views/html.ts';
import {
  type GuestPage,
  type GuestVisit,
  ownPath,
  page,
  type PortalPage,
  type PageReply,
  redirect,
  signedOut,
} from '../../views/visit.ts';

export const showSignIn: GuestPage = (visit, { passwordsOff }) =>
  passwordsOff
    ? page('Sign in', html`<p>${PASSWORDS_OFF}</p>`)
    : signInPage(visit, { next: visit.query.get('next') });

/** Begins a new session, which prevents session fixation. */
export const signInWithPassword: GuestPage = async (visit, services) => {
  const { form: filled, tokens: formerTokens } = visit;
  const { engine, limits, sessionLengths: lengths } = services;
  const email = filled.get('email') ?? '';
  const next = filled.get('next');
  try {
    const password = filled.get('password') ?? '';
    const attempt = { ...visit, email, password, formerTokens, lengths };
    const { tokens, isWaiting, browser } = await signIn(engine, limits, attempt);
    const to = isWaiting ? withQuery(COMPANIES_PATH, { next: next ?? undefined }) : ownPath(next);
    return { ...redirect(to), sessions: tokens, browser };
  } catch (error) {
    return signInPage(visit, { email, next, ...guessRefusal(error) });
  }
};

export const signOut: PortalPage = async ({ act, session, tokens }, { engine }) => {
  await endSessions(engine, { ...act, id: session.id, tokens });
  return signedOut;
};

function signInPage(
  visit: GuestVisit,
  {
    email = '',
    next,
    problem,
    status,
  }: { email?: string; next: string | null; problem?: string; status?: number },
): PageReply {
  const content = html`${visit.query.has('left') && html`<p class="notice done" role="status">You have signed out.</p>`}
    ${visit.query.has('over') && html`<p class="notice" role="status">Your session has ended: it wasn’t used for a while, or was ended elsewhere. Sign in again to go on.</p>`}
    ${form(
      visit,
      { action: '/portal/sign-in', problem },
      html`${next !== null && html`<input type="hidden" name="next" value="${ownPath(next)}" />`}
      ${textField({
        name: 'email',
        label: 'E-mail address',
        type: 'email',
        value: email,
        autocomplete: 'username',
        lengthMax: 254,
      })}
      ${textField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
      ${button('Sign in')}`,
    )}
    <p class="hint">
      An invitation gives you an account: ask another administrator of your company for one.
      <a href="/portal/forgotten">Have you forgotten your password?</a>
    </p>`;
  return page('Sign in', content, status === undefined ? {} : { status });
}
