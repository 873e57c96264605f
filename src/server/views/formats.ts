import type { InvoiceSummary } from '../../contract/records.ts';
import type { Company } from '../store/records/companies.ts';
import { type Html, html } from './html.ts';

/** The part of a visit that determines the time zone; mails pass only this. */
interface InCompany {
  company: Pick<Company, 'timeZone'>;
}

/** Display names of the kinds of documents. */
export const kindNames: Record<InvoiceSummary['kind'], string> = {
  invoice: 'Invoice',
  credit_note: 'Credit note',
  pro_forma: 'Pro forma',
};

const timeFormats = new Map<string, Intl.DateTimeFormat>();
const dayFormat = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'medium' });
const countFormat = new Intl.NumberFormat('en-GB');

/** Renders a time in the company's time zone; the text `never` for null. */
export function time({ company }: InCompany, at: string | null, never = 'never'): Html | string {
  if (at === null) return never;
  return html`<time datetime="${at}">${timeText(company.timeZone, at)}</time>`;
}

/** Renders a time with seconds, for comparison with a server's log; `–` for none. */
export function exactTime({ company }: InCompany, at: string | null | undefined): Html | string {
  if (!at) return '–';
  return html`<time datetime="${at}">${timeText(company.timeZone, at)}:${at.slice(17, 19)}</time>`;
}

/** Formats a time in a time zone: `22 Nov 2026, 09:41`. */
export function timeText(timeZone: string, at: string): string {
  let format = timeFormats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'short' });
    timeFormats.set(timeZone, format);
  }
  return format.format(new Date(at));
}

/** Formats a calendar day: `2026-11-20` becomes `20 Nov 2026`. */
export function dayText(day: string | null): string {
  return day === null ? '—' : dayFormat.format(new Date(day));
}

/** Formats a stored time or day in words; any other text, such as `none`, stays as it is. */
export function momentText(timeZone: string, value: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return dayText(value);
  return /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/.test(value) ? timeText(timeZone, value) : value;
}

/** Formats a whole number: 12345 becomes `12,345`. */
export function countText(value: number): string {
  return countFormat.format(value);
}

/** Formats a count that stops at a bound: 1000 of at most 1000 becomes `1,000+`. */
export function boundedCountText(value: number, countMax: number): string {
  return `${countText(value)}${value >= countMax ? '+' : ''}`;
}

/** Formats a count with its noun: `1 delivery`, `2 deliveries`, and `100+ deliveries` if counting stopped at 100. */
export function counted(value: number, one: string, many: string, countMax = Infinity): string {
  return `${boundedCountText(value, countMax)} ${value === 1 ? one : many}`;
}

/** Formats a duration in milliseconds; `–` if unknown. */
export function msText(value: number | null): string {
  return value === null ? '–' : `${countText(value)}\u00a0ms`;
}

/** Renders an email address that can wrap before its @. */
export function emailText(email: string): Html {
  const at = email.lastIndexOf('@');
  return html`${email.slice(0, at)}<wbr />${email.slice(at)}`;
}

/** Patterns that identify browsers. More specific ones come first, because most browsers also name others. */
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

/** Names a browser by its User-Agent header; an unknown header is returned as it is. */
export function browserName(client: string): string {
  if (client === '') return 'A program that doesn’t give its name';
  const nameIn = (names: typeof browsers) => names.find(([pattern]) => pattern.test(client))?.[1];
  const browser = nameIn(browsers);
  const system = nameIn(systems);
  if (browser === undefined) return client;
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Renders words that name the operator, as a link to the operator's support page if there is one. */
export function supportLink(words: string, supportUrl: string | undefined): Html {
  return supportUrl === undefined ? html`${words}` : html`<a href="${supportUrl}">${words}</a>`;
}

/** Renders a text whose words with digits, such as INV-2026-0003, don't wrap after a hyphen. */
export function withIds(text: string): Html {
  return html`${text.split(/(\S*\d\S*)/).map((part, index) => (index % 2 === 1 && part.length < 25 ? html`<span class="id">${part}</span>` : part))}`;
}
