/** How a document is paid: by which means, into which accounts, and with which reference. */
import { compactAccount, isIban } from '../../contract/ibans.ts';
import type { PrintedDocument } from './printed-document.ts';

/** Means of payment by their codes of UNTDID 4461, in the words of people. */
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

/** Credit transfers, which need an account (EN 16931 BR-61), and payments into one. */
const TRANSFERS = ['30', '42', '58'];
const DIRECT_DEBITS = ['49', '59'];
const CARDS = ['48', '54', '55'];

/** Not defined, for a transfer to an account that nobody has named. */
const UNDEFINED = '1';

export interface PayeeAccount {
  id: string;
  name?: string | undefined;
  bic?: string | undefined;
}

export interface MeansOfPayment {
  /** A code of UNTDID 4461 (BT-81). */
  code: string;
  /** The means in words (BT-82): as the document says, or by its code. Undefined where the document states none. */
  text: string | undefined;
  /** The accounts to pay into (BG-17): the document's own, or for a transfer the company's. */
  accounts: readonly PayeeAccount[];
  /** Whether these are the company's. */
  isOwn: boolean;
  /** What the payer states (BT-83). */
  reference: string | null;
  /** How the money is taken, where nobody is asked to pay: the end of "€10.00 will be". */
  taken: string | undefined;
}

/** How a document is paid: as it says, or else into the company's account. */
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

/** The number of an account in groups of four, as people write it. */
export function inGroups(account: string): string {
  return compactAccount(account).replace(/(.{4})(?=.)/g, '$1 ');
}
