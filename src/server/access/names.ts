import { quote, UsageError } from '../errors.ts';

/**
 * Characters that a name can't have: controls, line breaks, direction marks and unassigned characters. The two joiners
 * are allowed, because Persian, the languages of India and emoji are spelt with them.
 */
const NO_PART_OF_A_NAME = /(?![\u200c\u200d])[\p{C}\u2028\u2029]/u;

/**
 * Checks a name of a thing or a person.
 * @param what the beginning of the sentence of a refusal, such as `The name`.
 * @returns the name without blanks around it.
 * @throws UsageError of the field `name`, naming the character or the rule.
 */
export function checkedLine(given: string, what: string, charactersMax: number): string {
  const name = given.trim().normalize('NFC');
  const refuse = (rule: string): never => {
    throw new UsageError(`${what} ${rule}.`, { field: 'name' });
  };
  const [wrong] = NO_PART_OF_A_NAME.exec(name) ?? [];
  if (wrong !== undefined) {
    const code = (wrong.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const before = name.slice(0, name.indexOf(wrong));
    refuse(`has a character that can't be seen, U+${code}, after ${quote(before)}; leave it out`);
  }
  if (!/[^\s\u200c\u200d]/u.test(name) || name.length > charactersMax)
    refuse(`must have 1 to ${charactersMax} characters, in one line`);
  return name;
}
