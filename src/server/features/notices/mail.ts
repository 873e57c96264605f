import { html } from '../../views/html.ts';
import type { Notice } from '../../store/accounts/notice-rows.ts';
import { choiceOf, noticeTexts } from './texts.ts';

export interface MailSettings {
  /** The service's own address in `From`. */
  from: string;
  serviceName: string;
  /** As a `data:` URL. */
  logo?: string | undefined;
  /** Where the portal is, without a path. */
  baseUrl: string;
}

/** The recipient of a mail, and of a link that it brings the code and the end. */
export interface Recipient {
  to: string;
  token?: string;
  expiresAt?: string;
}

/**
 * The mail of a notice, as nodemailer takes it: plain text, and the same in HTML.
 *
 * A mail program stops further ones with one request, which its user sees as a button (RFC 8058). The link in the text leads to
 * a page with a button, because mail scanners open links, and some run scripts. Attempts of a mail share their `Message-ID`: many
 * programs show a mail once that came twice.
 */
export function mailOf(
  notice: Notice,
  { to, token, expiresAt = '', company }: Recipient & { company: { name: string; timeZone: string } },
  { from, serviceName, logo, baseUrl, stopCode }: MailSettings & { stopCode: string },
) {
  const details = { ...notice.details, expires: expiresAt };
  const texts = noticeTexts({ kind: notice.kind, details }, company, serviceName, { isMail: true });
  const { subject, text, path } = texts;
  const address = token === undefined ? `${baseUrl}${path}` : `${baseUrl}/portal/invitation#${token}`;
  const stop = choiceOf(notice.kind) && `${baseUrl}/portal/notices/stop/${stopCode}`;
  const what = notice.administrator === null ? 'an invitation to' : 'your account of';
  const picture = pictureOf(logo);
  const because = `You get this because of ${what} ${texts.company} in ${serviceName}.`;
  return {
    from: { name: serviceName, address: from },
    to: { name: '', address: to },
    subject,
    // Each attempt of a mail with a link brings another link, so a program must not take them for the same.
    messageId: `<${notice.id}${token === undefined ? '' : `.${notice.attemptCount}`}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: {
      // RFC 3834 section 5: no program answers it.
      'Auto-Submitted': 'auto-generated',
      ...(stop && { 'List-Unsubscribe': `<${stop}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
    },
    text: [text, address, `-- \n${because}`, stop && `Stop mails of this kind: ${stop}`]
      .filter(Boolean)
      .join('\n\n'),
    // With the mail, because mail programs load no pictures from elsewhere without asking.
    attachments: picture ? [picture] : [],
    html: html`<!doctype html>
      <html lang="en-GB">
        <body style="max-width: 36em; font-family: sans-serif">
          <p>${picture && html`<img src="cid:logo" alt="" height="40" /> `}<strong>${serviceName}</strong></p>
          <h1 style="font-size: 1.3em">${subject}</h1>
          <p>${text}</p>
          <p><a href="${address}">${token === undefined ? 'Open the portal' : 'Use the link'}</a></p>
          <hr />
          <p>${because} ${stop && html`<a href="${stop}">Stop mails of this kind</a>`}</p>
        </body>
      </html>`.toString(),
  };
}

/** A logo as a part of a mail. */
function pictureOf(logo: string | undefined) {
  const [, contentType, content] = /^data:([^;]+);base64,(.*)$/.exec(logo ?? '') ?? [];
  return content ? { cid: 'logo', filename: 'logo', content, encoding: 'base64', contentType } : undefined;
}
