import { writtenLines } from '../../contract/addresses.ts';
import { decimalAmount } from '../../contract/currencies.ts';
import { compactAccount } from '../../contract/ibans.ts';
import type { DocumentTerms } from '../../contract/feed.ts';
import { paymentAddress } from '../../contract/payment-links.ts';
import { payableMinor } from '../../contract/vat.ts';
import { moneyFormat } from './amounts.ts';
import { type PayeeAccount, inGroups, meansOf } from './means-of-payment.ts';
import { type PaymentCode, paymentCodeOf } from './payment-code.ts';
import type { PrintedDocument } from './printed-document.ts';
import { reverseChargeStatements } from './reverse-charge.ts';
import {
  asksForPayment,
  categoryText,
  countryName,
  dateText,
  isDraft,
  isMargin,
  numberOf,
  overpaidMinor,
  pricesIncludeVat,
  titleOf,
} from './wording.ts';

/** A section of the document with a heading and text. */
export interface Statement {
  heading: string;
  paragraphs: readonly string[];
  /** A link shown under the paragraphs. */
  link?: { text: string; url: string } | undefined;
  /** Rows of a table shown under the paragraphs and the link. */
  details: readonly (readonly [label: string, value: string])[];
  /** A QR code beside the text, with `alt` as its alternative text. */
  code?: (PaymentCode & { alt: string }) | undefined;
}

/** Returns the sections of a statement of account: how to pay the balance, for a customer without terms of one invoice. */
export function accountStatementsOf(printed: PrintedDocument): Statement[] {
  const { record, account } = printed;
  const ofCustomer = account && { ...printed, terms: undefined, record: { ...record, number: null } };
  return [paymentStatement(ofCustomer ?? printed)].filter((statement) => statement !== undefined);
}

/** Returns a document's sections of text, such as a note, and how to pay. */
export function statementsOf(printed: PrintedDocument): Statement[] {
  return [
    noteStatement(printed),
    paymentStatement(printed),
    representativeStatement(printed),
    documentsStatement(printed),
    originStatement(printed),
  ].filter((statement) => statement !== undefined);
}

/** Returns the section saying that the original of an imported document is elsewhere. */
function originStatement({ record, isImported = false }: PrintedDocument): Statement | undefined {
  if (!isImported) return undefined;
  const document = titleOf(record).toLowerCase();
  const paragraph = `This PDF was made from the data of the business system that issued the ${document}.`;
  return { heading: 'About this PDF', paragraphs: [paragraph], details: [] };
}

/** Returns the section saying why no VAT is charged and who accounts for it, if there is anything to say. */
export function vatStatement(printed: PrintedDocument): Statement | undefined {
  const { lines } = printed.record;
  const reasons = new Map<string, string>();
  for (const one of [...lines, ...(printed.amounts?.charges ?? [])]) {
    const { vatCategory, vatExemptionReason: reason = null } = one;
    if (reason !== null) reasons.set(`${vatCategory} ${reason}`, reasonText(one, reason));
  }
  const paragraphs = [
    ...(pricesIncludeVat(printed) ? ['The prices on this document include VAT.'] : []),
    ...reasons.values(),
    ...reverseChargeStatements(printed, [...reasons.values()]),
  ];
  return paragraphs.length === 0 ? undefined : { heading: 'About VAT', paragraphs, details: [] };
}

type Exempt = Parameters<typeof isMargin>[0] & { vatRateBasisPoints: number };

/** Returns an exemption reason, preceded by its VAT category unless the reason names it. */
function reasonText(line: Exempt, reason: string): string {
  if (isMargin(line) || line.vatCategory === 'O') return reason;
  const category = categoryText(line.vatCategory, line.vatRateBasisPoints).replace(/ 0%$/, '');
  return reason.toLowerCase().includes(category.toLowerCase()) ? reason : `${category}: ${reason}`;
}

function noteStatement({ record, terms }: PrintedDocument): Statement | undefined {
  const notes = (terms?.notes ?? []).map(({ text }) => text);
  const paragraphs = [record.note ?? '', ...notes].filter((text) => text.trim() !== '');
  if (paragraphs.length === 0) return undefined;
  const heading = record.kind === 'credit_note' ? 'Reason for this credit note' : 'Note';
  return { heading, paragraphs, details: [] };
}

function paymentStatement(printed: PrintedDocument): Statement | undefined {
  const { payee, payment, paymentTerms } = printed.terms ?? {};
  const request = requestOf(printed) ?? { heading: 'Payment', paragraphs: [], details: [] };
  const paragraphs = [
    ...request.paragraphs,
    ...(paymentTerms === undefined ? [] : [paymentTerms]),
    ...(payee ? [payeeText(payee)] : []),
  ];
  const details = [...request.details, ...(payment ? statedDetails(payment, printed) : [])];
  return paragraphs.length === 0 && details.length === 0 ? undefined : { ...request, paragraphs, details };
}

function payeeText({ name, companyNumber, identifier }: NonNullable<DocumentTerms['payee']>): string {
  const numbers = [companyNumber && `company no. ${companyNumber}`, identifier?.id]
    .filter(Boolean)
    .join(', ');
  return `The payee is ${name}${numbers === '' ? '' : ` (${numbers})`}.`;
}

/** Returns the payment details of a document that states its means of payment. */
function statedDetails(
  payment: NonNullable<DocumentTerms['payment']>,
  printed: PrintedDocument,
): (readonly [string, string])[] {
  const { cardNumber, cardHolder = '', debitedAccount } = payment;
  const { text, accounts, reference } = meansOf(printed);
  const stated: readonly (readonly [string, string | null | undefined])[] = [
    ['Means of payment', text],
    ['Card', cardNumber && `ending in ${cardNumber} ${cardHolder}`.trim()],
    ['Mandate', payment.mandateReference],
    ['Creditor identifier', payment.creditorId],
    ['Debited account', debitedAccount],
    ['Payment reference', reference],
  ];
  return [
    ...accounts.flatMap(bankDetails),
    ...stated.flatMap(([label, value]) => (value ? [[label, value] as const] : [])),
  ];
}

function representativeStatement({ terms }: PrintedDocument): Statement | undefined {
  const { taxRepresentative: agent } = terms ?? {};
  if (!agent) return undefined;
  const place = [agent.name, ...writtenLines(agent), countryName(agent.countryCode)].join(', ');
  return { heading: 'Tax representative', paragraphs: [`${place}. VAT no. ${agent.vatId}`], details: [] };
}

function documentsStatement({ terms }: PrintedDocument): Statement | undefined {
  const { supportingDocuments = [] } = terms ?? {};
  if (supportingDocuments.length === 0) return undefined;
  const details = supportingDocuments.map(
    ({ reference, description, url }) => [reference, [description, url].filter(Boolean).join(', ')] as const,
  );
  return { heading: 'Documents that go with this one', paragraphs: [], details };
}

/** Returns a document's request for payment. Stated means of payment exclude the supplier's own account, link and code. */
function requestOf(printed: PrintedDocument): Statement | undefined {
  const { record, supplier, terms = {} } = printed;
  if (record.kind === 'credit_note') return undefined;
  const amountMinor = askedMinor(printed);
  if (amountMinor === 0) return nothingDue(printed);
  const means = meansOf(printed);
  // Stated means have details of their own.
  const account = terms.payment ? [] : means.accounts.flatMap(bankDetails);
  const reference = [['Payment reference', numberOf(record)] as const];
  const { link, code } = quickWaysOf(printed, amountMinor);
  const late = [supplier.latePaymentTerms].filter((text) => text !== undefined);
  return {
    heading: means.accounts.length === 0 && link === undefined ? 'Payment' : 'How to pay',
    paragraphs: [...askedFor(printed, amountMinor), ...late],
    link,
    details: [...account, ...(account.length === 0 || record.number === null ? [] : reference)],
    code,
  };
}

/** Returns the payment link and QR code, unless the money goes to somebody else or is collected. */
function quickWaysOf(printed: PrintedDocument, amountMinor: number): Pick<Statement, 'link' | 'code'> {
  const { isOwn, taken } = meansOf(printed);
  const isToPayee = printed.terms?.payee !== undefined && isOwn;
  const isPaidHere = isOwn && !isToPayee && taken === undefined;
  return {
    link: isPaidHere ? linkOf(printed, amountMinor) : undefined,
    code: isToPayee ? undefined : codeOf(printed, amountMinor),
  };
}

/** Returns the amount to pay in minor units; on a statement of account, the amount still due. */
function askedMinor(printed: PrintedDocument): number {
  const { record, statementOn, amounts } = printed;
  if (printed.account) return Math.max(0, printed.account.openMinor - printed.account.creditMinor);
  if (statementOn !== undefined) return record.amountDueMinor ?? 0;
  return asksForPayment(printed) ? payableMinor(record.totals, amounts) : 0;
}

/** Returns the sentences that request an amount by a due date. */
function askedFor(printed: PrintedDocument, amountMinor: number): string[] {
  const { taken } = meansOf(printed);
  const { statementOn = '' } = printed;
  const { dueDate, currency } = printed.record;
  const amount = moneyFormat(currency).withSymbol(amountMinor);
  if (printed.account) {
    const { overdueMinor } = printed.account;
    if (overdueMinor === amountMinor)
      return [`${amount} is overdue. Please pay it now, quoting the invoice numbers.`];
    const late = `, of which ${moneyFormat(currency).withSymbol(overdueMinor)} is overdue`;
    return [
      `Please pay ${amount}${overdueMinor === 0 ? ' by the due dates above' : late}, quoting the invoice numbers.`,
    ];
  }
  if (dueDate !== null && dueDate < statementOn) return [overdueText(amount, dateText(dueDate), taken)];
  return toComeTexts(printed.record, amount, taken);
}

function toComeTexts(record: PrintedDocument['record'], amount: string, taken: string | undefined): string[] {
  const { dueDate, paymentTermsDays } = record;
  const days = paymentTermsDays === 1 ? '1 day' : `${paymentTermsDays} days`;
  const terms = paymentTermsDays === 0 ? 'on receipt' : `within ${days} of the date of issue`;
  const suffix = dueDate === null || paymentTermsDays === 0 ? '' : ` (payment terms: ${days})`;
  const by = dueDate === null ? terms : `by ${dateText(dueDate)}${suffix}`;
  const on = dueDate === null ? terms : `on ${dateText(dueDate)}`;
  const will = `${amount} will be ${taken === undefined ? `due ${by}` : `${taken} ${on}`}.`;
  if (isDraft(record)) return ['There is nothing to pay on this draft.', `Once it is issued, ${will}`];
  return [taken === undefined ? `Please pay ${amount} ${by}.` : will];
}

function overdueText(amount: string, day: string, taken: string | undefined): string {
  return taken === undefined
    ? `Please pay ${amount}, which was due by ${day}.`
    : `${amount} was to be ${taken} on ${day}, and is still open.`;
}

function linkOf({ record, supplier }: PrintedDocument, amountMinor: number): Statement['link'] {
  const { number, currency } = record;
  if (supplier.paymentLink === undefined || number === null) return undefined;
  const amount = decimalAmount(amountMinor, currency);
  const url = paymentAddress(supplier.paymentLink, { number, amount });
  return { text: `Pay online: ${url}`, url };
}

function codeOf(printed: PrintedDocument, amountMinor: number): Statement['code'] {
  const code = paymentCodeOf(printed, amountMinor);
  const amount = moneyFormat(printed.record.currency).withSymbol(amountMinor);
  const alt = `QR code for banking apps: a SEPA credit transfer of ${amount} to this account, with this reference`;
  return code && { ...code, alt };
}

function nothingDue(printed: PrintedDocument): Statement {
  const { record, statementOn, account } = printed;
  const verb = isDraft(record) ? 'will be' : 'is';
  const owed = statementOn === undefined ? overpaidMinor(printed) : 0;
  const back = `${moneyFormat(record.currency).withSymbol(owed)} of what was paid ${verb} owed back.`;
  const paragraphs = [
    account ? 'Nothing is due.' : `Nothing ${verb} due on this ${titleOf(record).toLowerCase()}.`,
    ...(owed > 0 ? [back] : []),
  ];
  return { heading: 'Payment', paragraphs, details: [] };
}

/** Returns the details of an account; a British IBAN is also shown as sort code and account number. */
function bankDetails({ id, name, bic }: PayeeAccount): (readonly [string, string])[] {
  const compact = compactAccount(id);
  const [, sortCode, account] = /^GB\d\d[A-Z]{4}(\d{6})(\d{8})$/.exec(compact) ?? [];
  const isBritish = sortCode !== undefined && account !== undefined;
  return [
    ...(name ? [['Account name', name] as const] : []),
    ...(isBritish ? [['Sort code', sortCode.replace(/(..)(?=.)/g, '$1-')] as const] : []),
    ...(isBritish ? [['Account number', account] as const] : []),
    [/^[A-Z]{2}\d\d/.test(compact) ? 'IBAN' : 'Account', inGroups(id)],
    ...(bic ? [['BIC', compactAccount(bic)] as const] : []),
  ];
}
