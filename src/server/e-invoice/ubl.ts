import type { EInvoice, Line, PaymentInstructions, Period, PrecedingInvoice, VatBreakdown } from './model.ts';
import { accountingParty, deliveryOf, taxScheme } from './ubl-parties.ts';
import { element, leaf, optionalElement, optionalLeaf } from './xml-text.ts';

/** BT-24. */
const CUSTOMIZATION = 'urn:cen.eu:en16931:2017';

/** BT-3 of a credit note. */
const CREDIT_NOTE = '381';

const COMPONENTS = 'urn:oasis:names:specification:ubl:schema:xsd:Common';

/** Writes an amount in a currency under a name. */
type Amount = (name: string, value: string) => string;

/** Writes an e-invoice as UBL 2.1 in the syntax binding of EN 16931 (CEN/TS 16931-3-2): a credit note has a schema of its own. */
export function ublText(invoice: EInvoice): string {
  const isCreditNote = invoice.typeCode === CREDIT_NOTE;
  const root = isCreditNote ? 'CreditNote' : 'Invoice';
  const namespaces = [
    `xmlns="urn:oasis:names:specification:ubl:schema:xsd:${root}-2"`,
    `xmlns:cac="${COMPONENTS}AggregateComponents-2"`,
    `xmlns:cbc="${COMPONENTS}BasicComponents-2"`,
  ];
  const amount: Amount = (name, value) => leaf(name, value, { currencyID: invoice.currency });
  const content = [
    ...heading(invoice, isCreditNote),
    accountingParty('cac:AccountingSupplierParty', invoice.seller),
    accountingParty('cac:AccountingCustomerParty', invoice.buyer),
    deliveryOf(invoice.delivery),
    invoice.payment && paymentMeans(invoice.payment),
    optionalElement('cac:PaymentTerms', optionalLeaf('cbc:Note', invoice.paymentTerms)),
    ...taxTotals(invoice, amount),
    monetaryTotal(invoice, amount),
    ...invoice.lines.map((line) => lineOf(line, isCreditNote ? 'Credit' : 'Invoice', amount)),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} ${namespaces.join(' ')}>${content.join('')}</${root}>\n`;
}

function heading(invoice: EInvoice, isCreditNote: boolean): (string | undefined)[] {
  const notes = invoice.notes.map((note) => leaf('cbc:Note', note));
  return [
    leaf('cbc:CustomizationID', CUSTOMIZATION),
    leaf('cbc:ID', invoice.number),
    leaf('cbc:IssueDate', invoice.issueDate),
    isCreditNote ? undefined : optionalLeaf('cbc:DueDate', invoice.paymentDueDate),
    leaf(isCreditNote ? 'cbc:CreditNoteTypeCode' : 'cbc:InvoiceTypeCode', invoice.typeCode),
    ...notes,
    leaf('cbc:DocumentCurrencyCode', invoice.currency),
    optionalLeaf('cbc:TaxCurrencyCode', invoice.vatAccounting?.currency),
    optionalLeaf('cbc:BuyerReference', invoice.buyerReference),
    period(invoice.invoicingPeriod, invoice.vatPointDateCode),
    optionalElement('cac:OrderReference', optionalLeaf('cbc:ID', invoice.purchaseOrderReference)),
    ...invoice.precedingInvoices.map(billingReference),
  ];
}

/** BG-14 with BT-8, which UBL has as the description of the period. */
function period(given: Period | undefined, vatPointDateCode: string | undefined): string | undefined {
  return optionalElement(
    'cac:InvoicePeriod',
    optionalLeaf('cbc:StartDate', given?.startDate),
    optionalLeaf('cbc:EndDate', given?.endDate),
    optionalLeaf('cbc:DescriptionCode', vatPointDateCode),
  );
}

function billingReference({ number, issueDate }: PrecedingInvoice): string {
  return element(
    'cac:BillingReference',
    element('cac:InvoiceDocumentReference', leaf('cbc:ID', number), leaf('cbc:IssueDate', issueDate)),
  );
}

function paymentMeans({ meansCode, remittance, account }: PaymentInstructions): string {
  return element(
    'cac:PaymentMeans',
    leaf('cbc:PaymentMeansCode', meansCode),
    leaf('cbc:PaymentID', remittance),
    element(
      'cac:PayeeFinancialAccount',
      leaf('cbc:ID', account.id),
      optionalLeaf('cbc:Name', account.name),
      optionalElement('cac:FinancialInstitutionBranch', optionalLeaf('cbc:ID', account.serviceProvider)),
    ),
  );
}

/** BT-110 with the breakdown (BG-23), and BT-111. */
function taxTotals(
  { totals, vatBreakdown, vatAccounting }: EInvoice,
  amount: Amount,
): (string | undefined)[] {
  return [
    element(
      'cac:TaxTotal',
      amount('cbc:TaxAmount', totals.vat),
      ...vatBreakdown.map((item) => taxSubtotal(item, amount)),
    ),
    vatAccounting &&
      element(
        'cac:TaxTotal',
        leaf('cbc:TaxAmount', vatAccounting.totalVat, { currencyID: vatAccounting.currency }),
      ),
  ];
}

function taxSubtotal(item: VatBreakdown, amount: Amount): string {
  return element(
    'cac:TaxSubtotal',
    amount('cbc:TaxableAmount', item.taxable),
    amount('cbc:TaxAmount', item.vat),
    element(
      'cac:TaxCategory',
      leaf('cbc:ID', item.category),
      optionalLeaf('cbc:Percent', item.rate),
      optionalLeaf('cbc:TaxExemptionReasonCode', item.exemptionReasonCode),
      optionalLeaf('cbc:TaxExemptionReason', item.exemptionReason),
      taxScheme(),
    ),
  );
}

/** The totals (BG-22). */
function monetaryTotal({ totals }: EInvoice, amount: Amount): string {
  return element(
    'cac:LegalMonetaryTotal',
    amount('cbc:LineExtensionAmount', totals.lines),
    amount('cbc:TaxExclusiveAmount', totals.withoutVat),
    amount('cbc:TaxInclusiveAmount', totals.withVat),
    amount('cbc:PayableAmount', totals.due),
  );
}

/** A line of a document (BG-25). */
function lineOf(line: Line, kind: 'Invoice' | 'Credit', amount: Amount): string {
  return element(
    kind === 'Credit' ? 'cac:CreditNoteLine' : 'cac:InvoiceLine',
    leaf('cbc:ID', line.id),
    leaf(kind === 'Credit' ? 'cbc:CreditedQuantity' : 'cbc:InvoicedQuantity', line.quantity, {
      unitCode: line.unitCode,
    }),
    amount('cbc:LineExtensionAmount', line.net),
    element(
      'cac:Item',
      optionalLeaf('cbc:Description', line.itemDescription),
      leaf('cbc:Name', line.itemName),
      element(
        'cac:ClassifiedTaxCategory',
        leaf('cbc:ID', line.category),
        optionalLeaf('cbc:Percent', line.rate),
        taxScheme(),
      ),
    ),
    element('cac:Price', amount('cbc:PriceAmount', line.netPrice)),
  );
}
