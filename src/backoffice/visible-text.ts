/** A letter, a digit, a sign: what is seen, and no space, mark alone, control, format or filling character. */
const VISIBLE = /[[\p{L}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800]]/v;

/** Whether a reader sees something of a text. Where the law asks for a text, it asks for one that can be read. */
export function isVisible(text: string | null | undefined): boolean {
  return VISIBLE.test(text ?? '');
}
