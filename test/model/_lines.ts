/** The model's lines of documents and quotes: what they come to, and the words of the law. */
import type { DraftLine } from '../../src/contract/feed.ts';
import type { Customer, Invoice } from '../../src/contract/records.ts';
import { amountsOf, asBreakdown, asTotals, breakdownOf, converted, digitsOf } from './_exact.ts';
import { isSafe, type Item, sumOf, totalsOf, vatOn } from './_exact.ts';
import { addedBy, amountOfLine, type Extras, itemsWithin, netsOf, unitPriceOf } from './_amounts.ts';
import { addedTaken, type Credit, faultExcess, itemsTaken, partTaken, type Worked } from './_credited.ts';
import { need, type Turn, without } from './_model.ts';
import { faultTwins } from './_work.ts';

/** A line as it was drafted: with its id, and without the words that the service fills in. */
export type ModelLine = DraftLine & { id: string };

/** A line with its amount. The law's words state the one without VAT. */
type Stated = ModelLine & { amount: bigint };

export interface Parties {
  supplierCountry: string | undefined;
  buyerCountry: string;
  currency: string;
  isCreditNote: boolean;
  /** To the company's own currency. */
  exchange: { exchangeRate: string; to: string } | null;
}

export type Sums = Pick<Invoice, 'lines' | 'vatBreakdown' | 'totals'> & {
  items: Item[];
  /** Of a credit note, in the accounting currency. */
  accounted: Item[];
  worked: Omit<Worked, 'rounding'>;
};

/** As many categories and rates as the contract lets a breakdown have. */
const ITEMS_MAX = 50;

/** Gives an id to each line that has none. */
export function asModelLines(turn: Turn, lines: readonly DraftLine[]): ModelLine[] {
  return lines.map((line) => ({ ...line, id: line.id ?? turn.mintLineId() }));
}

/** @param path where the lines are within the change; undefined when they aren't in it. */
export function sumsOf(
  turn: Turn,
  drafted: readonly ModelLine[],
  parties: Parties,
  path: string | undefined,
  { extras = {}, credit }: { extras?: Extras; credit?: Credit | undefined } = {},
): Sums {
  const priced = pricedLines(turn, drafted, parties, path, credit);
  const isWithVat = extras.pricesIncludeVat === true;
  // A credit note that gives neither takes those of its invoice.
  const isInherited = credit && !extras.allowances && !extras.charges;
  const added = isInherited ? addedTaken(credit, priced) : addedBy(priced, extras);
  const parts = [...priced, ...added];
  const given = breakdownOf(parts);
  if (!amountsOf(given).every(isSafe)) turn.refuse('amount_out_of_range', path);
  if (given.length > ITEMS_MAX) turn.fault('invalid_change', '');
  if (credit) faultExcess(turn, credit, given, path);
  const own = { items: isWithVat ? itemsWithin(given) : given, accounted: [] };
  const { items, accounted } = credit ? itemsTaken(turn, credit, given) : own;
  const nets = isWithVat ? netsOf(parts, items) : parts.map(({ amount }) => amount);
  const stated = priced.map((line, index) => ({ ...line, amount: nets[index] ?? 0n }));
  const lines = stated.map((line, index) => {
    const {
      id,
      description,
      quantity,
      unitCode = 'C62',
      vatCategory,
      vatRateBasisPoints,
      jobId = null,
    } = line;
    return {
      ...{ id, position: index + 1, description, quantity, unitCode, vatCategory, vatRateBasisPoints, jobId },
      unitPriceMinor: Number(unitPriceOf(line, extras, parties.currency)),
      amountMinor: Number(line.amount),
      vatExemptionReason: reasonOf(line, stated, parties),
    };
  });
  const worked = {
    lines: new Map(priced.map(({ id, amount, of }) => [id, { gross: isWithVat ? amount : undefined, of }])),
    added,
  };
  const shown = { lines, vatBreakdown: asBreakdown(items), totals: asTotals(totalsOf(items)) };
  return { ...shown, items, accounted, worked };
}

/** The lines with their amounts, as prices are given; a line of a credit note may be a part of one of its invoice. */
function pricedLines(
  turn: Turn,
  drafted: readonly ModelLine[],
  { currency }: Parties,
  path: string | undefined,
  credit: Credit | undefined,
): (Stated & { of: string | undefined })[] {
  faultTwins(turn, drafted, path ?? '');
  const priced: (Stated & { of: string | undefined })[] = [];
  for (const [index, line] of drafted.entries()) {
    if (typeof line.jobId === 'string' && !turn.company.tables.jobs.has(line.jobId))
      turn.fault('unknown_record', within(path, `/${index}/jobId`));
    const part = credit && partTaken(credit, line, priced);
    const { amount = amountOfLine(line, currency), of } = part ?? {};
    if (!isSafe(amount)) turn.refuse('amount_out_of_range', within(path, `/${index}`));
    priced.push({ ...line, amount, of });
  }
  return priced;
}

/**
 * The lines as they are kept: words that are the law's, whoever wrote them, follow the parties and the amounts when the
 * draft changes.
 */
export function keptLines(
  turn: Turn,
  lines: readonly ModelLine[],
  record: Pick<Invoice, 'buyer' | 'currency' | 'lines'> &
    Partial<Pick<Invoice, 'kind' | 'accountingCurrency'>>,
): ModelLine[] {
  const { kind, buyer, currency, accountingCurrency } = record;
  const parties = partiesOf(turn, buyer, currency, { kind, exchange: accountingCurrency });
  const amountAt = (index: number) => BigInt(record.lines[index]?.amountMinor ?? 0);
  const stated = lines.map((line, index) => ({ ...line, amount: amountAt(index) }));
  const isOfLaw = (line: ModelLine) => line.vatExemptionReason === legendOf(line, stated, parties);
  return lines.map((line) => (isOfLaw(line) ? { ...line, vatExemptionReason: null } : line));
}

const within = (path: string | undefined, rest: string) => (path === undefined ? undefined : path + rest);

const TO_PAY = 'Reverse charge: Customer to pay the VAT to HMRC';

const WORDS_OF_PAYING = ['pay', 'paid', 'account', 'remit', 'owe', 'due', 'liable'];

/** The draft's own words, unless they ask the customer of a British credit note to pay. */
function reasonOf(line: ModelLine, lines: readonly Stated[], parties: Parties): string | null {
  const own = line.vatExemptionReason ?? null;
  const words = (own ?? '').toLowerCase().split(/\W+/);
  const asksToPay = words.some((word) => WORDS_OF_PAYING.some((start) => word.startsWith(start)));
  const isOfInvoice =
    parties.isCreditNote && parties.supplierCountry === 'GB' && line.vatCategory === 'AE' && asksToPay;
  return own === null || isOfInvoice ? legendOf(line, lines, parties) : own;
}

/** The words that the law asks for on a line. */
function legendOf(line: ModelLine, lines: readonly Stated[], parties: Parties): string | null {
  const { supplierCountry } = parties;
  if (supplierCountry !== 'IE' && supplierCountry !== 'GB') return null;
  const words: Partial<Record<DraftLine['vatCategory'], string>> = {
    K: 'Intra-Community supply of goods',
    G: supplierCountry === 'IE' ? 'Export outside the EU' : 'Zero-rated export',
    O: 'Not subject to VAT',
  };
  return line.vatCategory === 'AE' ? reverseChargeOf(lines, parties) : (words[line.vatCategory] ?? null);
}

function reverseChargeOf(lines: readonly Stated[], parties: Parties): string {
  const { supplierCountry, buyerCountry } = parties;
  if (supplierCountry !== buyerCountry) return 'Reverse charge';
  return supplierCountry === 'IE'
    ? 'VAT on this supply to be accounted for by the Principal Contractor.'
    : britishReverseCharge(lines, parties);
}

/** The British domestic reverse charge states the rate and the VAT, in sterling too, and leaves it out of the totals. */
function britishReverseCharge(
  lines: readonly Stated[],
  { currency, isCreditNote, exchange }: Parties,
): string {
  const charged = lines.filter(({ vatCategory }) => vatCategory === 'AE');
  const rates = new Set(charged.map((line) => line.reverseChargeRateBasisPoints ?? 0));
  const stated = [...rates]
    .filter((rate) => rate > 0)
    .sort((a, b) => b - a)
    .map((rate) => {
      const ofRate = charged.filter((line) => line.reverseChargeRateBasisPoints === rate);
      const vat = vatOn(sumOf(ofRate.map(({ amount }) => amount)), rate);
      const own = exchange ? converted(vat, exchange.exchangeRate, currency, exchange.to) : vat;
      const amounts = [moneyText(vat, currency), ...(exchange ? [moneyText(own, exchange.to)] : [])];
      return { text: `${rate / 100}% = ${amounts.join(' = ')}`, own };
    });
  const adjustment = moneyText(sumOf(stated.map(({ own }) => own)), exchange?.to ?? currency);
  const of = stated.length === 0 ? '' : ` of ${adjustment}`;
  const words = isCreditNote
    ? `Reverse charge: Customer to account for the output tax adjustment${of} to HMRC`
    : TO_PAY;
  return stated.length === 0 ? words : `${words} (${stated.map(({ text }) => text).join('; ')})`;
}

const SYMBOLS: Partial<Record<string, string>> = { GBP: '£', EUR: '€', USD: 'US$', JPY: 'JP¥' };

function moneyText(amount: bigint, currency: string): string {
  const minorDigits = Number(digitsOf(currency));
  const digits = String(amount < 0n ? -amount : amount).padStart(minorDigits + 1, '0');
  const whole = digits.slice(0, digits.length - minorDigits).replace(/\B(?=(\d{3})+$)/g, ',');
  const fraction = minorDigits === 0 ? '' : `.${digits.slice(-minorDigits)}`;
  return `${amount < 0n ? '-' : ''}${SYMBOLS[currency] ?? `${currency}\u00a0`}${whole}${fraction}`;
}

/** How a document names its customer now. */
export function namingOf(
  turn: Turn,
  customer: Customer,
  siteId: string | null,
  path: string | undefined,
): Pick<Invoice, 'customer' | 'siteId' | 'buyer'> {
  const { id, name, legalName, vatId, addressLines, countryCode, contactName, email, sites } = customer;
  const site = sites.find((one) => one.id === siteId);
  if (siteId !== null && !site) turn.fault('unknown_record', path);
  const buyer = { name, legalName, vatId, addressLines, countryCode, contactName, email };
  return {
    customer: { id, type: 'customer', name },
    siteId,
    buyer: { ...buyer, site: site ? without(site, 'geo') : null },
  };
}

export function partiesOf(
  { company }: Turn,
  { countryCode: buyerCountry }: Pick<Customer, 'countryCode'>,
  currency: string,
  given: { kind?: Invoice['kind'] | undefined; exchange?: { exchangeRate: string } | null | undefined } = {},
): Parties {
  const { profile, currency: to } = company;
  const exchange = given.exchange ? { exchangeRate: given.exchange.exchangeRate, to } : null;
  const isCreditNote = given.kind === 'credit_note';
  return { supplierCountry: profile.countryCode, buyerCountry, currency, isCreditNote, exchange };
}

/** The customer of a document that is there already: customers are never taken away. */
export function customerOf(turn: Turn, id: string, path = '/with/customerId'): Customer {
  return need(turn, 'customers', id, path);
}
