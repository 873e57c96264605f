import { noticeChoices, noticeTexts } from './texts.ts';
import { stopMails } from './stopping.ts';
import { updateAdministratorRow } from '../../store/accounts/administrator-rows.ts';
import { authorisedTransaction } from '../../store/accounts/authorised-transaction.ts';
import { listNotices, markSeen, type Notice, NOTICES_LISTED_MAX } from '../../store/accounts/notice-rows.ts';
import { button, checkboxes, form } from '../../views/form.ts';
import { time } from '../../views/formats.ts';
import { type Html, html } from '../../views/html.ts';
import { table } from '../../views/table.ts';
import { type GuestPage, page, type PortalPage, redirect, type Visit } from '../../views/visit.ts';

const NOBODY_IS_MAILED = 'No emails are sent: this service has no mail server.';

/** Shows the signed-in administrator's notices of the last 30 days. */
export const showNotices: PortalPage = async (visit, { engine, serviceName, isMailing = false }) => {
  const notices = await listNotices(engine, visit.administrator);
  if (!isMailing) await markSeen(engine, visit.administrator);
  return page(
    'Notices',
    html`<p>
        Your notices of the last 30 days, up to ${NOTICES_LISTED_MAX}.
        ${isMailing ? `We email them to ${visit.administrator.email}.` : NOBODY_IS_MAILED}
        <a href="/portal/account#mails">Choose your emails</a>
      </p>
      ${table({
        caption: 'Notices',
        columns: ['Time', 'Notice'],
        rows: notices.map((notice) => {
          const { subject, text, path } = noticeTexts(notice, visit.company, serviceName);
          const words = html`<a href="${path}">${subject}</a><br />
            <span class="hint">${text} ${mailText(notice, isMailing)}.</span>`;
          return [time(visit, notice.createdAt), words];
        }),
        empty: [
          'No notices',
          'We tell you here when a webhook is failing, or when people, keys or webhooks change.',
        ],
      })}`,
    { section: isMailing ? 'account' : 'notices' },
  );
};

function mailText({ state, problem }: Notice, isMailing: boolean): string {
  const reason =
    problem && (/^\d/.test(problem) ? `: refused with ${problem}` : ': the mail server didn’t respond');
  const states = {
    sent: 'Mailed',
    muted: 'Not emailed, as you chose',
    seen: 'Not emailed',
    failed: 'Could not be emailed',
    sending: 'Waiting to be emailed',
    waiting: 'Waiting to be emailed',
  };
  const isOpen = state === 'waiting' || state === 'sending';
  return isOpen && !isMailing ? 'Not emailed' : `${states[state]}${reason ?? ''}`;
}

/** Renders the form on the account page in which its owner chooses which notices are mailed. */
export function noticesForm(visit: Visit, isMailing: boolean): Html {
  const { mutedNotices = [] } = visit.administrator;
  return html`<p id="mails"><a href="/portal/notices">See your notices</a></p>
    ${
      isMailing
        ? form(
            visit,
            { action: '/portal/account/notices' },
            html`${checkboxes({
              name: 'notices',
              label: 'Email me when',
              hint: 'We always email you about sign-ins from a new browser, and changes to your password, second factor and access, so that nobody who gets into your account can hide it.',
              choices: noticeChoices,
              chosen: noticeChoices
                .map(({ value }) => value)
                .filter((value) => !mutedNotices.includes(value)),
            })}
            ${button('Save')}`,
          )
        : html`<p class="hint">${NOBODY_IS_MAILED}</p>`
    }`;
}

export const saveNoticeSettings: PortalPage = async ({ administrator, act, form: filled }, { engine }) => {
  const wanted = filled.getAll('notices');
  const mutedNotices = noticeChoices.map(({ value }) => value).filter((value) => !wanted.includes(value));
  await authorisedTransaction(engine, act, ({ transaction }) =>
    updateAdministratorRow(transaction, administrator, { mutedNotices }),
  );
  return redirect('/portal/account', 'Your choice of emails is saved.');
};

/** Shows the page behind the stop link of a mail. Opening it stops nothing, because mail scanners open links. */
export const showStop: GuestPage = (visit) =>
  page(
    'Stop emails of this kind',
    form(
      visit,
      { action: visit.path },
      html`<p>You can choose again on your account page.</p>
        ${button('Stop these emails')}`,
    ),
  );

/** Stops mails, at the button of the stop page or by a mail program's single request (RFC 8058) without a form token. */
export const stopByLink: GuestPage = async ({ params }, { engine }) =>
  (await stopMails(engine, params.code ?? ''))
    ? page('No more emails of this kind', html`<p>You can choose again on your account page.</p>`)
    : page(
        'This link can’t be used',
        html`<p>Its notice is too old. Choose your emails on your account page.</p>`,
        {
          isRefused: true,
        },
      );
