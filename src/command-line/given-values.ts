import { readFileSync, statSync } from 'node:fs';

import { escapeControls, UsageError } from '../errors.ts';

export function listOf(text: string, separator = ','): string[] {
  return text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/**
 * Returns the address that integrators use (openapi.yaml, "Getting started") without its end, /api/v1, because the portal and
 * the reference are beside it. Host names with characters that need escaping are refused; DNS has none.
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

/** Returns a service's name, or throws if it contains a character that needs escaping in some text or header. */
export function parseServiceName(text: string): string {
  if (!/^[A-Za-z][A-Za-z0-9-]{0,39}$/.test(text))
    throw new Error('1 to 40 letters, digits and hyphens, a letter first');
  return text;
}

/** The maximum size in bytes of a file that holds a secret; no secret is so long. */
const BYTES_MAX = 65_536;

/**
 * Returns the secret in a file, without a byte order mark and trailing whitespace.
 * @param name the option or the setting that names the file.
 * @throws UsageError that names both, but never shows the file's content.
 */
export function readSecretFile(name: string, file: string): string {
  const problem = (reason: string) => new UsageError(`${name} names ${quotePath(file)}, ${reason}.`);
  let text: string;
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw problem('which is not a file');
    if (stats.size > BYTES_MAX) throw problem(`which has more than ${BYTES_MAX} bytes`);
    text = withoutByteOrderMark(readFileSync(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : problem(`which can't be read (${code})`);
  }
  if (text === '') throw problem('which is empty');
  return text;
}

/** Returns a secret without the byte order mark and trailing whitespace that editors and shells add. */
export function withoutByteOrderMark(text: string): string {
  return text.replace(/^\ufeff/, '').trimEnd();
}

/** Returns a path in quotation marks for a message, in full however long, because users need it to find the file. */
export function quotePath(path: string): string {
  return escapeControls(JSON.stringify(path));
}
