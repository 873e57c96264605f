import type { EInvoice, PaymentInstructions, Period, PrecedingInvoice, VatBreakdown } from './model.ts';
import { element, leaf, optionalElement, optionalLeaf } from './xml-text.ts';

/** CII has BT-8 from UNTDID 2475, and the norm from UNTDID 2005. */
const dueDateTypes: Partial<Record<string, string>> = { '3': '5' };

/** The amounts due, and how to pay them. */
export function settlement(invoice: EInvoice): string {
  const { payment } = invoice;
  return element(
    'ram:ApplicableHeaderTradeSettlement',
    optionalLeaf('ram:PaymentReference', payment?.remittance),
    optionalLeaf('ram:TaxCurrencyCode', invoice.vatAccounting?.currency),
    leaf('ram:InvoiceCurrencyCode', invoice.currency),
    payment && paymentMeans(payment),
    ...invoice.vatBreakdown.map((item) => tradeTax(item, invoice.vatPointDateCode)),
    invoice.invoicingPeriod && billingPeriod(invoice.invoicingPeriod),
    optionalElement(
      'ram:SpecifiedTradePaymentTerms',
      optionalLeaf('ram:Description', invoice.paymentTerms),
      optionalDate('ram:DueDateDateTime', invoice.paymentDueDate),
    ),
    summation(invoice),
    ...invoice.precedingInvoices.map(precedingInvoice),
  );
}

function paymentMeans({ meansCode, account }: PaymentInstructions): string {
  return element(
    'ram:SpecifiedTradeSettlementPaymentMeans',
    leaf('ram:TypeCode', meansCode),
    element(
      'ram:PayeePartyCreditorFinancialAccount',
      account.isIban ? leaf('ram:IBANID', account.id) : undefined,
      optionalLeaf('ram:AccountName', account.name),
      account.isIban ? undefined : leaf('ram:ProprietaryID', account.id),
    ),
    optionalElement(
      'ram:PayeeSpecifiedCreditorFinancialInstitution',
      optionalLeaf('ram:BICID', account.serviceProvider),
    ),
  );
}

function tradeTax(item: VatBreakdown, vatPointDateCode: string | undefined): string {
  return element(
    'ram:ApplicableTradeTax',
    leaf('ram:CalculatedAmount', item.vat),
    leaf('ram:TypeCode', 'VAT'),
    optionalLeaf('ram:ExemptionReason', item.exemptionReason),
    leaf('ram:BasisAmount', item.taxable),
    leaf('ram:CategoryCode', item.category),
    optionalLeaf('ram:ExemptionReasonCode', item.exemptionReasonCode),
    optionalLeaf('ram:DueDateTypeCode', dueDateTypes[vatPointDateCode ?? '']),
    optionalLeaf('ram:RateApplicablePercent', item.rate),
  );
}

function billingPeriod({ startDate, endDate }: Period): string {
  return element(
    'ram:BillingSpecifiedPeriod',
    date('ram:StartDateTime', startDate),
    date('ram:EndDateTime', endDate),
  );
}

/** The totals (BG-22). BT-110 and BT-111 are told apart by their currencies. */
function summation({ totals, currency, vatAccounting }: EInvoice): string {
  return element(
    'ram:SpecifiedTradeSettlementHeaderMonetarySummation',
    leaf('ram:LineTotalAmount', totals.lines),
    leaf('ram:TaxBasisTotalAmount', totals.withoutVat),
    leaf('ram:TaxTotalAmount', totals.vat, { currencyID: currency }),
    vatAccounting &&
      leaf('ram:TaxTotalAmount', vatAccounting.totalVat, { currencyID: vatAccounting.currency }),
    leaf('ram:GrandTotalAmount', totals.withVat),
    leaf('ram:DuePayableAmount', totals.due),
  );
}

function precedingInvoice({ number, issueDate }: PrecedingInvoice): string {
  return element(
    'ram:InvoiceReferencedDocument',
    leaf('ram:IssuerAssignedID', number),
    date('ram:FormattedIssueDateTime', issueDate, 'qdt'),
  );
}

/** A day in format 102 of UNTDID 2379: `qdt` where the schema has a formatted date. */
export function date(name: string, day: string, prefix: 'udt' | 'qdt' = 'udt'): string {
  return element(name, leaf(`${prefix}:DateTimeString`, day.replaceAll('-', ''), { format: '102' }));
}

export function optionalDate(name: string, day: string | undefined): string | undefined {
  return day === undefined ? undefined : date(name, day);
}
