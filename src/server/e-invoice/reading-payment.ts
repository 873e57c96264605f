import { compactAccount, isIban } from '../../contract/ibans.ts';
import type { PrintedDocument } from '../invoice-pdf/printed-document.ts';
import { asksForPayment } from '../invoice-pdf/wording.ts';
import type { PaymentInstructions } from './model.ts';
import { oneLine, optionalText } from './xml-text.ts';

/** BT-81, from UNTDID 4461. */
const CREDIT_TRANSFER = '30';
const SEPA_CREDIT_TRANSFER = '58';

/** The supplier's bank account, where something is to be paid into it. */
export function paymentOf({ record, supplier }: PrintedDocument): PaymentInstructions | undefined {
  const id = compactAccount(supplier.iban);
  if (!asksForPayment(record) || id === '') return undefined;
  const hasIban = isIban(id);
  return {
    meansCode: hasIban && record.currency === 'EUR' ? SEPA_CREDIT_TRANSFER : CREDIT_TRANSFER,
    remittance: oneLine(record.number ?? ''),
    account: {
      id,
      isIban: hasIban,
      name: optionalText(supplier.bankAccountName),
      serviceProvider: optionalText(compactAccount(supplier.bic)),
    },
  };
}
