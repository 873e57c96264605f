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
   * Label of the checkbox with which an administrator chooses to get this kind by e-mail. A notice about the recipient's own account has none: somebody who breaks into
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
    subject: 'The webhook to {host} fails',
    again: 'The webhook to {host} still fails',
    text: 'Nothing has been delivered to {host} since {since}. {cause} Deliveries that wait: {waiting}; failed or held: {unsent}. While it lasts you are told again each day.',
    path: '/portal/webhooks/{webhook}',
    choice:
      'A webhook fails for 15 minutes, each day while it lasts, and when it works again; a paused one will lose deliveries',
  },
  'webhook.recovered': {
    subject: 'The webhook to {host} works again',
    text: 'It failed from {since} to {until}. Deliveries that wait for you to send them again: {unsent}.',
    path: '/portal/webhooks/{webhook}/deliveries?state=unsent',
  },
  'webhook.losing': {
    subject: 'Deliveries to {host} will be lost',
    again: 'Deliveries to {host} are being lost',
    text: 'The webhook is paused, and deliveries wait for it: {waiting}. Each is lost 30 days after its event, the next at {lost}. Once you resume it, they are sent. While it is paused you are told again each week.',
    path: '/portal/webhooks/{webhook}',
  },
  'delivery.failed': {
    subject: 'A delivery to {host} is marked failed',
    text: 'The receiver didn’t accept it. We stopped retrying after about 20 hours. There may be more: we tell you at most once a day. You can send them again for 30 days.',
    path: '/portal/webhooks/{webhook}/deliveries?state=unsent',
    choice: 'A delivery is marked failed',
  },
  'key.created': {
    subject: 'There is a new API key',
    text: '{by} created the key “{name}”, {key id}. It may read: {scopes}. Its last day: {last day}.',
    path: '/portal/keys',
    choice: 'An API key is created or revoked, and a week before one ends',
  },
  'key.ending': {
    subject: 'The API key “{name}” ends soon',
    text: 'The last day of the key “{name}”, {key id}, is {last day}. After it the API refuses every program that uses it. Set a later day, or give the program a new key.',
    path: '/portal/keys',
  },
  'key.revoked': {
    subject: 'An API key was revoked',
    text: '{by} revoked the key “{name}”, {key id}. The API refuses every program that uses it.',
    path: '/portal/keys',
  },
  'webhook.registered': {
    subject: 'There is a new webhook to {host}',
    text: '{by} registered a webhook to {host}.',
    path: '/portal/webhooks/{webhook}',
    choice: 'A webhook is registered, paused or deleted',
  },
  'webhook.paused': {
    subject: 'The webhook to {host} is paused',
    text: '{by} paused the webhook to {host}. Its deliveries wait until somebody resumes it, for 30 days at most.',
    path: '/portal/webhooks/{webhook}',
  },
  'webhook.deleted': {
    subject: 'The webhook to {host} is deleted',
    text: '{by} deleted the webhook to {host}. Nothing more is delivered to it.',
    path: '/portal/webhooks',
  },
  'invitation.accepted': {
    subject: 'There is a new administrator',
    text: '{by}, {email}, accepted an invitation and administers {company} now.',
    path: '/portal/people',
    choice: 'An administrator is added or removed',
  },
  'administrator.added': {
    subject: 'There is a new administrator',
    text: '{email} administers {company} now, and came in by {by}.',
    path: '/portal/people',
  },
  'administrator.removed': {
    subject: 'An administrator was removed',
    text: '{by} removed {name}, {email}, who administers {company} no longer.',
    path: '/portal/people',
  },
  'administrator.signed_in': {
    subject: 'A sign-in with a new browser',
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
    text: 'From now on a code of the new app is asked for, and other browsers were signed out. If it wasn’t you, tell the operator of {service} now.',
  },
  'second_factor.codes_renewed': {
    subject: 'You have new recovery codes',
    text: 'The old ones no longer work. If it wasn’t you, tell the operator of {service} now.',
  },
  'second_factor.removed': {
    subject: 'Your second factor was taken away',
    text: '{by} took the second factor of your account away. If you didn’t ask for it, tell the operator of {service} now.',
  },
  'second_factor.reset': {
    subject: 'The second factor of {name} was reset',
    text: '{by} took the second factor of {name}, {email}, away, and their browsers were signed out. If neither of you asked for it, tell the operator of {service} now.',
  },
  'reset.asked': {
    subject: 'A link to set a new password',
    text: 'Somebody, probably you, asked for a link that sets a new password for your account at {company}. It is mailed to you, and works once, for an hour. If it wasn’t you, nothing has to be done: your password stays.',
  },
  'invitation.created': {
    subject: 'An invitation to administer {company}',
    text: '{by} invites you to administer {company} in {service}. The link works once, until {expires}.',
  },
  'invitation.not_mailed': {
    subject: 'An invitation could not be mailed',
    text: 'The mail server refused the invitation of {email}. Withdraw it, and make one whose link you send yourself.',
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
  const given: Record<string, string> = { ...details, company: company.name, service };
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
  ' You were told of this 20 times in 24 hours, and aren’t told again for now. The portal shows what else happens.';
const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/;
const CHARACTERS_MAX = 100;

/** Puts a name that somebody else may have chosen on one line; right-to-left text is isolated (UAX #9 section 2.4). */
function plain(value: string): string {
  const line = withoutDirections(value).replaceAll(/[\s\p{C}]+/gu, ' ');
  const short = [...line.trim()].slice(0, CHARACTERS_MAX).join('');
  return /[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(short) ? `\u2068${short}\u2069` : short;
}
