import type { InvoiceSummary } from '../../contract/records.ts';
import type { Company } from '../store/records/companies.ts';
import { type Html, html } from './html.ts';

/** Mails say times as pages do. */
interface InCompany {
  company: Pick<Company, 'timeZone'>;
}

/** The names of the kinds of documents. */
export const kindNames: Record<InvoiceSummary['kind'], string> = {
  invoice: 'Invoice',
  credit_note: 'Credit note',
  pro_forma: 'Pro forma',
};

const timeFormats = new Map<string, Intl.DateTimeFormat>();
const dayFormat = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'medium' });
const countFormat = new Intl.NumberFormat('en-GB');

/** A moment in the company's time zone, or `never` for none. */
export function time({ company }: InCompany, at: string | null, never = 'never'): Html | string {
  if (at === null) return never;
  return html`<time datetime="${at}">${timeText(company.timeZone, at)}</time>`;
}

/** A time with seconds, to be compared with a server's log; `–` for none. */
export function exactTime({ company }: InCompany, at: string | null | undefined): Html | string {
  if (!at) return '–';
  return html`<time datetime="${at}">${timeText(company.timeZone, at)}:${at.slice(17, 19)}</time>`;
}

/** A moment in a time zone: `22 Nov 2026, 09:41`. */
export function timeText(timeZone: string, at: string): string {
  let format = timeFormats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'short' });
    timeFormats.set(timeZone, format);
  }
  return format.format(new Date(at));
}

/** A calendar day: `2026-11-20` is `20 Nov 2026`. */
export function dayText(day: string | null): string {
  return day === null ? '—' : dayFormat.format(new Date(day));
}

/** A whole number: 12345 is `12,345`. */
export function countText(value: number): string {
  return countFormat.format(value);
}

/** A number that was counted up to a bound: 1000 of at most 1000 is `1,000+`. */
export function boundedCountText(value: number, countMax: number): string {
  return `${countText(value)}${value >= countMax ? '+' : ''}`;
}

/** A number with what is counted: `1 delivery`, `2 deliveries`, and `100+ deliveries` where it was counted up to 100. */
export function counted(value: number, one: string, many: string, countMax = Infinity): string {
  return `${boundedCountText(value, countMax)} ${value === 1 ? one : many}`;
}

/** A duration; `–` for one that isn't known. */
export function msText(value: number | null): string {
  return value === null ? '–' : `${countText(value)}\u00a0ms`;
}

/** An e-mail address that may break before its @. */
export function emailText(email: string): Html {
  const at = email.lastIndexOf('@');
  return html`${email.slice(0, at)}<wbr />${email.slice(at)}`;
}

/** More specific names come first, because most browsers name others too. */
const browsers: [pattern: RegExp, name: string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/Safari\//, 'Safari'],
];
const systems: [pattern: RegExp, name: string][] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Macintosh/, 'Mac'],
  [/Linux/, 'Linux'],
];

/** A browser's name, from its User-Agent header; an unknown header is shown as it is. */
export function browserName(client: string): string {
  if (client === '') return 'A program that doesn’t give its name';
  const nameIn = (names: typeof browsers) => names.find(([pattern]) => pattern.test(client))?.[1];
  const browser = nameIn(browsers);
  const system = nameIn(systems);
  if (browser === undefined) return client;
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Words that name the operator or their people, as a link to where they give help if there is one. */
export function supportLink(words: string, supportUrl: string | undefined): Html {
  return supportUrl === undefined ? html`${words}` : html`<a href="${supportUrl}">${words}</a>`;
}

/** A text whose words with figures, such as INV-2026-0003, don't break after a hyphen. */
export function withIds(text: string): Html {
  return html`${text.split(/(\S*\d\S*)/).map((part, index) => (index % 2 === 1 && part.length < 25 ? html`<span class="id">${part}</span>` : part))}`;
}
