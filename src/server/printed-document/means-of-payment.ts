/** Payment details of a document: the means of payment, the accounts to pay into, and the reference. */
import { compactAccount, isIban } from '../../contract/ibans.ts';
import type { PrintedDocument } from './printed-document.ts';

/** Plain-English names of means of payment, by UNTDID 4461 code. */
const names: Partial<Record<string, string>> = {
  10: 'In cash',
  20: 'By cheque',
  30: 'Credit transfer',
  31: 'Debit transfer',
  42: 'Payment to a bank account',
  48: 'Bank card',
  49: 'Direct debit',
  54: 'Credit card',
  55: 'Debit card',
  57: 'Standing agreement',
  58: 'SEPA credit transfer',
  59: 'SEPA direct debit',
  68: 'Online payment service',
  97: 'Clearing between partners',
};

/** Codes of credit transfers, which need an account (EN 16931 BR-61), and of payments to a bank account. */
const TRANSFERS = ['30', '42', '58'];
const DIRECT_DEBITS = ['49', '59'];
const CARDS = ['48', '54', '55'];

/** The code for "not defined", used for a transfer when no account is known. */
const UNDEFINED = '1';

export interface PayeeAccount {
  id: string;
  name?: string | undefined;
  bic?: string | undefined;
}

export interface MeansOfPayment {
  /** A code of UNTDID 4461 (BT-81). */
  code: string;
  /** The means in words (BT-82): the document's own, or the name of its code. Undefined where the document states none. */
  text: string | undefined;
  /** The accounts to pay into (BG-17): the document's own, or for a transfer the company's. */
  accounts: readonly PayeeAccount[];
  /** Whether `accounts` are the company's, because the document names none. */
  isOwn: boolean;
  /** The reference that the payer quotes (BT-83). */
  reference: string | null;
  /** The end of a sentence such as "€10.00 will be", where the money is collected instead of paid by the customer. */
  taken: string | undefined;
}

/** Returns a document's means of payment: the one it states, or else a transfer to the company's account. */
export function meansOf({ record, supplier, terms }: PrintedDocument): MeansOfPayment {
  const { iban: id, bankAccountName: name, bic } = supplier;
  const own = id === undefined ? [] : [{ id, name, bic }];
  const transfer = transferTo(own, record.currency);
  const stated = terms?.payment;
  const unstated = { text: undefined, isOwn: true, reference: record.number, taken: undefined };
  if (!stated) return { ...unstated, code: codeWith(own, transfer), accounts: own };
  const { meansCode = transfer, accounts: given = [], remittance: reference = record.number } = stated;
  const isOwn = given.length === 0;
  const accounts = isOwn && TRANSFERS.includes(meansCode) ? own : given;
  const [text, taken] = [stated.meansText ?? names[meansCode], takenBy(meansCode, stated)];
  return { code: codeWith(accounts, meansCode), text, accounts, isOwn, reference, taken };
}

const codeWith = (accounts: readonly PayeeAccount[], code: string) =>
  accounts.length === 0 && TRANSFERS.includes(code) ? UNDEFINED : code;

function transferTo([own]: readonly PayeeAccount[], currency: string): string {
  return currency === 'EUR' && isIban(compactAccount(own?.id)) ? '58' : '30';
}

function takenBy(
  code: string,
  { debitedAccount, cardNumber }: { debitedAccount?: string; cardNumber?: string },
): string | undefined {
  if (DIRECT_DEBITS.includes(code))
    return `collected from ${debitedAccount === undefined ? 'your account' : `account ${inGroups(debitedAccount)}`}`;
  if (CARDS.includes(code) && cardNumber !== undefined) return `charged to the card ending in ${cardNumber}`;
  if (code === '57') return 'paid by standing agreement';
  return code === '97' ? 'cleared between partners' : undefined;
}

/** Formats an account number in groups of four characters. */
export function inGroups(account: string): string {
  return compactAccount(account).replace(/(.{4})(?=.)/g, '$1 ');
}
