/** Checks for document contents that EN 16931 can't express. */
import { countryCodes, currencyCodes, vatPrefixes } from '../../contract/code-lists.ts';
import { minorDigits } from '../../contract/currencies.ts';
import { quote } from '../../errors.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import { oneLine } from './xml-text.ts';

/** The VAT categories (UNCL 5305) whose rules the back office knows. */
const categories = ['S', 'Z', 'E', 'AE', 'K', 'G', 'O'];

/** The lowest VAT rate in basis points; validators round a lower one to zero, and then refuse its VAT (BR-CO-17). */
const RATE_BASIS_POINTS_MIN = 50;

/**
 * The highest sum in minor units: validators add doubles (BR-CO-10), and a thousand of their errors stay below half a cent.
 */
const SUM_MINOR_MAX = 5_000_000_000_000;

/** A value of a document, with its path in the record, the supplier's profile or the terms. */
type Found = readonly [path: string, value: string | null | undefined];

/**
 * Returns the path of the first value that EN 16931 can't express, and the rule; undefined if there is none. The standard
 * can't express a supply outside the scope of VAT by a supplier with a VAT number or a tax representative: the standard
 * forbids their numbers there (BR-O-02), and without them the e-invoice would differ from the page. It can't express amounts
 * with three decimals (BR-DEC), rates below 0.5 %, sums above fifty thousand million, unlisted country and currency codes
 * (BR-CL), or blank names, numbers and properties (BR-06, BR-07, BR-17, BR-18, BR-25, BR-52, BR-54, BR-55).
 */
export function inexpressible(document: PrintedDocument): string | undefined {
  return codeProblem(document) ?? nameProblem(document) ?? vatProblem(document) ?? sumProblem(document);
}

function codeProblem({ record, supplier }: PrintedDocument): string | undefined {
  const { buyer, currency, accountingCurrency } = record;
  const currencies: Found[] = [
    ['currency', currency],
    ['accountingCurrency/currency', accountingCurrency?.currency ?? currency],
  ];
  const countries: Found[] = [
    ["the company's countryCode", supplier.countryCode ?? ''],
    ['buyer/countryCode', buyer.countryCode],
    ['buyer/site/countryCode', buyer.site?.countryCode ?? buyer.countryCode],
  ];
  const vatIds = [
    ["the company's vatId", supplier.vatId],
    ['buyer/vatId', buyer.vatId],
  ] as const;
  return (
    firstOf(currencies, (code) => !currencyCodes.has(code), 'is none of ISO 4217') ??
    firstOf(currencies, (code) => minorDigits(code) > 2, 'has amounts with three decimals (BR-DEC)') ??
    firstOf(countries, (code) => !countryCodes.has(code), 'is no country of ISO 3166-1 (BR-CL-14)') ??
    firstOf(vatIds, (id) => id !== '' && !vatPrefixes.has(id.slice(0, 2)), 'has no prefix of a country')
  );
}

function firstOf(
  all: readonly Found[],
  isWrong: (value: string) => boolean,
  rule: string,
): string | undefined {
  const found = all.find(([, value]) => isWrong(value ?? ''));
  return found && `${found[0]} is ${quote(found[1] ?? '')}, which ${rule}`;
}

function nameProblem({ record, supplier, terms = {} }: PrintedDocument): string | undefined {
  const { payee, taxRepresentative, precedingInvoices = [], supportingDocuments = [] } = terms;
  const names: Found[] = [
    ['number', record.number],
    ["the company's legalName", supplier.legalName],
    ['buyer/name', record.buyer.legalName ?? record.buyer.name],
    ...record.lines.map(({ description }, index): Found => [`lines/${index}/description`, description]),
    ...(payee ? [['terms/payee/name', payee.name] as const] : []),
    ...(taxRepresentative ? [['terms/taxRepresentative/name', taxRepresentative.name] as const] : []),
    ...precedingInvoices.map(({ number }, index): Found => [
      `terms/precedingInvoices/${index}/number`,
      number,
    ]),
    ...supportingDocuments.map(({ reference }, index): Found => [
      `terms/supportingDocuments/${index}/reference`,
      reference,
    ]),
    ...Object.entries(terms.lines ?? {}).flatMap(([id, { classifications = [], attributes = [] }]) => [
      ...classifications.map(({ code }): Found => [`the classification of line ${id}`, code]),
      ...attributes.flatMap(({ name, value }): Found[] => [
        [`an attribute of line ${id}`, name],
        [`the attribute ${name} of line ${id}`, value],
      ]),
    ]),
  ];
  const blank = names.find(([, value]) => oneLine(value ?? '') === '');
  return blank && `${blank[0]} is blank`;
}

function vatProblem(document: PrintedDocument): string | undefined {
  for (const { category, rateBasisPoints } of document.record.vatBreakdown) {
    if (!categories.includes(category))
      return `the VAT category is ${quote(category)}, which is none of UNCL 5305`;
    if (category === 'S' && rateBasisPoints < RATE_BASIS_POINTS_MIN)
      return `the rate of ${rateBasisPoints} basis points is below 0.5 %, and is rounded to none (BR-CO-17)`;
    const outside = category === 'O' ? outsideProblem(document) : undefined;
    if (outside !== undefined) return outside;
  }
  return undefined;
}

function outsideProblem({ supplier, terms }: PrintedDocument): string | undefined {
  const vatId = supplier.vatId ?? terms?.taxRepresentative?.vatId;
  if (vatId !== undefined) return `the VAT number ${vatId} can't stand beside category O (BR-O-02)`;
  const numbers = [supplier.companyNumber, ...(supplier.identifiers ?? []).map(({ id }) => id)];
  if (numbers.some((id) => oneLine(id ?? '') !== '')) return undefined;
  return 'the company has no vatId, no companyNumber and no identifiers (BR-CO-26)';
}

function sumProblem({ record, amounts }: PrintedDocument): string | undefined {
  const { allowances = [], charges = [] } = amounts ?? {};
  const added = [...record.lines, ...allowances, ...charges];
  const sumMinor = added.reduce((sum, { amountMinor }) => sum + Math.abs(amountMinor), 0);
  return sumMinor <= SUM_MINOR_MAX
    ? undefined
    : `its amounts come to ${sumMinor} minor units, and validators add up to ${SUM_MINOR_MAX}`;
}
