import { unprintable } from '../typefaces/letters.ts';
import type { CheckedDocument, LegalRule } from './legal-checklist.ts';

/** Matches characters that XML can't hold (XML 1.0 section 2.2), for which the e-invoice would show a replacement. */
const UNWRITABLE = /[\0-\u0008\v\f\u000e-\u001f]/g;

/** A text in a document, and the place where it appears. */
interface PlacedText {
  place: string;
  text: string;
}

/** Legal rules about the texts of a document, which can't be corrected after it is issued. */
export const textRules: LegalRule[] = [
  {
    item: "the customer's full name",
    source: 'IE reg. 20(2)(d), UK reg. 14(1)(e), EN 16931 BR-07',
    problem: ({ document: { buyer } }) => {
      const member = buyer.legalName === null ? 'name' : 'legalName';
      return isVisible(buyer[member]) ? undefined : `the customer's ${member} has no visible character`;
    },
  },
  {
    item: 'a description of every line',
    source: 'IE reg. 20(2)(g), UK reg. 14(1)(g), EN 16931 BR-25',
    problem: ({ document: { lines } }) => {
      const blank = lines.find(({ description }) => !isVisible(description));
      return blank && `line ${blank.position} has a description without a visible character`;
    },
  },
  {
    item: 'letters that can be printed',
    source: 'IE reg. 20(2), UK reg. 14(1): what a document says has to be readable',
    problem: (checked) => letterProblem(checked),
  },
];

/** The maximum number of places, and below of letters, that a refusal names, to stay readable. */
const PLACES_MAX = 5;
const LETTERS_MAX = 5;

function letterProblem(checked: CheckedDocument): string | undefined {
  const found = textsOf(checked).flatMap(({ place, text }) => {
    const letters = [...new Set([...unprintable(text), ...(text.match(UNWRITABLE) ?? [])])];
    return letters.length === 0 ? [] : [`${listed(letters.map(nameOf), LETTERS_MAX)} in ${place}`];
  });
  return found.length === 0 ? undefined : `its typefaces lack ${listed(found, PLACES_MAX)}`;
}

function listed(names: readonly string[], countMax: number): string {
  const more = names.length - countMax;
  return [...names.slice(0, countMax), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Returns a letter with its code points, or the code points alone if it is invisible. */
function nameOf(letter: string): string {
  const codes = [...letter].map(
    (character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  );
  return isVisible(letter) ? `${letter} (${codes.join(' ')})` : codes.join(' ');
}

/** Returns every text that the document shows, except ids, codes and the logo. */
function textsOf({ document, supplier, amounts, terms = {} }: CheckedDocument): PlacedText[] {
  const { buyer, lines, buyerReference, purchaseOrderReference, note, accountingCurrency } = document;
  const { site, ...customer } = buyer;
  const { buyer: buyerTerms, lines: lineTerms, ...documentTerms } = terms;
  return [
    ...placed("the company's", supplier),
    ...placed("the customer's", { ...customer, ...buyerTerms }),
    ...placed("the site's", { ...site, id: null }),
    ...lines.flatMap(({ id, position, description, vatExemptionReason }) =>
      placed(`line ${position}'s`, { description, vatExemptionReason, ...lineTerms?.[id] }),
    ),
    ...Object.values(amounts?.lines ?? {}).flatMap(({ allowances, charges }) =>
      placed("a line's discount's or charge's", { reason: reasonsOf(allowances, charges) }),
    ),
    ...placed("the document's", {
      buyerReference,
      purchaseOrderReference,
      note,
      exchangeRateSource: accountingCurrency?.exchangeRateSource,
      ...documentTerms,
      reason: reasonsOf(amounts?.allowances, amounts?.charges),
      vatExemptionReason: amounts?.charges.map(({ vatExemptionReason }) => vatExemptionReason),
      reference: amounts?.prepayments.map(({ reference }) => reference),
    }),
  ];
}

function reasonsOf(...lists: ({ reason?: string }[] | undefined)[]) {
  return lists.flatMap((list = []) => list.map(({ reason }) => reason));
}

function placed(whose: string, members: object): PlacedText[] {
  return Object.entries(members).flatMap(([name, value]: [string, unknown]) =>
    textsIn(value).map((text) => ({ place: `${whose} ${name}`, text })),
  );
}

/** Returns the texts in a value, including those nested in lists and objects. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/**
 * Matches a visible character: a letter, digit, punctuation mark or symbol, but no space, control or filler character and no
 * combining mark alone.
 */
const VISIBLE = /[[\p{L}\p{N}\p{P}\p{S}]--[\p{Default_Ignorable_Code_Point}\u2800]]/v;

/** Whether a text has a visible character. A text that the law requires must be readable. */
export function isVisible(text: string | null | undefined): boolean {
  return VISIBLE.test(text ?? '');
}
