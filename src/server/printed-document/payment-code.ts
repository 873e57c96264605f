import { encode } from 'uqr';

import { decimalAmount } from '../../contract/currencies.ts';
import { compactAccount, isBic, isIban } from '../../contract/ibans.ts';
import { type PayeeAccount, meansOf } from './means-of-payment.ts';
import type { PrintedDocument } from './printed-document.ts';

/** A QR code as modules, row by row, without the light border: one byte per module, 0 for a dark one. */
export interface PaymentCode {
  /** The number of modules per side. */
  size: number;
  modules: Uint8Array;
}

/** EEA countries, whose banks need no BIC. */
const EEA = 'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK';
/** SEPA countries outside the EEA, whose banks need a BIC (EPC409-09). */
const OTHERS = 'AD AL CH GB GI MC MD ME MK RS SM VA';

const BYTES_MAX = 331;
const NAME_MAX = 70;
const REFERENCE_MAX = 140;
const AMOUNT_MINOR_MAX = 99_999_999_999;

/**
 * Returns the QR code with which a banking app starts a SEPA credit transfer (EPC069-12, version 002). Transfers and code
 * hold 70 characters of a name. Undefined for a document in another currency, without a transfer to a SEPA IBAN,
 * without the BIC that a bank outside the EEA needs, or with a number or an amount beyond the limits.
 */
export function paymentCodeOf(printed: PrintedDocument, amountMinor: number): PaymentCode | undefined {
  const text = transferText(printed, amountMinor);
  if (text === undefined) return undefined;
  const { data, size } = encode(text, { ecc: 'M', boostEcc: false, maxVersion: 13, border: 0 });
  return { size, modules: Uint8Array.from(data.flat(), (isDark) => (isDark ? 0 : 255)) };
}

/** Returns the text of the code, line by line; undefined where a rule of EPC069-12 can't be met. */
export function transferText(printed: PrintedDocument, amountMinor: number): string | undefined {
  const { record } = printed;
  const means = meansOf(printed);
  const [account = { id: '' }] = means.accounts;
  const iban = compactAccount(account.id);
  const bic = bicOf(account.bic);
  const name = holderOf(account, printed);
  const reference = oneLine(means.reference);
  const isPayable = record.currency === 'EUR' && amountMinor > 0 && amountMinor <= AMOUNT_MINOR_MAX;
  if (!isPayable || !isReached(iban, bic)) return undefined;
  if (name === '' || reference === '' || reference.length > REFERENCE_MAX) return undefined;
  const amount = `EUR${decimalAmount(amountMinor, 'EUR')}`;
  const payee = [...name].slice(0, NAME_MAX).join('').trim();
  // No purpose and no structured reference.
  const text = ['BCD', '002', '1', 'SCT', bic, payee, iban, amount, '', '', reference].join('\n');
  return Buffer.byteLength(text) > BYTES_MAX ? undefined : text;
}

function holderOf(account: PayeeAccount, { supplier, terms }: PrintedDocument): string {
  return oneLine(account.name ?? terms?.payee?.name ?? supplier.legalName);
}

function isReached(iban: string, bic: string): boolean {
  const country = iban.slice(0, 2);
  return isIban(iban) && (EEA.includes(country) || (OTHERS.includes(country) && bic !== ''));
}

function bicOf(given: string | undefined): string {
  const bic = compactAccount(given);
  return isBic(bic) ? bic : '';
}

/** Puts text on one line, because a line break would begin the next element of the code. */
function oneLine(text: string | null | undefined): string {
  return (text ?? '').replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
