/**
 * A visible character: a letter, a digit or a sign, but no space, control, format or filling character and no mark
 * alone.
 */
const VISIBLE = /[[\p{L}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800]]/v;

/** Whether a text has a visible character. Where the law asks for a text, it asks for one that can be read. */
export function isVisible(text: string | null | undefined): boolean {
  return VISIBLE.test(text ?? '');
}
