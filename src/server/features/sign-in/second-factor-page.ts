import {
  addSecondFactor,
  proposeSecondFactor,
  removeSecondFactor,
  renewRecoveryCodes,
} from './second-factor.ts';
import { UsageError } from '../../../errors.ts';
import {
  type Account,
  type Administrator,
  lacksSecondFactor,
} from '../../store/accounts/administrator-rows.ts';
import { action } from '../../views/action.ts';
import { button, confirmForm, form, textField } from '../../views/form.ts';
import { counted } from '../../views/formats.ts';
import { type Html, html } from '../../views/html.ts';
import { secretBox } from '../../views/notice.ts';
import { qrCode } from '../../views/qr-code.ts';
import { page, type PortalPage, redirect, type RedirectReply, type Visit } from '../../views/visit.ts';

export const SECOND_FACTOR_PATH = '/portal/account/second-factor';

export const showSecondFactor: PortalPage = (visit, { secrets, serviceName }, problems = {}) => {
  // Problems other than a wrong code can't be fixed in the form.
  if (problems.form !== undefined) throw new UsageError(problems.form);
  const { company, administrator } = visit;
  const options = { issuer: `${serviceName} ${company.id}`, sealed: visit.form.get('sealed') ?? undefined };
  const { secret, uri, sealed } = proposeSecondFactor(secrets, administrator, options);
  return page(
    'Set up a second factor',
    html`${company.secondFactorRequired && lacksSecondFactor(administrator) && html`<p>${company.name} requires a second factor of every administrator.</p>`}
      <p>
        Scan this code with an authenticator app on your phone. The app then shows a new code every 30
        seconds,
        ${administrator.hasPassword ? 'which you enter after your password when you sign in' : 'which confirms changes that you make here'}.
      </p>
      ${qrCode(uri, 'QR code of the secret below')}
      <p>
        If this is your phone, <a href="${uri}">open the code in your authenticator app</a>. If you can’t scan
        it, enter the secret in the app.
      </p>
      ${secretBox('app-secret', {
        label: 'Secret',
        // Groups are set apart by style alone, so that a copy has no blanks.
        value: secret.match(/.{4}/g)?.map((group) => html`<span>${group}</span>`),
      })}
      ${form(
        visit,
        { action: SECOND_FACTOR_PATH },
        html`<input type="hidden" name="sealed" value="${sealed}" />
          ${textField({ name: 'code', label: 'Code from the app', problem: problems.code, autocomplete: 'one-time-code', lengthMax: 20 })}
          ${button('Set up')} <a href="/portal/account">Cancel</a>`,
      )}`,
    { section: 'account' },
  );
};

export const addOwnSecondFactor = action(showSecondFactor, async (visit, { engine, secrets }) => {
  const { act, form: filled } = visit;
  const [sealed, code] = [filled.get('sealed') ?? '', filled.get('code') ?? ''];
  const codes = await addSecondFactor(engine, secrets, { ...act, sealed, code });
  return withRecoveryCodes('Your second factor is set up. You are signed out everywhere else.', codes);
});

export const renewOwnRecoveryCodes: PortalPage = async ({ act }, { engine }) =>
  withRecoveryCodes(
    'You have new recovery codes. The old ones no longer work.',
    await renewRecoveryCodes(engine, act),
  );

export const removeOwnSecondFactor: PortalPage = async ({ act, administrator }, { engine }) => {
  await removeSecondFactor(engine, act);
  return redirect('/portal/account', `Your second factor is removed. ${withoutFactor(administrator)}`);
};

function withRecoveryCodes(text: string, codes: readonly string[]): RedirectReply {
  const hint =
    'Each code works once, in place of a code from the app. We can’t show them again: print them, or keep them in a password manager.';
  const [value, file] = [codes.join('\r\n'), 'recovery-codes.txt'];
  return redirect('/portal/account', text, [{ label: 'Recovery codes', value, hint, file }]);
}

const withoutFactor = ({ hasPassword }: Administrator) =>
  `You’ll sign in with only your ${hasPassword ? 'password' : 'business system'}.`;

/** Renders the account page's part about the second factor. */
export function secondFactorPart(visit: Visit, factor: Account['secondFactor']): Html {
  const { hasPassword } = visit.administrator;
  if (!factor)
    return html`<p>
        ${
          hasPassword
            ? 'Only your password protects your account. With a second factor, you also need a code from an app on your phone.'
            : 'Your business system signs you in. With a second factor, a code from an app on your phone confirms changes that you make here.'
        }
      </p>
      <p><a class="button" href="${SECOND_FACTOR_PATH}">Set up a second factor</a></p>`;
  const left = factor.recoveryCodes.length;
  return html`<p>
      ${hasPassword ? 'Signing in asks for' : 'Changes are confirmed by'} a code from your authenticator app.
      ${counted(left, 'recovery code is', 'recovery codes are')} left.
      <a href="${SECOND_FACTOR_PATH}">Move it to another device</a>
    </p>
    ${form(visit, { action: `${SECOND_FACTOR_PATH}/codes` }, button('Make new recovery codes', 'quiet'))}
    ${
      visit.company.secondFactorRequired
        ? html`<p class="hint">${visit.company.name} requires a second factor, so you can’t remove yours.</p>`
        : confirmForm(visit, {
            action: `${SECOND_FACTOR_PATH}/remove`,
            open: 'Remove',
            subject: 'the second factor',
            question: withoutFactor(visit.administrator),
            confirm: 'Remove',
          })
    }`;
}
