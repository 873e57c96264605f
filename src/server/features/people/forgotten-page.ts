import { canonicalEmail, EMAIL_CHARACTERS_MAX } from '../../access/checked-input.ts';
import { askForReset } from './mailed-links.ts';
import { notFound } from '../../views/page-error.ts';
import { button, emailField, form } from '../../views/form.ts';
import { supportLink } from '../../views/formats.ts';
import { html } from '../../views/html.ts';
import { type GuestPage, page } from '../../views/visit.ts';

export const showForgotten: GuestPage = (visit, { isMailing, passwordsOff }) => {
  const mailForm = html`<p>We’ll email you a link to set a new password.</p>
    ${emailField()} ${button('Email me the link')}`;
  return page(
    'Forgotten password',
    isMailing && !passwordsOff
      ? form(visit, { action: '/portal/forgotten' }, mailForm)
      : html`<p>
          Ask ${supportLink('the operator of this service', visit.supportUrl)} for a link to set a new one.
        </p>`,
  );
};

/** Requests a password-reset mail. The response and its timing are the same whether or not the address has an account. */
export const mailReset: GuestPage = async (visit, { engine, limits, isMailing }) => {
  if (!isMailing) throw notFound();
  const { form: filled, address, client, now } = visit;
  const email = canonicalEmail(filled.get('email') ?? '').slice(0, EMAIL_CHARACTERS_MAX);
  if (await limits.mayAskForReset({ email, address }))
    visit.afterwards(() => askForReset(engine, { email, address, client, now }));
  return page(
    'Check your inbox',
    html`<p>
        If this address has an account, a link is on its way. It works for an hour, and only the newest works.
        We send up to three an hour.
      </p>
      <p>
        Nothing there? Check your spam folder, or ask
        ${supportLink('the operator of this service', visit.supportUrl)} for a link.
      </p>
      <p><a href="/portal/sign-in">Go to the sign-in page</a></p>`,
  );
};
