import { signIn } from './sign-in.ts';
import { PASSWORDS_OFF } from './passwords.ts';
import { endSessions } from './sessions.ts';
import { action } from '../../views/action.ts';
import { button, emailField, form, textField, withQuery } from '../../views/form.ts';
import { COMPANIES_PATH } from './choose-company-page.ts';
import { html } from '../../views/html.ts';
import {
  type GuestPage,
  ownPath,
  page,
  type PortalPage,
  redirect,
  signedOutRedirect,
} from '../../views/visit.ts';

export const showSignIn: GuestPage = (visit, { passwordsOff }, problems = {}) => {
  if (passwordsOff) return page('Sign in', html`<p>${PASSWORDS_OFF}</p>`);
  const { form: filled } = visit;
  const next = filled.get('next') ?? visit.query.get('next');
  const content = html`${visit.query.has('left') && html`<p class="notice done" role="status">You have signed out.</p>`}
    ${visit.query.has('over') && html`<p class="notice" role="status">Your session has ended: it wasn’t used for a while, or was ended elsewhere. Sign in again to continue.</p>`}
    ${form(
      visit,
      { action: '/portal/sign-in', problem: problems.form },
      html`${next !== null && html`<input type="hidden" name="next" value="${ownPath(next)}" />`}
      ${emailField(filled.get('email'))}
      ${textField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
      ${button('Sign in')}`,
    )}
    <p class="hint">
      No account? Ask an administrator of your company to invite you.
      <a href="/portal/forgotten">Forgotten your password?</a>
    </p>`;
  return page('Sign in', content);
};

/** Begins a new session, which prevents session fixation. */
export const signInWithPassword = action(
  showSignIn,
  async (visit, { engine, limits, sessionLengths: lengths }) => {
    const { form: filled, tokens: formerTokens } = visit;
    const [email, password] = [filled.get('email') ?? '', filled.get('password') ?? ''];
    const next = filled.get('next');
    const attempt = { ...visit, email, password, formerTokens, lengths };
    const { tokens, isWaiting, browser } = await signIn(engine, limits, attempt);
    const to = isWaiting ? withQuery(COMPANIES_PATH, { next: next ?? undefined }) : ownPath(next);
    return { ...redirect(to), sessions: tokens, browser };
  },
  { guessed: 'form' },
);

export const signOut: PortalPage = async ({ act, session, tokens }, { engine }) => {
  await endSessions(engine, { ...act, id: session.id, tokens });
  return signedOutRedirect;
};
