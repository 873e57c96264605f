import type { AllowanceCharge, EInvoice, Line, PaymentInstructions, Period, VatBreakdown } from './model.ts';
import { peppolProblems } from './peppol.ts';
import { accountingParty, deliveryOf, payeeParty, representativeParty, taxScheme } from './ubl-parties.ts';
import { billingReference, objectReference, orderReference, references } from './ubl-references.ts';
import { element, leaf, optionalElement, optionalLeaf } from './xml-text.ts';

/** BT-24 of the norm alone, and BT-24 and BT-23 of Peppol BIS Billing 3. */
const CUSTOMIZATION = 'urn:cen.eu:en16931:2017';
const PEPPOL_CUSTOMIZATION = `${CUSTOMIZATION}#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0`;
const PEPPOL_PROFILE = 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0';

/** BT-3 of a credit note. */
const CREDIT_NOTE = '381';

const COMPONENTS = 'urn:oasis:names:specification:ubl:schema:xsd:Common';

/** Writes an amount in a currency under a name. */
type Amount = (name: string, value: string) => string;

/**
 * Writes an e-invoice as UBL 2.1 in the syntax binding of EN 16931 (CEN/TS 16931-3-2): by Peppol BIS Billing 3 where it
 * has what that asks for. A credit note has a schema of its own.
 */
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
    ...references(invoice, isCreditNote),
    ...parties(invoice),
    deliveryOf(invoice.delivery),
    ...(invoice.payment ? paymentMeans(invoice.payment) : []),
    optionalElement('cac:PaymentTerms', optionalLeaf('cbc:Note', invoice.paymentTerms)),
    ...invoice.allowanceCharges.map((one) =>
      allowanceCharge(one, amount, taxCategory('cac:TaxCategory', one)),
    ),
    ...taxTotals(invoice, amount),
    monetaryTotal(invoice, amount),
    ...invoice.lines.map((line) => lineOf(line, isCreditNote ? 'Credit' : 'Invoice', amount)),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root} ${namespaces.join(' ')}>${content.join('')}</${root}>\n`;
}

function heading(invoice: EInvoice, isCreditNote: boolean): (string | undefined)[] {
  const taxPointDate = optionalLeaf('cbc:TaxPointDate', invoice.vatPointDate);
  const isPeppol = peppolProblems(invoice).length === 0;
  const notes = invoice.notes.map(({ subjectCode, text }) =>
    subjectCode === undefined ? text : `#${subjectCode}#${text}`,
  );
  return [
    leaf('cbc:CustomizationID', isPeppol ? PEPPOL_CUSTOMIZATION : CUSTOMIZATION),
    isPeppol ? leaf('cbc:ProfileID', PEPPOL_PROFILE) : undefined,
    leaf('cbc:ID', invoice.number),
    leaf('cbc:IssueDate', invoice.issueDate),
    isCreditNote ? taxPointDate : optionalLeaf('cbc:DueDate', invoice.paymentDueDate),
    leaf(isCreditNote ? 'cbc:CreditNoteTypeCode' : 'cbc:InvoiceTypeCode', invoice.typeCode),
    // Peppol has one note (PEPPOL-EN16931-R002).
    ...(isPeppol && notes.length > 0 ? [notes.join('\n')] : notes).map((note) => leaf('cbc:Note', note)),
    isCreditNote ? undefined : taxPointDate,
    leaf('cbc:DocumentCurrencyCode', invoice.currency),
    optionalLeaf('cbc:TaxCurrencyCode', invoice.vatAccounting?.currency),
    optionalLeaf('cbc:AccountingCost', invoice.buyerAccountingReference),
    optionalLeaf('cbc:BuyerReference', invoice.buyerReference),
    period(invoice.invoicingPeriod, invoice.vatPointDateCode),
    orderReference(invoice),
    ...invoice.precedingInvoices.map(billingReference),
  ];
}

function parties({ seller, buyer, payee, taxRepresentative, payment }: EInvoice): (string | undefined)[] {
  const creditorId = payment?.directDebit?.creditorId;
  return [
    accountingParty('cac:AccountingSupplierParty', seller, payee ? undefined : creditorId),
    accountingParty('cac:AccountingCustomerParty', buyer),
    payee && payeeParty(payee, creditorId),
    taxRepresentative && representativeParty(taxRepresentative),
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

/** One for each account (BG-17); text, card (BG-18) and direct debit (BG-19, UBL-SR-55) are in the first. */
function paymentMeans(payment: PaymentInstructions): string[] {
  const { accounts, card, directDebit } = payment;
  const [first, ...others] = accounts;
  const means = (account: typeof first, isFirst: boolean) =>
    element(
      'cac:PaymentMeans',
      leaf('cbc:PaymentMeansCode', payment.meansCode, isFirst ? { name: payment.meansText } : {}),
      optionalLeaf('cbc:PaymentID', payment.remittance),
      isFirst && card
        ? element(
            'cac:CardAccount',
            leaf('cbc:PrimaryAccountNumberID', card.number),
            // The schema asks for it, and the norm has no term for it.
            leaf('cbc:NetworkID', 'NA'),
            optionalLeaf('cbc:HolderName', card.holder),
          )
        : undefined,
      account &&
        element(
          'cac:PayeeFinancialAccount',
          leaf('cbc:ID', account.id),
          optionalLeaf('cbc:Name', account.name),
          optionalElement('cac:FinancialInstitutionBranch', optionalLeaf('cbc:ID', account.serviceProvider)),
        ),
      isFirst && directDebit
        ? optionalElement(
            'cac:PaymentMandate',
            optionalLeaf('cbc:ID', directDebit.mandate),
            optionalElement('cac:PayerFinancialAccount', optionalLeaf('cbc:ID', directDebit.account)),
          )
        : undefined,
    );
  return [means(first, true), ...others.map((account) => means(account, false))];
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
  const optionalAmount = (name: string, value: string | undefined) => value && amount(name, value);
  return element(
    'cac:LegalMonetaryTotal',
    amount('cbc:LineExtensionAmount', totals.lines),
    amount('cbc:TaxExclusiveAmount', totals.withoutVat),
    amount('cbc:TaxInclusiveAmount', totals.withVat),
    optionalAmount('cbc:AllowanceTotalAmount', totals.allowances),
    optionalAmount('cbc:ChargeTotalAmount', totals.charges),
    optionalAmount('cbc:PrepaidAmount', totals.prepaid),
    optionalAmount('cbc:PayableRoundingAmount', totals.rounding),
    amount('cbc:PayableAmount', totals.due),
  );
}

/** A line of a document (BG-25). */
function lineOf(line: Line, kind: 'Invoice' | 'Credit', amount: Amount): string {
  return element(
    kind === 'Credit' ? 'cac:CreditNoteLine' : 'cac:InvoiceLine',
    leaf('cbc:ID', line.id),
    optionalLeaf('cbc:Note', line.note),
    leaf(kind === 'Credit' ? 'cbc:CreditedQuantity' : 'cbc:InvoicedQuantity', line.quantity, {
      unitCode: line.unitCode,
    }),
    amount('cbc:LineExtensionAmount', line.net),
    optionalLeaf('cbc:AccountingCost', line.buyerAccountingReference),
    period(line.period, undefined),
    optionalElement('cac:OrderLineReference', optionalLeaf('cbc:LineID', line.orderLineReference)),
    objectReference('cac:DocumentReference', line.invoicedObject),
    ...line.allowanceCharges.map((one) => allowanceCharge(one, amount)),
    itemOf(line),
    element(
      'cac:Price',
      amount('cbc:PriceAmount', line.netPrice),
      optionalLeaf('cbc:BaseQuantity', line.priceBaseQuantity, { unitCode: line.unitCode }),
      line.priceDiscount &&
        allowanceCharge(
          { isCharge: false, amount: line.priceDiscount.amount, base: line.priceDiscount.grossPrice },
          amount,
        ),
    ),
  );
}

/** The article (BG-31) with its properties (BG-32). */
function itemOf(line: Line): string {
  const { standardItemId } = line;
  const itemId = (name: string, id: string | undefined, schemeID?: string) =>
    optionalElement(name, optionalLeaf('cbc:ID', id, { schemeID }));
  return element(
    'cac:Item',
    optionalLeaf('cbc:Description', line.itemDescription),
    leaf('cbc:Name', line.itemName),
    itemId('cac:BuyersItemIdentification', line.buyerItemId),
    itemId('cac:SellersItemIdentification', line.sellerItemId),
    itemId('cac:StandardItemIdentification', standardItemId?.id, standardItemId?.scheme),
    optionalElement('cac:OriginCountry', optionalLeaf('cbc:IdentificationCode', line.originCountryCode)),
    ...line.classifications.map(({ code, scheme, version }) =>
      element(
        'cac:CommodityClassification',
        leaf('cbc:ItemClassificationCode', code, { listID: scheme, listVersionID: version }),
      ),
    ),
    taxCategory('cac:ClassifiedTaxCategory', line),
    ...line.attributes.map(({ name, value }) =>
      element('cac:AdditionalItemProperty', leaf('cbc:Name', name), leaf('cbc:Value', value)),
    ),
  );
}

/** A discount or charge of a line, or with its VAT of the document. */
function allowanceCharge(given: AllowanceCharge, amount: Amount, vat?: string): string {
  return element(
    'cac:AllowanceCharge',
    leaf('cbc:ChargeIndicator', String(given.isCharge)),
    optionalLeaf('cbc:AllowanceChargeReasonCode', given.reasonCode),
    optionalLeaf('cbc:AllowanceChargeReason', given.reason),
    optionalLeaf('cbc:MultiplierFactorNumeric', given.percent),
    amount('cbc:Amount', given.amount),
    given.base && amount('cbc:BaseAmount', given.base),
    vat,
  );
}

function taxCategory(name: string, { category, rate }: Pick<Line, 'category' | 'rate'>): string {
  return element(name, leaf('cbc:ID', category), optionalLeaf('cbc:Percent', rate), taxScheme());
}
