import { type Html, html } from './html.ts';

/** An e-mail address that breaks, where it must, at its @. */
export function emailText(email: string): Html {
  const at = email.lastIndexOf('@');
  return html`${email.slice(0, at)}<wbr />${email.slice(at)}`;
}

/** The more particular name comes first: most browsers also say that they are another one. */
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

/** A browser as its user calls it, from what it says that it is; what isn't known is shown as it was said. */
export function browserName(client: string): string {
  if (client === '') return 'A program that doesn’t say what it is';
  const nameIn = (names: typeof browsers) => names.find(([pattern]) => pattern.test(client))?.[1];
  const browser = nameIn(browsers);
  const system = nameIn(systems);
  if (browser === undefined) return client;
  return system === undefined ? browser : `${browser} on ${system}`;
}
