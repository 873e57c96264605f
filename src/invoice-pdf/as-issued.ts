import type { Invoice } from '../contract/records.ts';

/**
 * An issued document as it was when it was issued. Payments, refunds and credit notes come later and change only the
 * members that are set back here, so a PDF that is first asked for after a payment is the one that was asked for before
 * it (VAT law: a document that was issued doesn't change).
 */
export function asIssued(record: Invoice): Invoice {
  return {
    ...record,
    // Every later change moves it. An issued document has a time of issue.
    updatedAt: record.issuedAt ?? record.createdAt,
    creditNotes: [],
    ...(record.kind === 'invoice'
      ? { payments: [], amountDueMinor: record.totals.grossMinor, refunds: [], creditBalanceMinor: 0 }
      : {}),
  };
}
