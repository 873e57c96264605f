import { companyInstant } from '../../contract/company-time.ts';
import { DAY_MS } from '../../contract/durations.ts';
import { buyerTermNames, pickDefined, omit } from '../../contract/document-terms.ts';
import type { ChangeContent } from '../../contract/feed.ts';
import { problemOfPaymentLink } from '../../contract/payment-links.ts';
import type { Customer, Invoice } from '../../contract/records.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { balanceAtIssue } from '../../contract/vat.ts';
import { quote } from '../../errors.ts';
import { hasNumber } from '../store/records/moves.ts';
import type { Supplier } from '../store/records/suppliers.ts';
import { type Naming, namingOf } from './buyers.ts';
import { creditedInvoiceOf, refuseExcess } from './credit-notes.ts';
import type { Priced } from './document-amounts.ts';
import { startComposition, keptAmounts, lineOf, reverseChargeRatesOf } from './document-lines.ts';
import { keptTerms, namedProfile, refuseBadParty } from './document-terms.ts';
import { checkedAmounts, pricedImport } from './import-check.ts';
import { keepImportedPdf } from './imported-pdf.ts';
import {
  accountingCurrencyOf,
  blankUnpublished,
  conversionOf,
  newDocument,
  refuseBadDates,
} from './invoice-drafts.ts';
import { applyIssueConsequences } from './issue-invoice.ts';
import { mustBeIssuedElsewhere, documentKindName } from './issued-elsewhere.ts';
import type { Move } from './move.ts';
import { payableAmounts } from './prepayments.ts';
import { Refusal, withinRange } from './refusal.ts';
import { daysAfter, refuseDayOutside, refuseDayToCome } from './times.ts';
import type { CustomerUnpublished, Unpublished } from './unpublished.ts';

/** The maximum payment terms in days (openapi.yaml, `PaymentTermsDays`). */
const PAYMENT_TERMS_DAYS_MAX = 3650;

type ImportedKind = 'invoice' | 'credit_note';

/** The members of a change that imports an invoice or credit note. */
type Imported = ChangeContent<'invoice.import'> &
  Partial<Pick<ChangeContent<'credit_note.import'>, 'creditsInvoiceId'>>;

/**
 * Imports an invoice or credit note that the business system has issued, and deducts a credit note from its invoice.
 * With `notify`, publishes invoice.issued or credit_note.issued, and invoice.paid if that settles the invoice.
 * @throws Refusal `wrong_sums`, `exceeds_invoice`, or `wrong_state` while such documents are issued here.
 */
export async function importIssued(move: Move, kind: ImportedKind, given: Imported): Promise<RenderedRecord> {
  mustBeIssuedElsewhere(move, kind);
  if (given.notify !== true) move.keepQuiet();
  refuseBelowZero(kind, given.totals);
  await refuseTwin(move, kind, given);
  refuseBadDays(move, kind, given);
  const supplier = given.supplier && importedSupplier(given.supplier);
  const { id = move.mintUuid(), totals, currency, accountingCurrency } = given;
  const { record: customer, unpublished: customerTerms } = await move.getStored(
    'customers',
    given.customerId,
    '/with/customerId',
  );
  const credited = await creditedInvoiceOf(move, { kind, ...given }, '/with');
  if (credited) refuseContradiction(given, credited.record);
  const conversion = conversionOf(currency, accountingCurrency);
  const composition = await startComposition(move, given, { path: '/with', currency, credited, conversion });
  const priced = pricedImport(composition);
  const lines = importedLines(priced, given);
  const naming = importedNaming(customer, given);
  const document = { id, kind, totals, currency, ...naming };
  const amounts = await payableAmounts(move, priced, given, document);
  const record = {
    ...newDocument(kind, id, credited),
    ...{ status: 'issued' as const, number: given.number, currency },
    ...datesOf(move, kind, given, customer),
    ...naming,
    ...amountsOf(move, given, priced),
    buyerReference: given.buyerReference ?? null,
    purchaseOrderReference: given.purchaseOrderReference ?? null,
    note: given.note ?? null,
    lines,
    createdAt: move.at,
    ...balanceAtIssue(document, amounts),
  };
  const unpublished = {
    ...blankUnpublished,
    quoteId: null,
    reverseChargeRates: reverseChargeRatesOf(priced),
    ...keptAmounts(amounts),
    ...importedTerms(priced, { kind, ...given }, record.buyer, customerTerms),
    supplier: await move.keepSupplier(supplier),
    isImported: true,
  };
  const rendered = await move.putStamped('invoices', record, unpublished);
  await keepImportedPdf(move, record, given.pdf);
  const path = kind === 'invoice' ? '/with/prepayments' : '/with/creditsInvoiceId';
  await applyIssueConsequences(move, { record, unpublished, credited }, rendered, path);
  return rendered;
}

function importedSupplier(given: NonNullable<Imported['supplier']>): Supplier {
  const supplier = namedProfile(given);
  refuseBadParty(supplier, '/with/supplier');
  const { paymentLink: link } = supplier;
  const problem = link === undefined ? undefined : problemOfPaymentLink(link);
  if (link === undefined || problem === undefined) return supplier;
  const message = `The payment link ${quote(link)} ${problem}.`;
  throw new Refusal('invalid_change', message, '/with/supplier/paymentLink');
}

function refuseBelowZero(kind: ImportedKind, { grossMinor }: Invoice['totals']): void {
  if (grossMinor >= 0) return;
  const [name, other] =
    kind === 'invoice' ? ['an invoice', 'a credit note'] : ['a credit note', 'an invoice'];
  const message = `totals/grossMinor is ${grossMinor}; ${name} isn't below zero, which takes ${other}.`;
  throw new Refusal('invalid_change', message, '/with/totals/grossMinor');
}

/** Refuses a credit note dated before its invoice, or converted at a different rate. @throws Refusal `invalid_change`. */
function refuseContradiction({ issueDate, accountingCurrency }: Imported, invoice: Invoice): void {
  if (issueDate < (invoice.issueDate ?? '')) {
    const message = `issueDate is ${issueDate}, before the invoice was issued on ${invoice.issueDate}.`;
    throw new Refusal('invalid_change', message, '/with/issueDate');
  }
  const [own, its] = [accountingCurrency, invoice.accountingCurrency].map(
    (exchange) => exchange?.exchangeRate,
  );
  const isSame = own === undefined || its === undefined ? own === its : Number(own) === Number(its);
  if (isSame) return;
  const message = `accountingCurrency has ${own === undefined ? 'no rate' : `the rate ${own}`}, and that of the invoice ${its === undefined ? 'none' : its}; a credit note takes its invoice's.`;
  throw new Refusal('invalid_change', message, '/with/accountingCurrency');
}

async function refuseTwin(
  move: Move,
  kind: ImportedKind,
  { id, number }: Pick<Imported, 'id' | 'number'>,
): Promise<void> {
  if (id !== undefined) await move.mustBeNew('invoices', id, '/with/id');
  if (!(await hasNumber(move.transaction, move.company.id, number, kind))) return;
  const message = `The company has another ${documentKindName(kind)} with the number ${quote(number)}.`;
  throw new Refusal('duplicate_id', message, '/with/number');
}

function refuseBadDays(move: Move, kind: ImportedKind, given: Imported): void {
  refuseDayToCome(move, given.issueDate, '/with/issueDate');
  refuseBadDates({ kind, ...given }, '/with');
  refuseOtherDay(move, given);
  const rateDay = given.accountingCurrency?.exchangeRateDate;
  refuseDayOutside(rateDay, '/with/accountingCurrency/exchangeRateDate');
}

/** Refuses a time of issue over a day from the issue date; a day allows for time zones. @throws Refusal `invalid_change`. */
function refuseOtherDay(move: Move, { issueDate, issuedAt }: Imported): void {
  if (issuedAt === undefined) return;
  const day = move.dayOf(move.readTime(issuedAt, '/with/issuedAt'));
  if (day >= daysAfter(issueDate, -1) && day <= daysAfter(issueDate, 1)) return;
  const message = `issuedAt is ${issuedAt}, and the day of issue ${issueDate}.`;
  throw new Refusal('invalid_change', message, '/with/issuedAt');
}

/** Returns the dates of an imported document; a credit note has no due date. */
function datesOf(move: Move, kind: ImportedKind, given: Imported, customer: Customer) {
  const { issueDate, supplyPeriod = null } = given;
  const isInvoice = kind === 'invoice';
  const termsDays =
    given.paymentTermsDays ?? daysUntil(issueDate, given.dueDate) ?? customer.paymentTermsDays;
  const paymentTermsDays = isInvoice ? termsDays : 0;
  return {
    issueDate,
    issuedAt: issuedAtOf(move, given),
    supplyDate: supplyPeriod?.endDate ?? given.supplyDate ?? issueDate,
    supplyPeriod,
    dueDate: isInvoice ? (given.dueDate ?? daysAfter(issueDate, paymentTermsDays)) : null,
    paymentTermsDays,
  };
}

/** Returns the payment terms in days that a due date implies, within the contract's bounds; undefined for no date. */
function daysUntil(issueDate: string, dueDate: string | null | undefined): number | undefined {
  if (dueDate === null || dueDate === undefined) return undefined;
  const days = Math.round((Date.parse(dueDate) - Date.parse(issueDate)) / DAY_MS);
  return Math.min(Math.max(0, days), PAYMENT_TERMS_DAYS_MAX);
}

function issuedAtOf(move: Move, { issueDate, issuedAt }: Imported): string {
  if (issuedAt !== undefined) return move.readTime(issuedAt, '/with/issuedAt');
  if (issueDate >= move.today) return move.at;
  return companyInstant(move.company.timeZone, `${issueDate}T00:00`)?.toISOString() ?? move.at;
}

/**
 * Returns the buyer's name and details that an imported document shows: its own, or else the customer's current ones.
 * @throws Refusal `invalid_change` for two different sites, and `unknown_record` when the customer has no such site.
 */
export function importedNaming(
  customer: Customer,
  { buyer, siteId = null }: Pick<Imported, 'buyer' | 'siteId'>,
): Naming {
  const named = buyer?.site ?? null;
  if (named !== null && siteId !== null && siteId !== named.id) {
    const message = `siteId is ${quote(siteId)}, and buyer names the site ${quote(named.id)}.`;
    throw new Refusal('invalid_change', message, '/with/siteId');
  }
  const naming = namingOf(customer, named ? null : siteId, '/with');
  if (!buyer) return naming;
  const { site } = naming.buyer;
  return {
    ...naming,
    siteId: named?.id ?? siteId,
    // The current details come first because their members are in the contract's order.
    buyer: { ...naming.buyer, ...UNNAMED, ...omit(buyer, buyerTermNames), site: named ?? site },
  };
}

/** Returns the terms that an imported document shows, with its own buyer terms or else the customer's. */
function importedTerms(
  priced: Priced,
  given: Imported & { kind: ImportedKind },
  party: Invoice['buyer'],
  known: CustomerUnpublished,
): Pick<Unpublished, 'terms'> {
  const { buyer } = given;
  if (buyer) refuseBadParty(buyer, '/with/buyer');
  return keptTerms(priced, given, { ...party, ...(buyer ? pickDefined(buyer, buyerTermNames) : known) });
}

/** Defaults for the buyer members that an imported document leaves out. */
const UNNAMED = { legalName: null, vatId: null, contactName: null, email: null };

/** Returns an imported document's lines with the amounts that it gives. @throws Refusal `amount_out_of_range`. */
export function importedLines(priced: Priced, { lines }: Pick<Imported, 'lines'>): Invoice['lines'] {
  return priced.lines.map((line, index) =>
    withinRange(`/with/lines/${index}`, () =>
      lineOf(priced, { ...line, amountMinor: lines[index]?.amountMinor ?? 0 }, index),
    ),
  );
}

/** Returns the amounts that an imported document gives, once they have been checked. */
function amountsOf(
  move: Move,
  given: Imported,
  priced: Priced,
): Pick<Invoice, 'vatBreakdown' | 'totals' | 'accountingCurrency'> {
  const { accountingCurrency = null, totals, currency } = given;
  const { credited } = priced;
  if (accountingCurrency) {
    const own = accountingCurrencyOf(move, credited?.record);
    const path = '/with/accountingCurrency/currency';
    if (accountingCurrency.currency !== own || currency === own) {
      const whose = credited ? "its invoice's" : "the company's own";
      const message = `accountingCurrency is in ${accountingCurrency.currency} and the document in ${currency}; it must be ${own}, ${whose}, on a document in another currency.`;
      throw new Refusal('wrong_currency', message, path);
    }
  }
  const { vatBreakdown, accounted } = checkedAmounts(given, priced);
  // The net of an imported note can't exceed what remains, whether or not its prices include VAT.
  refuseExcess({ ...priced, includesVat: false }, given.vatBreakdown);
  return {
    vatBreakdown,
    totals,
    accountingCurrency: accountingCurrency && { ...accountingCurrency, vatBreakdown: accounted },
  };
}
