/** The model's issuing: the list of what the law asks for, numbers, and what a credit note does to its invoice. */
import type { Invoice } from '../../src/contract/records.ts';
import type { CompanyProfile } from '../../src/server/store/tables/companies.ts';
import { addDays, type Draft, type Moves, nextNumber, type Turn } from './_model.ts';
import { composed, draftedOf, referenceTo, type Unstamped } from './_invoices.ts';
import { sumOf } from './_exact.ts';
import { putMoved, sendPrepaid, summaryOf } from './_money.ts';

export const issueMoves = {
  'invoice.issue': (turn, { id }) => {
    const { tables, kept, profile } = turn.company;
    const before = draftedOf(turn, id);
    const createdAt = tables.invoices.get(id)?.createdAt ?? '';
    const { record: drafted, worked } = composed(turn, { id, createdAt, draft: before.draft }, {}, '/with');
    const record = asIssued(turn, drafted, { ...before.draft, rounding: worked.rounding });
    checkCompleteness(turn, record, before.draft);
    const number = nextNumber(turn, record.kind, turn.today);
    const issued = { ...record, number, updatedAt: turn.stamp() };
    tables.invoices.set(id, issued);
    kept.set(id, { ...before, worked, supplier: namedOn(issued, profile) });
    if (issued.kind === 'invoice') {
      turn.send('invoice.issued', summaryOf(issued));
      sendPrepaid(turn, issued);
    }
    if (issued.kind === 'credit_note') {
      turn.send('credit_note.issued', summaryOf(issued));
      credit(turn, issued);
    }
    return issued;
  },
} satisfies Partial<Moves>;

function asIssued({ at, today }: Turn, draft: Unstamped, given: Draft & { rounding: bigint }): Unstamped {
  const { kind, totals, paymentTermsDays, currency } = draft;
  const { prepayments = [], rounding } = given;
  const payments = prepayments.map(({ id = '', amountMinor, paidOn, method }) => {
    return { id, amountMinor, currency, paidOn, method };
  });
  const due = BigInt(totals.grossMinor) + rounding - sumOf(payments.map((one) => one.amountMinor));
  return {
    ...draft,
    status: 'issued',
    issueDate: today,
    issuedAt: at,
    supplyDate: draft.supplyDate ?? (kind === 'pro_forma' ? null : today),
    dueDate: kind === 'credit_note' ? null : (draft.dueDate ?? addDays(today, paymentTermsDays)),
    ...(kind === 'invoice'
      ? {
          payments,
          refunds: [],
          amountDueMinor: Math.max(0, Number(due)),
          creditBalanceMinor: Math.max(0, -Number(due)),
        }
      : {}),
  };
}

/** A credit note that is issued moves its invoice. */
function credit(turn: Turn, note: Invoice): void {
  const invoice = turn.company.tables.invoices.get(note.creditsInvoiceId ?? '');
  if (!invoice) throw new Error('The model lost a credited invoice.');
  const creditNotes = [...invoice.creditNotes, referenceTo(note)].sort((a, b) => (a.id < b.id ? -1 : 1));
  putMoved(turn, invoice, { ...invoice, creditNotes });
}

/** Checks that a document has everything that the law asks for. */
function checkCompleteness(turn: Turn, record: Unstamped, draft: Draft): void {
  const { profile } = turn.company;
  const { countryCode } = profile;
  if (countryCode !== 'IE' && countryCode !== 'GB') {
    turn.refuse('unsupported_country', '/company');
    return;
  }
  const found = [
    ...problemsOfAll(record, profile),
    ...problemsOfCategories(record, profile),
    ...(record.kind === 'pro_forma' ? [] : problemsOfTaxDocuments(record, profile, draft)),
  ];
  if (found.includes(true)) turn.refuse('incomplete_document', '/with/id');
}

/** Of what is drawn, these aren't seen. */
const isBlank = (text: string | null | undefined) =>
  [...(text ?? '')].every((character) => ' \n\u200b\u2060\u0007'.includes(character));
/** Of what is drawn, no typeface has these. */
const isUnprintable = (text: string) => /[தம\u0007]/.test(text);

/** Each entry is true when that rule is broken, here and below. */
function problemsOfAll(record: Unstamped, profile: CompanyProfile): boolean[] {
  const { kind, lines, dueDate, issueDate, totals, buyer } = record;
  const printed = [buyer.name, ...lines.map(({ description }) => description)];
  return [
    isBlank(profile.legalName),
    (profile.addressLines ?? []).length === 0,
    lines.length === 0,
    isBlank(buyer.legalName ?? buyer.name),
    lines.some(({ description, unitCode }) => isBlank(description) || unitCode === 'PCS'),
    printed.some(isUnprintable),
    !['EUR', 'GBP', 'USD', 'JPY', 'KWD', 'HUF'].includes(record.currency),
    dueDate !== null && dueDate < (issueDate ?? ''),
    kind === 'credit_note' ? totals.grossMinor <= 0 : totals.grossMinor < 0,
  ];
}

const EU = 'AT BE BG HR CY CZ DK EE FI FR DE GR HU IE IT LV LT LU MT NL PL PT RO SK SI ES SE'.split(' ');
/** In VAT numbers Greece is EL, and Northern Ireland counts for goods. */
const EU_PREFIXES = [...EU, 'EL', 'XI'].filter((code) => code !== 'GR');

function problemsOfCategories(record: Unstamped, profile: CompanyProfile): boolean[] {
  const { lines, buyer } = record;
  const categories = new Set(lines.map(({ vatCategory }) => vatCategory));
  const destination = buyer.site?.countryCode ?? buyer.countryCode;
  return [
    lines.some(({ vatCategory, vatRateBasisPoints: rate }) => (vatCategory === 'S') !== rate > 0),
    lines.some(({ vatCategory, vatExemptionReason: reason }) =>
      ['S', 'Z'].includes(vatCategory) ? reason !== null : isBlank(reason),
    ),
    [...categories].some((category) => reasonsOf(lines, category).size > 1),
    categories.has('O') && categories.size > 1,
    (categories.has('AE') || categories.has('K')) && buyer.vatId === null,
    categories.has('K') && !isWithinUnion(profile, buyer.vatId, destination),
    categories.has('G') && !leaves(profile, buyer.vatId, destination),
  ];
}

/** Goods go from one member state, or Northern Ireland, to another. */
function isWithinUnion(profile: CompanyProfile, buyerVatId: string | null, destination: string): boolean {
  const own = (profile.vatId ?? '').slice(0, 2);
  const theirs = (buyerVatId ?? '').slice(0, 2);
  if (!EU_PREFIXES.includes(own) || !EU_PREFIXES.includes(theirs) || theirs === own) return false;
  if (destination === 'GB') return theirs === 'XI';
  return EU.includes(destination) && destination !== profile.countryCode;
}

/** From Ireland, goods for Northern Ireland stay within the Union. */
function leaves({ countryCode }: CompanyProfile, buyerVatId: string | null, destination: string): boolean {
  const isNorthernIreland = destination === 'GB' && (buyerVatId ?? '').startsWith('XI');
  if (countryCode === 'IE') return !EU.includes(destination) && !isNorthernIreland;
  return destination !== 'GB';
}

const reasonsOf = (lines: Invoice['lines'], category: string) =>
  new Set(
    lines.filter((line) => line.vatCategory === category).map(({ vatExemptionReason }) => vatExemptionReason),
  );

function problemsOfTaxDocuments(record: Unstamped, profile: CompanyProfile, draft: Draft): boolean[] {
  const { kind, note, issueDate, buyer, creditedInvoice } = record;
  return [
    isNumberWrong(record, profile),
    buyer.addressLines.length === 0 && !isSimplified(record, profile),
    isNationalCurrencyMissing(record, profile),
    kind === 'credit_note' && isBlank(note),
    record.supplyPeriod === null && isToCome(record.supplyDate, issueDate),
    isToCome(record.accountingCurrency?.exchangeRateDate ?? null, issueDate),
    creditedInvoice !== null && (issueDate ?? '') < creditedInvoice.issueDate,
    isReverseChargeSilent(record, profile, draft),
  ];
}

/** Whether a day is later than the day after the issue. */
const isToCome = (day: string | null, issueDate: string | null) => (day ?? '') > addDays(issueDate ?? '', 1);

/** Of a small amount, in the national currency, the customer's address needn't be known. */
function isSimplified({ kind, accountingCurrency, totals }: Unstamped, profile: CompanyProfile): boolean {
  const { grossMinor } = accountingCurrency?.totals ?? totals;
  return kind === 'invoice' && grossMinor <= (profile.countryCode === 'IE' ? 100_00 : 250_00);
}

function isNationalCurrencyMissing(record: Unstamped, { vatId, countryCode }: CompanyProfile): boolean {
  const national = countryCode === 'IE' ? 'EUR' : 'GBP';
  const stated = record.accountingCurrency?.currency;
  return vatId !== undefined && record.currency !== national && stated !== national;
}

/** In Northern Ireland a number is British, but for goods that go to the Union. */
function namedOn({ lines }: Unstamped, profile: CompanyProfile): CompanyProfile {
  const isToUnion = lines.some(({ vatCategory }) => vatCategory === 'K');
  return { ...profile, ...(profile.vatId && !isToUnion && { vatId: profile.vatId.replace('XI', 'GB') }) };
}

/** A supplier without a VAT number charges none. */
function isNumberWrong({ lines }: Unstamped, { vatId, countryCode }: CompanyProfile): boolean {
  if (vatId !== undefined) return !(countryCode === 'IE' ? ['IE'] : ['GB', 'XI']).includes(vatId.slice(0, 2));
  return lines.some(({ vatCategory }) => vatCategory !== 'O');
}

function isReverseChargeSilent({ lines, buyer }: Unstamped, profile: CompanyProfile, draft: Draft): boolean {
  const charged = lines.filter(({ vatCategory }) => vatCategory === 'AE');
  const isDomestic = profile.countryCode === buyer.countryCode;
  if (isDomestic && profile.countryCode === 'IE') {
    return charged.some(({ vatExemptionReason: reason }) => {
      const words = 'VAT on this supply to be accounted for by the Principal Contractor.';
      return !(reason ?? '').includes(words) || /%|€|\bEUR\b/.test(reason ?? '');
    });
  }
  const isRateMissing = draft.lines.some(
    ({ vatCategory, reverseChargeRateBasisPoints: rate = 0 }) => vatCategory === 'AE' && rate === 0,
  );
  return (
    charged.some(({ vatExemptionReason: reason }) => !/reverse charge/i.test(reason ?? '')) ||
    (isDomestic && isRateMissing)
  );
}
