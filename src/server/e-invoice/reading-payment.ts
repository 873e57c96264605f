import type { DocumentTerms } from '../../contract/feed.ts';
import { compactAccount, isIban } from '../../contract/ibans.ts';
import { type PayeeAccount, meansOf } from '../printed-document/means-of-payment.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import { asksForPayment } from '../printed-document/wording.ts';
import type { CreditTransfer, PaymentInstructions } from './model.ts';
import { optionalText } from './xml-text.ts';

/** Returns the document's payment instructions, or else the supplier's account if there is an amount to pay, or undefined. */
export function paymentOf(document: PrintedDocument): PaymentInstructions | undefined {
  const { code: meansCode, reference, accounts } = meansOf(document);
  const stated = document.terms?.payment;
  if (!stated && !(asksForPayment(document) && accounts.some(({ id }) => compactAccount(id) !== '')))
    return undefined;
  const remittance = optionalText(reference ?? undefined);
  return { meansCode, remittance, accounts: accounts.map(accountOf), ...(stated && statedPayment(stated)) };
}

function statedPayment(
  given: NonNullable<DocumentTerms['payment']>,
): Pick<PaymentInstructions, 'meansText' | 'card' | 'directDebit'> {
  const { cardNumber, mandateReference, creditorId, debitedAccount } = given;
  const debit = {
    mandate: optionalText(mandateReference),
    creditorId: optionalText(creditorId),
    account: compactAccount(debitedAccount) || undefined,
  };
  return {
    meansText: optionalText(given.meansText),
    card:
      cardNumber === undefined ? undefined : { number: cardNumber, holder: optionalText(given.cardHolder) },
    directDebit: Object.values(debit).some((value) => value !== undefined) ? debit : undefined,
  };
}

function accountOf(given: PayeeAccount): CreditTransfer {
  const id = compactAccount(given.id);
  return {
    id,
    isIban: isIban(id),
    name: optionalText(given.name),
    serviceProvider: compactAccount(given.bic) || undefined,
  };
}
