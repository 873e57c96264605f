import type { IncomingHttpHeaders } from 'node:http';
import { stripVTControlCharacters } from 'node:util';

/** Maximum bytes of a failed answer that are read: error pages say at the beginning what went wrong. */
export const ANSWER_BYTES_MAX = 4_096;
const SHOWN_CHARACTERS_MAX = 300;

const TEXTUAL = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b)/i;
const entities: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'", nbsp: ' ' },
};

/**
 * Returns the beginning of a failed answer as one line of text, without tags and control characters. An answer without a type
 * is taken as plain text, which is what Node's `response.end(text)` sends.
 * @param beginning at most `ANSWER_BYTES_MAX` bytes of the body.
 * @returns undefined for an answer that isn't UTF-8 text, or is compressed.
 */
export function answerText(
  { 'content-type': type = 'text/plain', 'content-encoding': coding = 'identity' }: IncomingHttpHeaders,
  beginning: Buffer,
): string | undefined {
  if (coding !== 'identity' || !TEXTUAL.test(type)) return undefined;
  let text: string;
  try {
    // In stream mode, a character that is cut off at the end is no error.
    text = new TextDecoder('utf-8', { fatal: true }).decode(beginning, { stream: true });
  } catch {
    return undefined;
  }
  const plain = stripVTControlCharacters(/^text\/html\b/i.test(type) ? withoutTags(text) : text);
  return plain.replace(/\s+/g, ' ').replace(/\p{C}/gu, '').trim() || undefined;
}

function withoutTags(page: string): string {
  return page
    .replace(/<(script|style)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, ' ')
    .replace(/<[^>]*(?:>|$)/g, ' ')
    .replace(/&([a-z]+|#39|#x27);/gi, (entity, name: string) =>
      Object.hasOwn(entities, name.toLowerCase()) ? (entities[name.toLowerCase()] ?? entity) : entity,
    );
}

/** Returns the part of an answer's text that is stored, without any part of the secret. */
export function keptAnswer(text: string, secret: string): string {
  const bare = secret.replace(/^whsec_/, '');
  const parts = bare.match(/\w{8,}/g) ?? [];
  const safe = [...(bare === '' ? [] : [bare]), ...parts]
    .reduce((rest, part) => rest.replaceAll(part, '…'), text)
    .replace(/whsec_[^\s"'<>]*/g, 'whsec_…');
  const characters = [...safe];
  return characters.length <= SHOWN_CHARACTERS_MAX
    ? safe
    : `${characters.slice(0, SHOWN_CHARACTERS_MAX - 1).join('')}…`;
}
