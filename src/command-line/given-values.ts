import { readFileSync, statSync } from 'node:fs';

import { escapeControls, UsageError } from '../errors.ts';

export function listOf(text: string, separator = ','): string[] {
  return text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/**
 * The address that integrators use (openapi.yaml, "Getting started": it ends in /api/v1), without that end: the portal and
 * the reference are beside it. Letters that a text or a page would escape are in no host name that DNS knows.
 */
export function parseBaseUrl(text: string): string {
  const url = URL.parse(text);
  const isAddress =
    url && /^https?:$/.test(url.protocol) && /^(?:[\w.-]+|\[[\da-f:.]+\])$/.test(url.hostname);
  const isBare = url && `${url.username}${url.password}${url.search}${url.hash}` === '';
  if (!isAddress || !isBare || !/^\/(?:api\/v1\/?)?$/.test(url.pathname))
    throw new Error(
      'an http or https address without path, or with /api/v1, and without query or credentials',
    );
  return url.origin;
}

/** The name of a service, in characters that no text or header would escape. */
export function parseServiceName(text: string): string {
  if (!/^[A-Za-z][A-Za-z0-9-]{0,39}$/.test(text))
    throw new Error('1 to 40 letters, digits and hyphens, a letter first');
  return text;
}

/** More than any secret has. */
const BYTES_MAX = 65_536;

/**
 * Reads the secret that a file holds, without what editors add.
 * @param name the option or the setting that names the file.
 * @throws UsageError that names both, and never what the file holds.
 */
export function secretIn(name: string, file: string): string {
  const problem = (reason: string) => new UsageError(`${name} names ${quotePath(file)}, ${reason}.`);
  let text: string;
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw problem('which is no file');
    if (stats.size > BYTES_MAX) throw problem(`which has more than ${BYTES_MAX} bytes`);
    text = withoutByteOrderMark(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : problem(`which can't be read (${code})`);
  }
  if (text === '') throw problem('which is empty');
  return text;
}

/** A secret without what editors and shells add: the mark of UTF-8 before it, blanks and ends of lines after it. */
export function withoutByteOrderMark(text: string): string {
  return text.replace(/^\ufeff/, '').trimEnd();
}

/** A path as messages show it: whole, however long it is, because it is looked up. */
export function quotePath(path: string): string {
  return escapeControls(JSON.stringify(path));
}
