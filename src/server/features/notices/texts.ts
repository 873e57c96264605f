import { withoutDirections } from '../../../errors.ts';
import { browserName, momentText, timeText } from '../../views/formats.ts';
import { outcomeText } from '../../sending/attempt-errors.ts';
import type { Notice, NoticeKind } from '../../store/accounts/notice-rows.ts';

/** The text templates of a kind of notice. Names in braces stand for its details, the company or the service. */
interface Template {
  subject: string;
  /** The subject when people were told before and the cause hasn't ended since. */
  again?: string;
  text: string;
  /** The portal page that the notice links to; the account page by default. */
  path?: string;
  /**
   * Label of the checkbox with which an administrator chooses to get this kind by email. A notice about the recipient's own account has none: somebody who breaks into
   * an account would stop those first.
   */
  choice?: string;
}

const changed = {
  subject: 'Your password was changed',
  text: 'A new password was set for your account, and other browsers were signed out. If it wasn’t you, tell another administrator or the operator of {service} now.',
};

const templates: Record<NoticeKind, Template> = {
  'webhook.failing': {
    subject: 'The webhook to {name} is failing',
    again: 'The webhook to {name} is still failing',
    text: 'Nothing has been delivered to {host} since {since}. {cause} Deliveries waiting: {waiting}; failed or held: {unsent}. We’ll tell you each day while it is failing.',
    path: '/portal/webhooks/{webhook}',
    choice:
      'A webhook has been failing for 15 minutes (then daily), works again, or is paused and about to lose deliveries',
  },
  'webhook.recovered': {
    subject: 'The webhook to {name} works again',
    text: 'It was failing from {since} to {until}. Failed or held deliveries that you can send again: {unsent}.',
    path: '/portal/webhooks/{webhook}/deliveries?state=unsent',
  },
  'webhook.losing': {
    subject: 'Deliveries to {name} will be lost',
    again: 'Deliveries to {name} are being lost',
    text: 'The webhook is paused. Deliveries waiting: {waiting}. Each is lost 30 days after its event, the next at {lost}. Resume the webhook to send them. We’ll tell you each week while it is paused.',
    path: '/portal/webhooks/{webhook}',
  },
  'delivery.failed': {
    subject: 'A delivery to {name} failed',
    text: 'The receiver didn’t accept it. We stopped retrying after about 20 hours. There may be more: we tell you at most once a day. You can send them again for 30 days.',
    path: '/portal/webhooks/{webhook}/deliveries?state=unsent',
    choice: 'A delivery has failed',
  },
  'key.created': {
    subject: 'An API key was created',
    text: '{by} created the key “{name}”, {key id}. It may read: {scopes}. Last day: {last day}.',
    path: '/portal/keys',
    choice: 'An API key is created or revoked, and a week before one ends',
  },
  'key.ending': {
    subject: 'The API key “{name}” ends soon',
    text: 'The last day of the key “{name}”, {key id}, is {last day}. After that, programs using it are refused. Set a later day, or give them a new key.',
    path: '/portal/keys',
  },
  'key.revoked': {
    subject: 'An API key was revoked',
    text: '{by} revoked the key “{name}”, {key id}. Programs using it are refused.',
    path: '/portal/keys',
  },
  'webhook.registered': {
    subject: 'A webhook to {name} was registered',
    text: '{by} registered a webhook to {host}.',
    path: '/portal/webhooks/{webhook}',
    choice: 'A webhook is registered, paused or deleted',
  },
  'webhook.paused': {
    subject: 'The webhook to {name} was paused',
    text: '{by} paused the webhook to {host}. Its deliveries wait until somebody resumes it, for up to 30 days.',
    path: '/portal/webhooks/{webhook}',
  },
  'webhook.deleted': {
    subject: 'The webhook to {name} was deleted',
    text: '{by} deleted the webhook to {host}. Nothing more is sent to it.',
    path: '/portal/webhooks',
  },
  'invitation.accepted': {
    subject: 'There is a new administrator',
    text: '{by}, {email}, accepted an invitation and is now an administrator of {company}.',
    path: '/portal/people',
    choice: 'An administrator is added or removed',
  },
  'administrator.added': {
    subject: 'There is a new administrator',
    text: '{email} is now an administrator of {company}, through {by}.',
    path: '/portal/people',
  },
  'administrator.removed': {
    subject: 'An administrator was removed',
    text: '{by} removed {name}, {email}, as an administrator of {company}.',
    path: '/portal/people',
  },
  'administrator.signed_in': {
    subject: 'A sign-in from a new browser',
    text: 'Somebody signed in to your account with {client} at {at}, from the address {address}. If it wasn’t you, change your password now.',
  },
  'administrator.changed_password': changed,
  'reset.used': changed,
  'administrator.access_changed': {
    subject: 'Your access was changed',
    text: '{by} changed your access to {company}. You now have: {access}.',
  },
  'second_factor.added': {
    subject: 'Your second factor was set up',
    text: 'From now on we ask for a code from your authenticator app. Other browsers were signed out. If it wasn’t you, tell the operator of {service} now.',
  },
  'second_factor.codes_renewed': {
    subject: 'You have new recovery codes',
    text: 'The old ones no longer work. If it wasn’t you, tell the operator of {service} now.',
  },
  'second_factor.removed': {
    subject: 'Your second factor was removed',
    text: '{by} removed your account’s second factor. If you didn’t ask for this, tell the operator of {service} now.',
  },
  'second_factor.reset': {
    subject: 'The second factor of {name} was reset',
    text: '{by} reset the second factor of {name}, {email}, and signed them out everywhere. If neither of you asked for this, tell the operator of {service} now.',
  },
  'reset.asked': {
    subject: 'A link to set a new password',
    text: 'Somebody, probably you, asked to set a new password for your account at {company}. The emailed link works once, for an hour. If it wasn’t you, do nothing: your password stays the same.',
  },
  'invitation.created': {
    subject: 'Join {company} on {service}',
    text: '{by} invites you to join {company} on {service}. The link works once, until {expires}.',
  },
  'invitation.not_mailed': {
    subject: 'An invitation could not be emailed',
    text: 'The mail server refused the invitation to {email}. Withdraw it, invite them again, and send the link yourself.',
    path: '/portal/people',
  },
};

/** The kinds of notices that people can choose to be mailed; each choice is stored under its `value`. */
export const noticeChoices = Object.entries(templates).flatMap(([value, { choice: label }]) =>
  label === undefined ? [] : [{ value, label }],
);

/** Kinds that share the choice of another kind. */
const goesWith: Partial<Record<NoticeKind, NoticeKind>> = {
  'webhook.recovered': 'webhook.failing',
  'webhook.losing': 'webhook.failing',
  'key.ending': 'key.created',
  'key.revoked': 'key.created',
  'webhook.paused': 'webhook.registered',
  'webhook.deleted': 'webhook.registered',
  'administrator.added': 'invitation.accepted',
  'administrator.removed': 'invitation.accepted',
};

/** Returns the choice that decides about mails of a kind; undefined if they can't be stopped. */
export function choiceOf(kind: NoticeKind): string | undefined {
  const chosen = goesWith[kind] ?? kind;
  return templates[chosen].choice === undefined ? undefined : chosen;
}

/**
 * Fills in the texts of a notice, and the path that it links to. A mail names the time zone of its times, the company's.
 * @param isMail whether the texts are for a mail, where programs turn what other people have written into links.
 */
export function noticeTexts(
  { kind, details }: Pick<Notice, 'kind' | 'details'>,
  company: { name: string; timeZone: string },
  service: string,
  { isMail = false } = {},
): { subject: string; text: string; path: string; company: string } {
  // Mail programs would turn names into links, so a mail names a webhook by its host.
  const name = (isMail ? details.host : undefined) ?? details.name ?? details.host ?? '–';
  const given: Notice['details'] = { ...details, name, company: company.name, service };
  const fill = (template: string, shown: (value: string, name: string) => string) =>
    template.replaceAll(/\{([\w ]+)\}/g, (_all, name: string) => shown(given[name] ?? '–', name));
  const shown = (value: string, name: string) => {
    if (ISO_TIME.test(value))
      return `${timeText(company.timeZone, value)}${isMail ? ` (${company.timeZone})` : ''}`;
    if (name === 'last day') return momentText(company.timeZone, value);
    if (name === 'cause') return outcomeText(value);
    return plain(name === 'client' ? browserName(value) : value);
  };
  // Mail programs look for links only in the body, and hosts, addresses and times in it are ours.
  const unlinked = (value: string, name: string) =>
    isMail && FREE_TEXTS.includes(name) ? withoutLinks(shown(value, name)) : shown(value, name);
  const { subject, again = subject, text, path = '/portal/account' } = templates[kind];
  return {
    subject: fill(details.again === undefined ? subject : again, shown),
    text: `${fill(text, unlinked)}${details.isLast === undefined ? '' : LAST}`,
    path: fill(path, encodeURIComponent),
    company: fill('{company}', unlinked),
  };
}

/** Details whose text other people may have chosen freely. */
const FREE_TEXTS = ['by', 'name', 'key id', 'scopes', 'client', 'company'];

const withoutLinks = (text: string) => text.replaceAll(/[./@](?=\S)|:(?=\/)/g, '$&\u2060');

const LAST =
  ' We’ve told you of this 20 times in 24 hours, so we’ll stop for now. The portal shows any others.';
const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/;
const CHARACTERS_MAX = 100;

/** Puts a name that somebody else may have chosen on one line; right-to-left text is isolated (UAX #9 section 2.4). */
function plain(value: string): string {
  const line = withoutDirections(value).replaceAll(/[\s\p{C}]+/gu, ' ');
  const short = [...line.trim()].slice(0, CHARACTERS_MAX).join('');
  return /[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(short) ? `\u2068${short}\u2069` : short;
}
