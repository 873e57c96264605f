import type { JsonSchema } from '../contract/document.ts';

const text: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'integer' };
const day: JsonSchema = { type: 'string', format: 'date' };

/**
 * A row of receivables, one for each open invoice: the portal and `export receivables` write the same, the newest invoice
 * first, with the customer's name as the invoice has it. Amounts are in minor units of the invoice's currency: what is due is the
 * gross less what was paid and credited, plus what was refunded, and what it was rounded by.
 */
export const receivableSchema = {
  properties: {
    ...{ number: text, customerId: text, customerName: text, issueDate: day, dueDate: day, currency: text },
    ...{ grossMinor: number, paidMinor: number, refundedMinor: number, creditedMinor: number },
    ...{ roundingMinor: number, amountDueMinor: number, daysOverdue: number, id: text },
  },
} satisfies JsonSchema;
