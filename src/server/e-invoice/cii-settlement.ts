import { payeeParty } from './cii-parties.ts';
import type {
  AllowanceCharge,
  CreditTransfer,
  EInvoice,
  PaymentInstructions,
  Period,
  PrecedingInvoice,
  VatBreakdown,
} from './model.ts';
import { element, leaf, optionalElement, optionalLeaf } from './xml-text.ts';

/** CII has BT-8 from UNTDID 2475, and the norm from UNTDID 2005. */
const dueDateTypes: Partial<Record<string, string>> = { '3': '5', '35': '29', '432': '72' };

/** The amounts due, and how to pay them. */
export function settlement(invoice: EInvoice): string {
  const { payment } = invoice;
  return element(
    'ram:ApplicableHeaderTradeSettlement',
    optionalLeaf('ram:CreditorReferenceID', payment?.directDebit?.creditorId),
    optionalLeaf('ram:PaymentReference', payment?.remittance),
    optionalLeaf('ram:TaxCurrencyCode', invoice.vatAccounting?.currency),
    leaf('ram:InvoiceCurrencyCode', invoice.currency),
    invoice.payee && payeeParty(invoice.payee),
    ...(payment ? paymentMeans(payment) : []),
    // A document has one day on which VAT becomes chargeable (CII-SR-461).
    ...invoice.vatBreakdown.map((item, index) =>
      tradeTax(item, index === 0 ? invoice : { ...invoice, vatPointDate: undefined }),
    ),
    billingPeriod(invoice.invoicingPeriod),
    ...invoice.allowanceCharges.map(({ category, rate, ...one }) =>
      allowanceCharge(one, [
        leaf('ram:CategoryCode', category),
        optionalLeaf('ram:RateApplicablePercent', rate),
      ]),
    ),
    optionalElement(
      'ram:SpecifiedTradePaymentTerms',
      optionalLeaf('ram:Description', invoice.paymentTerms),
      optionalDate('ram:DueDateDateTime', invoice.paymentDueDate),
      optionalLeaf('ram:DirectDebitMandateID', payment?.directDebit?.mandate),
    ),
    summation(invoice),
    ...invoice.precedingInvoices.map(precedingInvoice),
    accountingAccount(invoice.buyerAccountingReference),
  );
}

/** One for each account (BG-17); a card (BG-18) and a direct debit (BG-19) are in the first. */
function paymentMeans({ meansCode, meansText, accounts, card, directDebit }: PaymentInstructions): string[] {
  const [first, ...others] = accounts;
  const means = (account: CreditTransfer | undefined, ...before: readonly (string | undefined)[]) =>
    element(
      'ram:SpecifiedTradeSettlementPaymentMeans',
      leaf('ram:TypeCode', meansCode),
      optionalLeaf('ram:Information', meansText),
      ...before,
      ...(account ? creditorAccount(account) : []),
    );
  return [
    means(
      first,
      card &&
        element(
          'ram:ApplicableTradeSettlementFinancialCard',
          leaf('ram:ID', card.number),
          optionalLeaf('ram:CardholderName', card.holder),
        ),
      optionalElement(
        'ram:PayerPartyDebtorFinancialAccount',
        optionalLeaf('ram:IBANID', directDebit?.account),
      ),
    ),
    ...others.map((account) => means(account)),
  ];
}

function creditorAccount({ id, isIban, name, serviceProvider }: CreditTransfer): (string | undefined)[] {
  return [
    element(
      'ram:PayeePartyCreditorFinancialAccount',
      isIban ? leaf('ram:IBANID', id) : undefined,
      optionalLeaf('ram:AccountName', name),
      isIban ? undefined : leaf('ram:ProprietaryID', id),
    ),
    optionalElement(
      'ram:PayeeSpecifiedCreditorFinancialInstitution',
      optionalLeaf('ram:BICID', serviceProvider),
    ),
  ];
}

function tradeTax(item: VatBreakdown, { vatPointDate, vatPointDateCode }: EInvoice): string {
  return element(
    'ram:ApplicableTradeTax',
    leaf('ram:CalculatedAmount', item.vat),
    leaf('ram:TypeCode', 'VAT'),
    optionalLeaf('ram:ExemptionReason', item.exemptionReason),
    leaf('ram:BasisAmount', item.taxable),
    leaf('ram:CategoryCode', item.category),
    optionalLeaf('ram:ExemptionReasonCode', item.exemptionReasonCode),
    vatPointDate &&
      element(
        'ram:TaxPointDate',
        leaf('udt:DateString', vatPointDate.replaceAll('-', ''), { format: '102' }),
      ),
    optionalLeaf('ram:DueDateTypeCode', dueDateTypes[vatPointDateCode ?? '']),
    optionalLeaf('ram:RateApplicablePercent', item.rate),
  );
}

/** BG-14, BG-26. */
export function billingPeriod(period: Period | undefined): string | undefined {
  return optionalElement(
    'ram:BillingSpecifiedPeriod',
    optionalDate('ram:StartDateTime', period?.startDate),
    optionalDate('ram:EndDateTime', period?.endDate),
  );
}

/** BT-19, BT-133. */
export function accountingAccount(reference: string | undefined): string | undefined {
  return optionalElement('ram:ReceivableSpecifiedTradeAccountingAccount', optionalLeaf('ram:ID', reference));
}

/** A discount or charge of a line, or with its VAT of the document. */
export function allowanceCharge(given: AllowanceCharge, vat?: (string | undefined)[]): string {
  return element(
    'ram:SpecifiedTradeAllowanceCharge',
    element('ram:ChargeIndicator', leaf('udt:Indicator', String(given.isCharge))),
    optionalLeaf('ram:CalculationPercent', given.percent),
    optionalLeaf('ram:BasisAmount', given.base),
    leaf('ram:ActualAmount', given.amount),
    optionalLeaf('ram:ReasonCode', given.reasonCode),
    optionalLeaf('ram:Reason', given.reason),
    vat && element('ram:CategoryTradeTax', leaf('ram:TypeCode', 'VAT'), ...vat),
  );
}

/** The totals (BG-22). BT-110 and BT-111 are told apart by their currencies. */
function summation({ totals, currency, vatAccounting }: EInvoice): string {
  return element(
    'ram:SpecifiedTradeSettlementHeaderMonetarySummation',
    leaf('ram:LineTotalAmount', totals.lines),
    optionalLeaf('ram:ChargeTotalAmount', totals.charges),
    optionalLeaf('ram:AllowanceTotalAmount', totals.allowances),
    leaf('ram:TaxBasisTotalAmount', totals.withoutVat),
    leaf('ram:TaxTotalAmount', totals.vat, { currencyID: currency }),
    vatAccounting &&
      leaf('ram:TaxTotalAmount', vatAccounting.totalVat, { currencyID: vatAccounting.currency }),
    optionalLeaf('ram:RoundingAmount', totals.rounding),
    leaf('ram:GrandTotalAmount', totals.withVat),
    optionalLeaf('ram:TotalPrepaidAmount', totals.prepaid),
    leaf('ram:DuePayableAmount', totals.due),
  );
}

function precedingInvoice({ number, issueDate }: PrecedingInvoice): string {
  return element(
    'ram:InvoiceReferencedDocument',
    leaf('ram:IssuerAssignedID', number),
    issueDate && date('ram:FormattedIssueDateTime', issueDate, 'qdt'),
  );
}

/** A day in format 102 of UNTDID 2379: `qdt` where the schema has a formatted date. */
export function date(name: string, day: string, prefix: 'udt' | 'qdt' = 'udt'): string {
  return element(name, leaf(`${prefix}:DateTimeString`, day.replaceAll('-', ''), { format: '102' }));
}

export function optionalDate(name: string, day: string | undefined): string | undefined {
  return day === undefined ? undefined : date(name, day);
}
