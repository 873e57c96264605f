import type { DocumentTerms } from '../../contract/feed.ts';
import { compactAccount, isIban } from '../../contract/ibans.ts';
import type { PrintedDocument } from '../invoice-pdf/printed-document.ts';
import { asksForPayment } from '../invoice-pdf/wording.ts';
import type { CreditTransfer, PaymentInstructions } from './model.ts';
import { optionalText } from './xml-text.ts';

/** BT-81, from UNTDID 4461. */
const CREDIT_TRANSFER = '30';
const SEPA_CREDIT_TRANSFER = '58';

/** How it is paid: as the document says, or else into the supplier's bank account, where something is to be paid. */
export function paymentOf(document: PrintedDocument): PaymentInstructions | undefined {
  const { record, supplier, terms } = document;
  const remittance = optionalText(terms?.payment?.remittance ?? record.number);
  if (terms?.payment) return { ...statedPayment(terms.payment), remittance };
  const account = accountOf({ id: supplier.iban, name: supplier.bankAccountName, bic: supplier.bic });
  if (!asksForPayment(document) || account.id === '') return undefined;
  const isSepa = account.isIban && record.currency === 'EUR';
  return { meansCode: isSepa ? SEPA_CREDIT_TRANSFER : CREDIT_TRANSFER, remittance, accounts: [account] };
}

function statedPayment(given: NonNullable<DocumentTerms['payment']>): PaymentInstructions {
  const { accounts = [], cardNumber, mandateReference, creditorId, debitedAccount } = given;
  const debit = {
    mandate: optionalText(mandateReference),
    creditorId: optionalText(creditorId),
    account: compactAccount(debitedAccount) || undefined,
  };
  return {
    meansCode: given.meansCode,
    meansText: optionalText(given.meansText),
    accounts: accounts.map(accountOf),
    card:
      cardNumber === undefined ? undefined : { number: cardNumber, holder: optionalText(given.cardHolder) },
    directDebit: Object.values(debit).some((value) => value !== undefined) ? debit : undefined,
  };
}

interface GivenAccount {
  id?: string | undefined;
  name?: string | undefined;
  bic?: string | undefined;
}

function accountOf(given: GivenAccount): CreditTransfer {
  const id = compactAccount(given.id);
  return {
    id,
    isIban: isIban(id),
    name: optionalText(given.name),
    serviceProvider: compactAccount(given.bic) || undefined,
  };
}
