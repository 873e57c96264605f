import fc from 'fast-check';

/** UTF-16's half surrogates are no characters. */
const [SURROGATES_FROM, SURROGATE_COUNT] = [0xd800, 0x800];

/**
 * Any character, as a unit of `fc.string`. It makes the same texts as the unit `binary` of fast-check, which first takes a second
 * to list all characters.
 */
export const anyCharacter = fc.nat(0x10ffff - SURROGATE_COUNT).map(
  (place) => String.fromCodePoint(place < SURROGATES_FROM ? place : place + SURROGATE_COUNT),
  // With the way back, fast-check mixes in texts like `__proto__`.
  (character) => {
    const codePoint = typeof character === 'string' ? character.codePointAt(0) : undefined;
    if (codePoint === undefined || String.fromCodePoint(codePoint) !== character)
      throw new Error('This is no character.');
    return codePoint < SURROGATES_FROM ? codePoint : codePoint - SURROGATE_COUNT;
  },
);

/** An address of the Web, for which `fc.webUrl` would list all characters too. */
export const webAddress = fc
  .tuple(fc.domain(), fc.stringMatching(/^(\/[\w~!$&'()*+,;=:@-]{0,8}){0,3}(\?[\w=&/?-]{0,8})?(#\w{0,5})?$/))
  .map(([domain, rest]) => `https://${domain}${rest}`);
