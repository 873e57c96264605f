import {
  ciiAllowanceCharge,
  day,
  identifiers,
  objectReference,
  ciiAddress,
  tradeParty,
} from './cii-groups.ts';
import type { EInvoice, Line, PaymentInstructions } from './model.ts';
import { groupPerItem, type TermGroup, type Rows, groupOf, xmlText } from './rows.ts';

/** The identifier of the profile EN 16931, also known as Comfort, of Factur-X 1.0 and ZUGFeRD 2. */
const GUIDELINE = 'urn:cen.eu:en16931:2017';

const namespaces = {
  'xmlns:rsm': 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100',
  'xmlns:ram': 'urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100',
  'xmlns:qdt': 'urn:un:unece:uncefact:data:standard:QualifiedDataType:100',
  'xmlns:udt': 'urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100',
};

/** Document type codes of the documents that an invoice can refer to, from UNTDID 1001. */
const SUPPORTING = '916';
const TENDER = '50';

/** Codes for the VAT point date (BT-8) in CII (UNTDID 2475), by the code in EN 16931 (UNTDID 2005). */
const dueDateTypes: Partial<Record<string, string>> = { '3': '5', '35': '29', '432': '72' };

/** Returns the XML text of an e-invoice as Cross Industry Invoice D22B in the profile EN 16931. */
export function ciiText(invoice: EInvoice): string {
  return xmlText('rsm:CrossIndustryInvoice', namespaces, [
    groupOf('rsm:ExchangedDocumentContext', [
      ['BT-24', 'ram:GuidelineSpecifiedDocumentContextParameter/ram:ID', GUIDELINE],
    ]),
    groupOf('rsm:ExchangedDocument', [
      ['BT-1', 'ram:ID', invoice.number],
      ['BT-3', 'ram:TypeCode', invoice.typeCode],
      ['BT-2', 'ram:IssueDateTime/udt:DateTimeString', ...day(invoice.issueDate)],
      groupPerItem('ram:IncludedNote', invoice.notes, ({ text, subjectCode }) => [
        ['BT-22', 'ram:Content', text],
        ['BT-21', 'ram:SubjectCode', subjectCode],
      ]),
    ]),
    groupOf('rsm:SupplyChainTradeTransaction', [
      groupPerItem('ram:IncludedSupplyChainTradeLineItem', invoice.lines, lineItem),
      groupOf('ram:ApplicableHeaderTradeAgreement', agreement(invoice)),
      { ...groupOf('ram:ApplicableHeaderTradeDelivery', delivery(invoice)), isRequired: true },
      groupOf('ram:ApplicableHeaderTradeSettlement', settlement(invoice)),
    ]),
  ]);
}

/** Returns the XML rows of an invoice line (BG-25). */
function lineItem(line: Line): Rows {
  const { unitCode, priceDiscount, priceBaseQuantity } = line;
  return [
    groupOf('ram:AssociatedDocumentLineDocument', [
      ['BT-126', 'ram:LineID', line.id],
      ['BT-127', 'ram:IncludedNote/ram:Content', line.note],
    ]),
    groupOf('ram:SpecifiedTradeProduct', [
      ['BT-157', 'ram:GlobalID', line.standardItemId],
      ['BT-155', 'ram:SellerAssignedID', line.sellerItemId],
      ['BT-156', 'ram:BuyerAssignedID', line.buyerItemId],
      ['BT-153', 'ram:Name', line.itemName],
      ['BT-154', 'ram:Description', line.itemDescription],
      groupPerItem('ram:ApplicableProductCharacteristic', line.attributes, ({ name, value }) => [
        ['BT-160', 'ram:Description', name],
        ['BT-161', 'ram:Value', value],
      ]),
      groupPerItem(
        'ram:DesignatedProductClassification',
        line.classifications,
        ({ code, scheme, version }) => [
          ['BT-158', 'ram:ClassCode', code, { listID: scheme, listVersionID: version }],
        ],
      ),
      ['BT-159', 'ram:OriginTradeCountry/ram:ID', line.originCountryCode],
    ]),
    groupOf('ram:SpecifiedLineTradeAgreement', [
      ['BT-132', 'ram:BuyerOrderReferencedDocument/ram:LineID', line.orderLineReference],
      groupOf('ram:GrossPriceProductTradePrice', [
        ['BT-148', 'ram:ChargeAmount', priceDiscount?.grossPrice],
        ['BT-149, 150', 'ram:BasisQuantity', priceDiscount && priceBaseQuantity, { unitCode }],
        groupOf('ram:AppliedTradeAllowanceCharge', [
          ['-', 'ram:ChargeIndicator/udt:Indicator', 'false'],
          ['BT-147', 'ram:ActualAmount', priceDiscount?.amount],
        ]),
      ]),
      groupOf('ram:NetPriceProductTradePrice', [
        ['BT-146', 'ram:ChargeAmount', line.netPrice],
        ['BT-149, 150', 'ram:BasisQuantity', priceBaseQuantity, { unitCode }],
      ]),
    ]),
    ['BT-129, 130', 'ram:SpecifiedLineTradeDelivery/ram:BilledQuantity', line.quantity, { unitCode }],
    groupOf('ram:SpecifiedLineTradeSettlement', [
      groupOf('ram:ApplicableTradeTax', [
        ['-', 'ram:TypeCode', 'VAT'],
        ['BT-151', 'ram:CategoryCode', line.category],
        ['BT-152', 'ram:RateApplicablePercent', line.rate],
      ]),
      groupOf('ram:BillingSpecifiedPeriod', [
        ['BT-134', 'ram:StartDateTime/udt:DateTimeString', ...day(line.period?.startDate)],
        ['BT-135', 'ram:EndDateTime/udt:DateTimeString', ...day(line.period?.endDate)],
      ]),
      groupPerItem('ram:SpecifiedTradeAllowanceCharge', line.allowanceCharges, ciiAllowanceCharge),
      ['BT-131', 'ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount', line.net],
      objectReference(line.invoicedObject),
      ['BT-133', 'ram:ReceivableSpecifiedTradeAccountingAccount/ram:ID', line.buyerAccountingReference],
    ]),
  ];
}

function agreement(invoice: EInvoice): Rows {
  const { taxRepresentative } = invoice;
  return [
    ['BT-10', 'ram:BuyerReference', invoice.buyerReference],
    groupOf('ram:SellerTradeParty', tradeParty(invoice.seller)),
    groupOf('ram:BuyerTradeParty', tradeParty(invoice.buyer)),
    groupOf('ram:SellerTaxRepresentativeTradeParty', taxRepresentative && tradeParty(taxRepresentative)),
    ['BT-14', 'ram:SellerOrderReferencedDocument/ram:IssuerAssignedID', invoice.salesOrderReference],
    ['BT-13', 'ram:BuyerOrderReferencedDocument/ram:IssuerAssignedID', invoice.purchaseOrderReference],
    ['BT-12', 'ram:ContractReferencedDocument/ram:IssuerAssignedID', invoice.contractReference],
    groupPerItem('ram:AdditionalReferencedDocument', invoice.supportingDocuments, (supporting) => [
      ['BT-122', 'ram:IssuerAssignedID', supporting.reference],
      ['BT-124', 'ram:URIID', supporting.url],
      ['-', 'ram:TypeCode', SUPPORTING],
      ['BT-123', 'ram:Name', supporting.description],
    ]),
    groupOf('ram:AdditionalReferencedDocument', [
      ['BT-17', 'ram:IssuerAssignedID', invoice.tenderReference],
      ['-', 'ram:TypeCode', TENDER],
    ]),
    objectReference(invoice.invoicedObject),
    // The schema requires a name too, for which the standard has no term.
    groupOf('ram:SpecifiedProcuringProject', [
      ['BT-11', 'ram:ID', invoice.projectReference],
      ['-', 'ram:Name', 'Project reference'],
    ]),
  ];
}

function delivery({ delivery: { name, locationId, address, date }, ...invoice }: EInvoice): Rows {
  return [
    groupOf('ram:ShipToTradeParty', [
      ...identifiers('BT-71', [locationId]),
      ['BT-70', 'ram:Name', name],
      groupOf('ram:PostalTradeAddress', address && ciiAddress(address)),
    ]),
    ['BT-72', 'ram:ActualDeliverySupplyChainEvent/ram:OccurrenceDateTime/udt:DateTimeString', ...day(date)],
    ['BT-16', 'ram:DespatchAdviceReferencedDocument/ram:IssuerAssignedID', invoice.despatchAdviceReference],
    ['BT-15', 'ram:ReceivingAdviceReferencedDocument/ram:IssuerAssignedID', invoice.receivingAdviceReference],
  ];
}

/** Returns the XML rows of the amounts due and the payment details. */
function settlement(invoice: EInvoice): Rows {
  const { payment, payee, vatAccounting, invoicingPeriod: period } = invoice;
  const { creditorId, mandate } = payment?.directDebit ?? {};
  return [
    ['BT-90', 'ram:CreditorReferenceID', creditorId],
    ['BT-83', 'ram:PaymentReference', payment?.remittance],
    ['BT-6', 'ram:TaxCurrencyCode', vatAccounting?.currency],
    ['BT-5', 'ram:InvoiceCurrencyCode', invoice.currency],
    groupOf('ram:PayeeTradeParty', [
      ...identifiers('BT-60', [payee?.identifier]),
      ['BT-59', 'ram:Name', payee?.name],
      ['BT-61', 'ram:SpecifiedLegalOrganization/ram:ID', payee?.registration],
    ]),
    ...(payment ? [paymentMeans(payment)] : []),
    groupPerItem('ram:ApplicableTradeTax', invoice.vatBreakdown, (item, index) => [
      ['BT-117', 'ram:CalculatedAmount', item.vat],
      ['-', 'ram:TypeCode', 'VAT'],
      ['BT-120', 'ram:ExemptionReason', item.exemptionReason],
      ['BT-116', 'ram:BasisAmount', item.taxable],
      ['BT-118', 'ram:CategoryCode', item.category],
      ['BT-121', 'ram:ExemptionReasonCode', item.exemptionReasonCode],
      // A document has a single tax point date (CII-SR-461).
      ['BT-7', 'ram:TaxPointDate/udt:DateString', ...day(index === 0 ? invoice.vatPointDate : undefined)],
      ['BT-8', 'ram:DueDateTypeCode', dueDateTypes[invoice.vatPointDateCode ?? '']],
      ['BT-119', 'ram:RateApplicablePercent', item.rate],
    ]),
    groupOf('ram:BillingSpecifiedPeriod', [
      ['BT-73', 'ram:StartDateTime/udt:DateTimeString', ...day(period?.startDate)],
      ['BT-74', 'ram:EndDateTime/udt:DateTimeString', ...day(period?.endDate)],
    ]),
    groupPerItem('ram:SpecifiedTradeAllowanceCharge', invoice.allowanceCharges, ciiAllowanceCharge),
    groupOf('ram:SpecifiedTradePaymentTerms', [
      ['BT-20', 'ram:Description', invoice.paymentTerms],
      ['BT-9', 'ram:DueDateDateTime/udt:DateTimeString', ...day(invoice.paymentDueDate)],
      ['BT-89', 'ram:DirectDebitMandateID', mandate],
    ]),
    groupOf('ram:SpecifiedTradeSettlementHeaderMonetarySummation', summation(invoice)),
    groupPerItem('ram:InvoiceReferencedDocument', invoice.precedingInvoices, ({ number, issueDate }) => [
      ['BT-25', 'ram:IssuerAssignedID', number],
      ['BT-26', 'ram:FormattedIssueDateTime/qdt:DateTimeString', ...day(issueDate)],
    ]),
    ['BT-19', 'ram:ReceivableSpecifiedTradeAccountingAccount/ram:ID', invoice.buyerAccountingReference],
  ];
}

/** Returns a group for each account (BG-17); the first also has any card (BG-18) and direct debit (BG-19). */
function paymentMeans(payment: PaymentInstructions): TermGroup {
  const accounts = payment.accounts.length > 0 ? payment.accounts : [undefined];
  return groupPerItem('ram:SpecifiedTradeSettlementPaymentMeans', accounts, (account, index) => {
    const { card, directDebit } = index === 0 ? payment : {};
    return [
      ['BT-81', 'ram:TypeCode', payment.meansCode],
      ['BT-82', 'ram:Information', payment.meansText],
      groupOf('ram:ApplicableTradeSettlementFinancialCard', [
        ['BT-87', 'ram:ID', card?.number],
        ['BT-88', 'ram:CardholderName', card?.holder],
      ]),
      ['BT-91', 'ram:PayerPartyDebtorFinancialAccount/ram:IBANID', directDebit?.account],
      groupOf('ram:PayeePartyCreditorFinancialAccount', [
        ['BT-84', 'ram:IBANID', account?.isIban ? account.id : undefined],
        ['BT-85', 'ram:AccountName', account?.name],
        ['BT-84', 'ram:ProprietaryID', account?.isIban ? undefined : account?.id],
      ]),
      ['BT-86', 'ram:PayeeSpecifiedCreditorFinancialInstitution/ram:BICID', account?.serviceProvider],
    ];
  });
}

/** Returns the XML rows of the totals (BG-22). BT-110 and BT-111 differ in their currencies. */
function summation({ totals, currency, vatAccounting }: EInvoice): Rows {
  return [
    ['BT-106', 'ram:LineTotalAmount', totals.lines],
    ['BT-108', 'ram:ChargeTotalAmount', totals.charges],
    ['BT-107', 'ram:AllowanceTotalAmount', totals.allowances],
    ['BT-109', 'ram:TaxBasisTotalAmount', totals.withoutVat],
    ['BT-110', 'ram:TaxTotalAmount', totals.vat, { currencyID: currency }],
    ['BT-111', 'ram:TaxTotalAmount', vatAccounting?.totalVat, { currencyID: vatAccounting?.currency }],
    ['BT-114', 'ram:RoundingAmount', totals.rounding],
    ['BT-112', 'ram:GrandTotalAmount', totals.withVat],
    ['BT-113', 'ram:TotalPrepaidAmount', totals.prepaid],
    ['BT-115', 'ram:DuePayableAmount', totals.due],
  ];
}
