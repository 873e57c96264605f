import { html } from '../../views/html.ts';
import type { Notice } from '../../store/accounts/notice-rows.ts';
import { choiceOf, noticeTexts } from './texts.ts';

export interface MailSettings {
  /** The service's own address, for `From`. */
  from: string;
  serviceName: string;
  /** The logo as a `data:` URL. */
  logo?: string | undefined;
  /** The portal's URL, without a path. */
  baseUrl: string;
}

/** The recipient of a mail, and the token and expiry of the link in it, if any. */
export interface Recipient {
  to: string;
  token?: string;
  expiresAt?: string;
}

/**
 * Builds the mail of a notice for nodemailer, in plain text and in HTML.
 *
 * A mail program can unsubscribe with one request, which its user sees as a button (RFC 8058). The link in the text leads to
 * a page with a button, because mail scanners open links, and some run scripts. Attempts of a mail share their `Message-ID`,
 * so that many programs show a mail only once even if it arrives twice.
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
  const because = `You get this because of ${what} ${texts.company} on ${serviceName}.`;
  return {
    from: { name: serviceName, address: from },
    to: { name: '', address: to },
    subject,
    // Each attempt of a mail with a link brings a new link, so programs must not take two attempts for the same mail.
    messageId: `<${notice.id}${token === undefined ? '' : `.${notice.attemptCount}`}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: {
      // RFC 3834 section 5: tells programs not to reply automatically.
      'Auto-Submitted': 'auto-generated',
      ...(stop && { 'List-Unsubscribe': `<${stop}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
    },
    text: [text, address, `-- \n${because}`, stop && `Stop emails of this kind: ${stop}`]
      .filter(Boolean)
      .join('\n\n'),
    // The logo is attached, because mail programs don't load remote pictures without asking.
    attachments: picture ? [picture] : [],
    html: html`<!doctype html>
      <html lang="en-GB">
        <body style="max-width: 36em; font-family: sans-serif">
          <p>${picture && html`<img src="cid:logo" alt="" height="40" /> `}<strong>${serviceName}</strong></p>
          <h1 style="font-size: 1.3em">${subject}</h1>
          <p>${text}</p>
          <p><a href="${address}">${token === undefined ? 'Open the portal' : 'Use the link'}</a></p>
          <hr />
          <p>${because} ${stop && html`<a href="${stop}">Stop emails of this kind</a>`}</p>
        </body>
      </html>`.toString(),
  };
}

/** Converts a logo to an attachment; undefined if there is none. */
function pictureOf(logo: string | undefined) {
  const [, contentType, content] = /^data:([^;]+);base64,(.*)$/.exec(logo ?? '') ?? [];
  return content ? { cid: 'logo', filename: 'logo', content, encoding: 'base64', contentType } : undefined;
}
