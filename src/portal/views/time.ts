import type { Visit } from '../visit.ts';
import { type Html, html } from './html.ts';

const formats = new Map<string, Intl.DateTimeFormat>();

/** A moment in the company's time zone; `never` stands for none. */
export function time({ company }: Pick<Visit, 'company'>, at: string | null, never = 'never'): Html | string {
  if (at === null) return never;
  return html`<time datetime="${at}">${timeText(company.timeZone, at)}</time>`;
}

/** The same to the second, for what is compared with the log of somebody's server. */
export function exactTime({ company }: Pick<Visit, 'company'>, at: string): Html {
  return html`<time datetime="${at}">${timeText(company.timeZone, at)}:${at.slice(17, 19)}</time>`;
}

/** A moment as people of a time zone write it: `22 Nov 2026, 09:41`. */
export function timeText(timeZone: string, at: string): string {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'medium', timeStyle: 'short' });
    formats.set(timeZone, format);
  }
  return format.format(new Date(at));
}
