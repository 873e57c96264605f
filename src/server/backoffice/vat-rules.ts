import type { Invoice } from '../../contract/records.ts';
import { euVatPrefixes, isInEu, problemOfVatNumber } from '../../contract/vat-numbers.ts';
import type { CheckedDocument, LegalRule } from './legal-checklist.ts';
import { isVisible } from './text-rules.ts';

type Line = Invoice['lines'][number];

/** The only VAT category in which VAT is charged; below, those that need no exemption reason. */
const CHARGED = 'S';
const WITHOUT_REASON = ['S', 'Z'];

/** The rules of EN 16931 about each VAT category. They apply to a pro forma too, since it announces an invoice. */
export const vatRules: LegalRule[] = [
  {
    item: 'a rate above zero in category S, and of zero in the others',
    source: 'EN 16931 BR-S-05, BR-Z-05, BR-E-05, BR-AE-05, BR-IC-05, BR-G-05',
    problem: ({ document }) =>
      firstProblem(document.lines, ({ vatCategory, vatRateBasisPoints }) =>
        (vatCategory === CHARGED) === vatRateBasisPoints > 0
          ? undefined
          : `is in category ${vatCategory} at ${vatRateBasisPoints} basis points`,
      ),
  },
  {
    item: 'a reason wherever no VAT is charged, and none elsewhere',
    source: 'EN 16931 BR-S-10, BR-Z-10, BR-E-10, BR-AE-10, BR-IC-10, BR-G-10, BR-O-10',
    problem: ({ document }) => firstProblem(document.lines, reasonProblem),
  },
  {
    item: 'one reason for each category',
    source: 'EN 16931 BT-120 and BT-121, of which a category has one',
    problem: otherReasonProblem,
  },
  {
    item: 'category O alone, or not at all',
    source: 'EN 16931 BR-O-11',
    problem: ({ document: { vatBreakdown } }) =>
      vatBreakdown.length > 1 && vatBreakdown.some(({ category }) => category === 'O')
        ? "category O can't be combined with others"
        : undefined,
  },
  {
    item: "the customer's VAT number, under reverse charge and within the European Union",
    source: 'IE reg. 20(2)(e) and (f), EN 16931 BR-AE-02 and BR-IC-02',
    problem: ({ document: { lines, buyer } }) =>
      buyer.vatId === null && lines.some(({ vatCategory }) => vatCategory === 'AE' || vatCategory === 'K')
        ? 'the customer has no vatId'
        : undefined,
  },
  {
    item: 'VAT numbers with the prefix, the form and the check digits of their countries',
    source: 'IE reg. 20(2)(c) and (e), UK reg. 14(1)(d), Directive 2006/112/EC art. 215',
    problem: ({ supplier, document: { buyer } }) =>
      Object.entries({ company: supplier.vatId, customer: buyer.vatId })
        .flatMap(([whose, vatId]) => {
          const problem = typeof vatId === 'string' ? problemOfVatNumber(vatId) : undefined;
          return problem === undefined ? [] : [`the ${whose}'s VAT number ${vatId} ${problem}`];
        })
        .join(', ') || undefined,
  },
  {
    item: 'goods that go to another member of the European Union, in category K',
    source: 'Directive 2006/112/EC art. 138, EN 16931 BR-IC-12',
    problem: (checked) => (has(checked, 'K') ? intraCommunityProblem(checked) : undefined),
  },
  {
    item: 'goods that leave, in category G',
    source: 'Directive 2006/112/EC art. 146, VATA 1994 s.30(6)',
    problem: (checked) => (has(checked, 'G') ? exportProblem(checked) : undefined),
  },
];

function firstProblem(
  lines: readonly Line[],
  problem: (line: Line) => string | undefined,
): string | undefined {
  for (const line of lines) {
    const found = problem(line);
    if (found !== undefined) return `line ${line.position} ${found}`;
  }
  return undefined;
}

function reasonProblem({ vatCategory, vatExemptionReason }: Line): string | undefined {
  const hasReason = isVisible(vatExemptionReason);
  if (WITHOUT_REASON.includes(vatCategory)) {
    return vatExemptionReason === null
      ? undefined
      : `is in category ${vatCategory} and has a vatExemptionReason`;
  }
  return hasReason ? undefined : `is in category ${vatCategory} and has no vatExemptionReason`;
}

/** Returns the problem if lines and charges of one VAT category give different reasons, in words or as a code. */
function otherReasonProblem({ document, amounts, terms }: CheckedDocument): string | undefined {
  const reasons = [
    ...document.lines.map(({ id, position, vatCategory, vatExemptionReason }) => {
      const vatExemptionReasonCode = terms?.lines?.[id]?.vatExemptionReasonCode;
      return { whose: `line ${position}`, vatCategory, vatExemptionReason, vatExemptionReasonCode };
    }),
    ...(amounts?.charges ?? [])
      .filter(({ vatExemptionReason }) => vatExemptionReason !== undefined)
      .map((charge) => ({ whose: `the charge of ${charge.amountMinor}`, ...charge })),
  ];
  for (const [category, [first, ...others]] of Map.groupBy(reasons, ({ vatCategory }) => vatCategory))
    for (const name of ['vatExemptionReason', 'vatExemptionReasonCode'] as const) {
      const odd = others.find((other) => other[name] !== first?.[name]);
      if (odd) return `${first?.whose} has another ${name} than ${odd.whose} in category ${category}`;
    }
  return undefined;
}

function has({ document }: CheckedDocument, category: string): boolean {
  return document.vatBreakdown.some((item) => item.category === category);
}

/** Returns the ISO 3166-1 code of the country that goods go to: the site's, or else the customer's. */
function destinationOf({ document: { buyer } }: CheckedDocument): string {
  return buyer.site?.countryCode ?? buyer.countryCode;
}

function intraCommunityProblem(checked: CheckedDocument): string | undefined {
  const { supplier, document } = checked;
  const destination = destinationOf(checked);
  const from = supplier.vatId?.slice(0, 2) ?? '';
  if (!euVatPrefixes.includes(from))
    return `category K needs a VAT number of the European Union, and not of ${from}`;
  const prefix = document.buyer.vatId?.slice(0, 2) ?? '';
  if (!euVatPrefixes.includes(prefix) || prefix === from) {
    return `in category K the customer's VAT number must be of another member state`;
  }
  const isNorthernIreland = destination === 'GB' && prefix === 'XI';
  return isNorthernIreland || (isInEu(destination) && destination !== supplier.countryCode)
    ? undefined
    : `in category K the goods must go to another member state, and not to ${destination}`;
}

function exportProblem(checked: CheckedDocument): string | undefined {
  const destination = destinationOf(checked);
  if (checked.supplier.countryCode !== 'IE') {
    return destination === 'GB' ? 'in category G the goods must leave, and not go to GB' : undefined;
  }
  if (isInEu(destination))
    return `in category G the goods must leave the European Union, and not go to ${destination}`;
  // For goods, Northern Ireland is treated as part of the European Union.
  const isNorthernIreland = destination === 'GB' && checked.document.buyer.vatId?.startsWith('XI');
  return isNorthernIreland ? 'goods that go to Northern Ireland are in category K, and not G' : undefined;
}
