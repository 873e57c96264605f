/** What holds of one document at a time; _history-invariants.ts has the others. */
import type { Supplier } from '../../../src/server/store/records/suppliers.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { addDays } from './_days.ts';
import {
  asBreakdown,
  asTotals,
  breakdownOf,
  convertedItems,
  lineAmount,
  sumOf,
  totalsOf,
  vatOn,
} from './_exact.ts';

/** A document as the API shows it, and of an issued one who issued it. */
export interface Shown {
  document: Invoice;
  supplier: Supplier | null;
  /** The company's own currency. */
  home: string;
  /** The day that its draft gave for the payment, if it gave one. */
  dueDate: string | null;
}

/** A rule that holds for everything of its kind; `problems` says where it doesn't. */
export interface Invariant<Subject> {
  label: string;
  title: string;
  problems: (subject: Subject) => string[];
}

type Item = Invoice['vatBreakdown'][number];
type Line = Invoice['lines'][number];

const isIssued = ({ document }: Shown) => document.status === 'issued';
const keyOf = (category: string, rate: number) => `${category} ${rate}`;
const keyOfLine = ({ vatCategory, vatRateBasisPoints }: Line) => keyOf(vatCategory, vatRateBasisPoints);
const keyOfItem = ({ category, rateBasisPoints }: Item) => keyOf(category, rateBasisPoints);

/** Says what is wrong where an amount isn't the exact one. */
function unless(isRight: boolean, problem: string): string[] {
  return isRight ? [] : [problem];
}

function differing(what: string, actual: number, exact: bigint): string[] {
  return unless(BigInt(actual) === exact, `${what} is ${actual}, and not ${exact}`);
}

export const documentInvariants: Invariant<Shown>[] = [
  {
    label: 'I1',
    title: 'the net is the sum of the lines',
    problems: ({ document: { totals, lines } }) =>
      differing('net', totals.netMinor, sumOf(lines.map(({ amountMinor }) => amountMinor))),
  },
  {
    label: 'I2',
    title: 'the VAT is the sum of the breakdown',
    problems: ({ document: { totals, vatBreakdown } }) =>
      differing('VAT', totals.vatMinor, sumOf(vatBreakdown.map(({ vatMinor }) => vatMinor))),
  },
  {
    label: 'I3',
    title: 'the gross is net and VAT',
    problems: ({ document: { totals } }) =>
      differing('gross', totals.grossMinor, sumOf([totals.netMinor, totals.vatMinor])),
  },
  {
    label: 'I4',
    title: 'the net is the sum of the taxable amounts',
    problems: ({ document: { totals, vatBreakdown } }) =>
      differing('net', totals.netMinor, sumOf(vatBreakdown.map(({ taxableMinor }) => taxableMinor))),
  },
  {
    label: 'I5',
    title: 'each category and rate of the lines is in the breakdown once, and no other is',
    problems: ({ document: { lines, vatBreakdown } }) => {
      const ofLines = [...new Set(lines.map(keyOfLine))].sort();
      const items = vatBreakdown.map(keyOfItem).sort();
      return unless(ofLines.join() === items.join(), `items ${items.join()}, lines ${ofLines.join()}`);
    },
  },
  {
    label: 'I6',
    title: 'a taxable amount is the sum of its lines',
    problems: ({ document: { lines, vatBreakdown } }) =>
      vatBreakdown.flatMap((item) => {
        const own = lines.filter((line) => keyOfLine(line) === keyOfItem(item));
        return differing(
          keyOfItem(item),
          item.taxableMinor,
          sumOf(own.map(({ amountMinor }) => amountMinor)),
        );
      }),
  },
  {
    label: 'I7',
    title: 'the VAT of an item is its taxable amount times its rate, rounded half up, in category S',
    problems: ({ document: { vatBreakdown } }) =>
      vatBreakdown.flatMap((item) => {
        const { category, rateBasisPoints, taxableMinor, vatMinor } = item;
        const exact = category === 'S' ? vatOn(BigInt(taxableMinor), rateBasisPoints) : 0n;
        return differing(keyOfItem(item), vatMinor, exact);
      }),
  },
  {
    label: 'I8',
    title: 'category S has a rate, and the others have neither rate nor VAT',
    problems: (shown) =>
      isIssued(shown)
        ? shown.document.vatBreakdown.flatMap((item) => unless(isRateRight(item), keyOfItem(item)))
        : [],
  },
  {
    label: 'I9',
    title: 'a category without VAT has one reason, and S and Z have none',
    problems: (shown) => (isIssued(shown) ? reasonProblems(shown.document.lines) : []),
  },
  {
    label: 'I10',
    title: 'category O stands alone',
    problems: (shown) => {
      const categories = new Set(shown.document.vatBreakdown.map(({ category }) => category));
      return unless(
        !isIssued(shown) || !categories.has('O') || categories.size === 1,
        [...categories].join(),
      );
    },
  },
  {
    label: 'I11',
    title: 'reverse charge and supply within the Union name the VAT number of the customer',
    problems: (shown) =>
      unless(!isIssued(shown) || !hasAny(shown, ['AE', 'K']) || !!shown.document.buyer.vatId, 'no vatId'),
  },
  {
    label: 'I12',
    title: 'supply within the Union has a day or a period, and a country to go to',
    problems: (shown) => {
      const { kind, supplyDate, buyer } = shown.document;
      // The supply that a pro forma announces may still be to come.
      if (!isIssued(shown) || kind === 'pro_forma' || !hasAny(shown, ['K'])) return [];
      const destination = buyer.site?.countryCode ?? buyer.countryCode;
      return unless(supplyDate !== null && destination !== '', `${supplyDate} to ${destination}`);
    },
  },
  {
    label: 'I13',
    title: 'a line is quantity times price, rounded half up, and complete; positions count from 1',
    problems: (shown) => [
      ...shown.document.lines.flatMap(lineProblems),
      ...unless(!isIssued(shown) || shown.document.lines.length > 0, 'no lines'),
    ],
  },
  {
    label: 'I14',
    title: 'a period of supply ends when it has begun, and the supply with it',
    problems: ({ document: { supplyPeriod, supplyDate } }) =>
      unless(
        supplyPeriod === null ||
          (supplyPeriod.endDate >= supplyPeriod.startDate && supplyDate === supplyPeriod.endDate),
        `${JSON.stringify(supplyPeriod)}, ${supplyDate}`,
      ),
  },
  {
    label: 'I16',
    title: 'a document is due after its issue, by its terms unless it says otherwise',
    problems: (shown) => (isIssued(shown) ? dueProblems(shown) : []),
  },
  {
    label: 'I17',
    title: 'a document in a foreign currency is accounted for in the own one, to the cent',
    problems: (shown) => [...accountingProblems(shown), ...missingAccounting(shown)],
  },
  {
    label: 'I18',
    title: 'an issued document names customer and supplier as the law wants them named',
    problems: (shown) => (isIssued(shown) ? partyProblems(shown) : []),
  },
];

function hasAny({ document }: Shown, categories: readonly string[]): boolean {
  return document.lines.some(({ vatCategory }) => categories.includes(vatCategory));
}

function isRateRight({ category, rateBasisPoints, vatMinor }: Item): boolean {
  return category === 'S' ? rateBasisPoints > 0 : rateBasisPoints === 0 && vatMinor === 0;
}

function reasonProblems(lines: readonly Line[]): string[] {
  const byCategory = Map.groupBy(lines, ({ vatCategory }) => vatCategory);
  return [...byCategory].flatMap(([category, own]) => {
    const reasons = new Set(own.map(({ vatExemptionReason }) => vatExemptionReason));
    const [reason] = reasons;
    const isRight = ['S', 'Z'].includes(category) ? reason === null : (reason ?? '').trim() !== '';
    return unless(reasons.size === 1 && isRight, `${category}: ${JSON.stringify([...reasons])}`);
  });
}

function lineProblems(line: Line, index: number): string[] {
  const { quantity, unitPriceMinor, amountMinor, position, description, unitCode, vatCategory } = line;
  return [
    ...differing(`line ${index + 1}`, amountMinor, lineAmount(quantity, unitPriceMinor)),
    ...unless(position === index + 1, `line ${index + 1} has position ${position}`),
    ...unless(
      unitPriceMinor >= 0 && Number.isSafeInteger(amountMinor),
      `line ${index + 1} has a wrong amount`,
    ),
    ...unless(
      description !== '' && unitCode !== '' && vatCategory !== '',
      `line ${index + 1} isn't complete`,
    ),
  ];
}

function dueProblems({ document, dueDate: given }: Shown): string[] {
  const { kind, issueDate, dueDate, paymentTermsDays } = document;
  if (kind === 'credit_note') return unless(dueDate === null, `a credit note due on ${dueDate}`);
  const expected = given ?? addDays(issueDate ?? '', paymentTermsDays);
  return unless(
    dueDate === expected && dueDate >= (issueDate ?? ''),
    `due on ${dueDate}, and not on ${expected}; issued on ${issueDate}`,
  );
}

function accountingProblems({ document, home }: Shown): string[] {
  const { accountingCurrency, currency, lines } = document;
  if (accountingCurrency === null) return [];
  const items = breakdownOf(lines.map((line) => ({ ...line, amount: BigInt(line.amountMinor) })));
  const exact = convertedItems(items, accountingCurrency.exchangeRate, currency, home);
  const { totals, vatBreakdown } = accountingCurrency;
  return [
    ...unless(accountingCurrency.currency === home && home !== currency, `${home} for ${currency}`),
    ...unless(same(vatBreakdown, asBreakdown(exact)), `breakdown ${JSON.stringify(vatBreakdown)}`),
    ...unless(same(totals, asTotals(totalsOf(exact))), `totals ${JSON.stringify(totals)}`),
  ];
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** A registered supplier states its VAT in the national currency, but on a pro forma, which is no tax document. */
function missingAccounting({ document, supplier, home }: Shown): string[] {
  const { kind, status, currency, accountingCurrency } = document;
  if (status === 'draft' || kind === 'pro_forma' || supplier?.vatId === undefined) return [];
  return unless(currency === home || accountingCurrency !== null, `${currency} isn't accounted for`);
}

function partyProblems({ document: { kind, buyer }, supplier }: Shown): string[] {
  if (!supplier) return ['no supplier'];
  const { legalName, addressLines = [], countryCode, vatId, companyNumber } = supplier;
  const isKnown = kind === 'pro_forma' || (vatId ?? companyNumber) !== undefined;
  return [
    ...unless(buyer.name !== '' && /^[A-Z]{2}$/.test(buyer.countryCode), 'the customer'),
    ...unless(!!legalName && addressLines.length > 0 && !!countryCode, 'the supplier'),
    ...unless(isKnown, 'neither VAT number nor company number'),
    ...[vatId, buyer.vatId].flatMap((id) => unless(!id || /^[A-Z]{2}/.test(id), `VAT number ${id}`)),
  ];
}
