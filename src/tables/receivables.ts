import type { JsonSchema } from '../contract/document.ts';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'integer' };
const day: JsonSchema = { type: 'string', format: 'date' };

/** The columns of a customer's statement of account. Amounts are in minor units; the balance is of the invoice. */
export const accountSchema = {
  properties: {
    ...{ day, entry: text, invoice: text, dueDate: day, currency: text },
    ...{ amountMinor: number, balanceMinor: number },
  },
} satisfies JsonSchema;

/**
 * The columns of the receivables table, which has a row for each open invoice, newest first. The portal and `export
 * receivables` write the same table, with the customer's name as on the invoice. Amounts are in minor units of the invoice's
 * currency: the amount due is the gross plus rounding, less payments and credit notes, plus refunds.
 */
export const receivableSchema = {
  properties: {
    ...{ number: text, customerId: text, customerName: text, issueDate: day, dueDate: day, currency: text },
    ...{ grossMinor: number, paidMinor: number, refundedMinor: number, creditedMinor: number },
    ...{ roundingMinor: number, amountDueMinor: number, daysOverdue: number, id: text },
  },
} satisfies JsonSchema;
