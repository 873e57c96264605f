import type { PrintedDocument } from '../invoice-pdf/printed-document.ts';
import { asksForPayment } from '../invoice-pdf/wording.ts';
import type { PaymentInstructions } from './model.ts';
import { oneLine, optionalText } from './xml-text.ts';

/** BT-81, from UNTDID 4461. */
const CREDIT_TRANSFER = '30';
const SEPA_CREDIT_TRANSFER = '58';

/** The supplier's bank account, where something is to be paid into it. */
export function paymentOf({ record, supplier }: PrintedDocument): PaymentInstructions | undefined {
  const id = withoutSpaces(supplier.iban);
  if (!asksForPayment(record) || id === '') return undefined;
  const hasIban = isIban(id);
  return {
    meansCode: hasIban && record.currency === 'EUR' ? SEPA_CREDIT_TRANSFER : CREDIT_TRANSFER,
    remittance: oneLine(record.number ?? ''),
    account: {
      id,
      isIban: hasIban,
      name: optionalText(supplier.bankAccountName),
      serviceProvider: optionalText(withoutSpaces(supplier.bic)),
    },
  };
}

function withoutSpaces(text: string | undefined): string {
  return (text ?? '').replace(/\s+/g, '').toUpperCase();
}

/** ISO 13616: with its first four characters moved to the end, and letters as numbers from 10 on, it is 1 modulo 97. */
function isIban(account: string): boolean {
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(account)) return false;
  const digits = `${account.slice(4)}${account.slice(0, 4)}`.replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return BigInt(digits) % 97n === 1n;
}
