/** Where each syntax has the terms of EN 16931, by the norm's own bindings (CEN/TS 16931-3-2 and 3-3). */
import type { Document } from 'slimdom';

import { valuesOf } from '../invoice-pdf/_xml.ts';
import { type Places, placesOfAllowances, placesOfParty, withScheme } from './_term-groups.ts';

const HEADING = 'rsm:ExchangedDocument';
const TRADE = 'rsm:SupplyChainTradeTransaction';
const AGREEMENT = `${TRADE}/ram:ApplicableHeaderTradeAgreement`;
const DELIVERY = `${TRADE}/ram:ApplicableHeaderTradeDelivery`;
const SETTLEMENT = `${TRADE}/ram:ApplicableHeaderTradeSettlement`;
const SUMS = `${SETTLEMENT}/ram:SpecifiedTradeSettlementHeaderMonetarySummation`;
const MEANS = `${SETTLEMENT}/ram:SpecifiedTradeSettlementPaymentMeans`;
const TAX = `${SETTLEMENT}/ram:ApplicableTradeTax`;
const LINE = `${TRADE}/ram:IncludedSupplyChainTradeLineItem`;
const LINE_SETTLEMENT = `${LINE}/ram:SpecifiedLineTradeSettlement`;
const ADDITIONAL = `${AGREEMENT}/ram:AdditionalReferencedDocument`;
const SUPPORTING = `${ADDITIONAL}[ram:TypeCode = '916']`;
const REPRESENTATIVE = `${AGREEMENT}/ram:SellerTaxRepresentativeTradeParty`;
const PRODUCT = `${LINE}/ram:SpecifiedTradeProduct`;
const OWN_CURRENCY = `@currencyID = //ram:InvoiceCurrencyCode`;

const UBL_OWN_CURRENCY = '@currencyID = //cbc:DocumentCurrencyCode';
const UBL_SUPPORTING = 'cac:AdditionalDocumentReference[not(cbc:DocumentTypeCode)]';
const UBL_MEANS = 'cac:PaymentMeans';
const UBL_TAX = 'cac:TaxTotal/cac:TaxSubtotal';
const UBL_SUMS = 'cac:LegalMonetaryTotal';
const UBL_LINE = '(cac:InvoiceLine | cac:CreditNoteLine)';
const UBL_ITEM = `${UBL_LINE}/cac:Item`;

const places: Record<string, Places> = {
  'BT-1': [`${HEADING}/ram:ID`, 'cbc:ID'],
  'BT-2': [`${HEADING}/ram:IssueDateTime`, 'cbc:IssueDate'],
  'BT-3': [`${HEADING}/ram:TypeCode`, 'cbc:InvoiceTypeCode | cbc:CreditNoteTypeCode'],
  'BT-5': [`${SETTLEMENT}/ram:InvoiceCurrencyCode`, 'cbc:DocumentCurrencyCode'],
  'BT-6': [`${SETTLEMENT}/ram:TaxCurrencyCode`, 'cbc:TaxCurrencyCode'],
  'BT-7': [`${TAX}/ram:TaxPointDate/udt:DateString`, 'cbc:TaxPointDate'],
  // The norm's codes are those of UBL; CII has others.
  'BT-8': [
    `distinct-values(${TAX}/ram:DueDateTypeCode) ! map{'5': '3', '29': '35', '72': '432'}(.)`,
    'cac:InvoicePeriod/cbc:DescriptionCode',
  ],
  'BT-11': [
    `${AGREEMENT}/ram:SpecifiedProcuringProject/ram:ID`,
    "cac:ProjectReference/cbc:ID | self::cn:*/cac:AdditionalDocumentReference[cbc:DocumentTypeCode = '50']/cbc:ID",
  ],
  'BT-12': [
    `${AGREEMENT}/ram:ContractReferencedDocument/ram:IssuerAssignedID`,
    'cac:ContractDocumentReference/cbc:ID',
  ],
  'BT-14': [
    `${AGREEMENT}/ram:SellerOrderReferencedDocument/ram:IssuerAssignedID`,
    'cac:OrderReference/cbc:SalesOrderID',
  ],
  'BT-15': [
    `${DELIVERY}/ram:ReceivingAdviceReferencedDocument/ram:IssuerAssignedID`,
    'cac:ReceiptDocumentReference/cbc:ID',
  ],
  'BT-16': [
    `${DELIVERY}/ram:DespatchAdviceReferencedDocument/ram:IssuerAssignedID`,
    'cac:DespatchDocumentReference/cbc:ID',
  ],
  'BT-17': [
    `${ADDITIONAL}[ram:TypeCode = '50']/ram:IssuerAssignedID`,
    'cac:OriginatorDocumentReference/cbc:ID',
  ],
  'BT-18': [
    `${ADDITIONAL}[ram:TypeCode = '130']/string-join((ram:IssuerAssignedID, ram:ReferenceTypeCode), ' ')`,
    withScheme("cac:AdditionalDocumentReference[cbc:DocumentTypeCode = '130']/cbc:ID"),
  ],
  'BT-19': [`${SETTLEMENT}/ram:ReceivableSpecifiedTradeAccountingAccount/ram:ID`, 'cbc:AccountingCost'],
  'BT-59': [`${SETTLEMENT}/ram:PayeeTradeParty/ram:Name`, 'cac:PayeeParty/cac:PartyName/cbc:Name'],
  'BT-60': [
    withScheme(`${SETTLEMENT}/ram:PayeeTradeParty/(ram:ID | ram:GlobalID)`),
    withScheme("cac:PayeeParty/cac:PartyIdentification/cbc:ID[not(@schemeID = 'SEPA')]"),
  ],
  'BT-61': [
    withScheme(`${SETTLEMENT}/ram:PayeeTradeParty/ram:SpecifiedLegalOrganization/ram:ID`),
    withScheme('cac:PayeeParty/cac:PartyLegalEntity/cbc:CompanyID'),
  ],
  'BT-62': [`${REPRESENTATIVE}/ram:Name`, 'cac:TaxRepresentativeParty/cac:PartyName/cbc:Name'],
  ...placesOfParty(
    {
      vatId: 'BT-63',
      line1: 'BT-64',
      line2: 'BT-65',
      line3: 'BT-164',
      town: 'BT-66',
      postcode: 'BT-67',
      region: 'BT-68',
      country: 'BT-69',
    },
    REPRESENTATIVE,
    'cac:TaxRepresentativeParty',
  ),
  'BT-71': [
    withScheme(`${DELIVERY}/ram:ShipToTradeParty/(ram:ID | ram:GlobalID)`),
    withScheme('cac:Delivery/cac:DeliveryLocation/cbc:ID'),
  ],
  'BT-82': [`(${MEANS}/ram:Information)[1]`, `${UBL_MEANS}/cbc:PaymentMeansCode/@name`],
  'BT-87': [
    `${MEANS}/ram:ApplicableTradeSettlementFinancialCard/ram:ID`,
    `${UBL_MEANS}/cac:CardAccount/cbc:PrimaryAccountNumberID`,
  ],
  'BT-88': [
    `${MEANS}/ram:ApplicableTradeSettlementFinancialCard/ram:CardholderName`,
    `${UBL_MEANS}/cac:CardAccount/cbc:HolderName`,
  ],
  'BT-89': [
    `${SETTLEMENT}/ram:SpecifiedTradePaymentTerms/ram:DirectDebitMandateID`,
    `${UBL_MEANS}[1]/cac:PaymentMandate/cbc:ID`,
  ],
  'BT-90': [`${SETTLEMENT}/ram:CreditorReferenceID`, "//cac:PartyIdentification/cbc:ID[@schemeID = 'SEPA']"],
  'BT-91': [
    `${MEANS}/ram:PayerPartyDebtorFinancialAccount/ram:IBANID`,
    `${UBL_MEANS}[1]/cac:PaymentMandate/cac:PayerFinancialAccount/cbc:ID`,
  ],
  'BT-122': [`${SUPPORTING}/ram:IssuerAssignedID`, `${UBL_SUPPORTING}/cbc:ID`],
  'BT-123': [`${SUPPORTING}/ram:Name`, `${UBL_SUPPORTING}/cbc:DocumentDescription`],
  'BT-124': [`${SUPPORTING}/ram:URIID`, `${UBL_SUPPORTING}/cac:Attachment/cac:ExternalReference/cbc:URI`],
  'BT-127': [
    `${LINE}/ram:AssociatedDocumentLineDocument/ram:IncludedNote/ram:Content`,
    `${UBL_LINE}/cbc:Note`,
  ],
  'BT-128': [
    `${LINE_SETTLEMENT}/ram:AdditionalReferencedDocument/string-join((ram:IssuerAssignedID, ram:ReferenceTypeCode), ' ')`,
    withScheme(`${UBL_LINE}/cac:DocumentReference/cbc:ID`),
  ],
  'BT-132': [
    `${LINE}/ram:SpecifiedLineTradeAgreement/ram:BuyerOrderReferencedDocument/ram:LineID`,
    `${UBL_LINE}/cac:OrderLineReference/cbc:LineID`,
  ],
  'BT-133': [
    `${LINE_SETTLEMENT}/ram:ReceivableSpecifiedTradeAccountingAccount/ram:ID`,
    `${UBL_LINE}/cbc:AccountingCost`,
  ],
  'BT-134': [
    `${LINE_SETTLEMENT}/ram:BillingSpecifiedPeriod/ram:StartDateTime`,
    `${UBL_LINE}/cac:InvoicePeriod/cbc:StartDate`,
  ],
  'BT-135': [
    `${LINE_SETTLEMENT}/ram:BillingSpecifiedPeriod/ram:EndDateTime`,
    `${UBL_LINE}/cac:InvoicePeriod/cbc:EndDate`,
  ],
  'BT-155': [`${PRODUCT}/ram:SellerAssignedID`, `${UBL_ITEM}/cac:SellersItemIdentification/cbc:ID`],
  'BT-156': [`${PRODUCT}/ram:BuyerAssignedID`, `${UBL_ITEM}/cac:BuyersItemIdentification/cbc:ID`],
  'BT-157': [
    withScheme(`${PRODUCT}/ram:GlobalID`),
    withScheme(`${UBL_ITEM}/cac:StandardItemIdentification/cbc:ID`),
  ],
  'BT-158': [
    `${PRODUCT}/ram:DesignatedProductClassification/ram:ClassCode/string-join((., @listID, @listVersionID), ' ')`,
    `${UBL_ITEM}/cac:CommodityClassification/cbc:ItemClassificationCode/string-join((., @listID, @listVersionID), ' ')`,
  ],
  'BT-159': [
    `${PRODUCT}/ram:OriginTradeCountry/ram:ID`,
    `${UBL_ITEM}/cac:OriginCountry/cbc:IdentificationCode`,
  ],
  'BT-160, BT-161': [
    `${PRODUCT}/ram:ApplicableProductCharacteristic/string-join((ram:Description, ram:Value), '=')`,
    `${UBL_ITEM}/cac:AdditionalItemProperty/string-join((cbc:Name, cbc:Value), '=')`,
  ],
  'BT-9': [`${SETTLEMENT}/ram:SpecifiedTradePaymentTerms/ram:DueDateDateTime`, 'cbc:DueDate'],
  'BT-10': [`${AGREEMENT}/ram:BuyerReference`, 'cbc:BuyerReference'],
  'BT-13': [
    `${AGREEMENT}/ram:BuyerOrderReferencedDocument/ram:IssuerAssignedID`,
    // UBL has no order of the seller's without one of the buyer's.
    "cac:OrderReference/cbc:ID[. != 'NA']",
  ],
  'BT-20': [`${SETTLEMENT}/ram:SpecifiedTradePaymentTerms/ram:Description`, 'cac:PaymentTerms/cbc:Note'],
  // Peppol has all notes in one, and UBL the subject in front of the text.
  'BT-21, BT-22': [
    `string-join(${HEADING}/ram:IncludedNote/string-join((ram:SubjectCode ! concat('#', ., '#'), ram:Content), ''), '\n')`,
    `string-join(cbc:Note, '\n')`,
  ],
  'BT-25': [
    `${SETTLEMENT}/ram:InvoiceReferencedDocument/ram:IssuerAssignedID`,
    'cac:BillingReference/cac:InvoiceDocumentReference/cbc:ID',
  ],
  'BT-26': [
    `${SETTLEMENT}/ram:InvoiceReferencedDocument/ram:FormattedIssueDateTime`,
    'cac:BillingReference/cac:InvoiceDocumentReference/cbc:IssueDate',
  ],
  ...placesOfParty(
    {
      name: 'BT-27',
      tradingName: 'BT-28',
      registration: 'BT-30',
      identifiers: 'BT-29',
      electronicAddress: 'BT-34',
      taxNumber: 'BT-32',
      legalText: 'BT-33',
      town: 'BT-37',
      region: 'BT-39',
      vatId: 'BT-31',
      line1: 'BT-35',
      line2: 'BT-36',
      line3: 'BT-162',
      postcode: 'BT-38',
      country: 'BT-40',
      contact: 'BT-41',
      phone: 'BT-42',
      email: 'BT-43',
    },
    `${AGREEMENT}/ram:SellerTradeParty`,
    'cac:AccountingSupplierParty/cac:Party',
  ),
  ...placesOfParty(
    {
      name: 'BT-44',
      tradingName: 'BT-45',
      registration: 'BT-47',
      identifiers: 'BT-46',
      electronicAddress: 'BT-49',
      town: 'BT-52',
      region: 'BT-54',
      vatId: 'BT-48',
      line1: 'BT-50',
      line2: 'BT-51',
      line3: 'BT-163',
      postcode: 'BT-53',
      country: 'BT-55',
      contact: 'BT-56',
      phone: 'BT-57',
      email: 'BT-58',
    },
    `${AGREEMENT}/ram:BuyerTradeParty`,
    'cac:AccountingCustomerParty/cac:Party',
  ),
  'BT-70': [
    `${DELIVERY}/ram:ShipToTradeParty/ram:Name`,
    'cac:Delivery/cac:DeliveryParty/cac:PartyName/cbc:Name',
  ],
  'BT-72': [
    `${DELIVERY}/ram:ActualDeliverySupplyChainEvent/ram:OccurrenceDateTime`,
    'cac:Delivery/cbc:ActualDeliveryDate',
  ],
  ...placesOfParty(
    {
      line1: 'BT-75',
      line2: 'BT-76',
      line3: 'BT-165',
      town: 'BT-77',
      postcode: 'BT-78',
      region: 'BT-79',
      country: 'BT-80',
    },
    `${DELIVERY}/ram:ShipToTradeParty`,
    'cac:Delivery/cac:DeliveryLocation',
  ),
  'BT-73': [`${SETTLEMENT}/ram:BillingSpecifiedPeriod/ram:StartDateTime`, 'cac:InvoicePeriod/cbc:StartDate'],
  'BT-74': [`${SETTLEMENT}/ram:BillingSpecifiedPeriod/ram:EndDateTime`, 'cac:InvoicePeriod/cbc:EndDate'],
  'BT-81': [`${MEANS}/ram:TypeCode`, `${UBL_MEANS}/cbc:PaymentMeansCode`],
  'BT-83': [`${SETTLEMENT}/ram:PaymentReference`, `${UBL_MEANS}[1]/cbc:PaymentID`],
  'BT-84': [
    `${MEANS}/ram:PayeePartyCreditorFinancialAccount/(ram:IBANID | ram:ProprietaryID)`,
    `${UBL_MEANS}/cac:PayeeFinancialAccount/cbc:ID`,
  ],
  'BT-85': [
    `${MEANS}/ram:PayeePartyCreditorFinancialAccount/ram:AccountName`,
    `${UBL_MEANS}/cac:PayeeFinancialAccount/cbc:Name`,
  ],
  'BT-86': [
    `${MEANS}/ram:PayeeSpecifiedCreditorFinancialInstitution/ram:BICID`,
    `${UBL_MEANS}/cac:PayeeFinancialAccount/cac:FinancialInstitutionBranch/cbc:ID`,
  ],
  ...placesOfAllowances(
    { amount: 'BT-92', base: 'BT-93', percent: 'BT-94', reason: 'BT-97', reasonCode: 'BT-98' },
    `${SETTLEMENT}/ram:SpecifiedTradeAllowanceCharge`,
    'cac:AllowanceCharge',
  ),
  'BT-95': [
    `${SETTLEMENT}/ram:SpecifiedTradeAllowanceCharge/ram:CategoryTradeTax/ram:CategoryCode`,
    'cac:AllowanceCharge/cac:TaxCategory/cbc:ID',
  ],
  'BT-96': [
    `${SETTLEMENT}/ram:SpecifiedTradeAllowanceCharge/ram:CategoryTradeTax/ram:RateApplicablePercent`,
    'cac:AllowanceCharge/cac:TaxCategory/cbc:Percent',
  ],
  'BT-106': [`${SUMS}/ram:LineTotalAmount`, `${UBL_SUMS}/cbc:LineExtensionAmount`],
  'BT-107': [`${SUMS}/ram:AllowanceTotalAmount`, `${UBL_SUMS}/cbc:AllowanceTotalAmount`],
  'BT-108': [`${SUMS}/ram:ChargeTotalAmount`, `${UBL_SUMS}/cbc:ChargeTotalAmount`],
  'BT-109': [`${SUMS}/ram:TaxBasisTotalAmount`, `${UBL_SUMS}/cbc:TaxExclusiveAmount`],
  'BT-110': [
    `${SUMS}/ram:TaxTotalAmount[${OWN_CURRENCY}]`,
    `cac:TaxTotal/cbc:TaxAmount[${UBL_OWN_CURRENCY}]`,
  ],
  'BT-111': [
    `${SUMS}/ram:TaxTotalAmount[not(${OWN_CURRENCY})]`,
    `cac:TaxTotal/cbc:TaxAmount[not(${UBL_OWN_CURRENCY})]`,
  ],
  'BT-112': [`${SUMS}/ram:GrandTotalAmount`, `${UBL_SUMS}/cbc:TaxInclusiveAmount`],
  'BT-113': [`${SUMS}/ram:TotalPrepaidAmount`, `${UBL_SUMS}/cbc:PrepaidAmount`],
  'BT-114': [`${SUMS}/ram:RoundingAmount`, `${UBL_SUMS}/cbc:PayableRoundingAmount`],
  'BT-115': [`${SUMS}/ram:DuePayableAmount`, `${UBL_SUMS}/cbc:PayableAmount`],
  'BT-116': [`${TAX}/ram:BasisAmount`, `${UBL_TAX}/cbc:TaxableAmount`],
  'BT-117': [`${TAX}/ram:CalculatedAmount`, `${UBL_TAX}/cbc:TaxAmount`],
  'BT-118': [`${TAX}/ram:CategoryCode`, `${UBL_TAX}/cac:TaxCategory/cbc:ID`],
  'BT-119': [`${TAX}/ram:RateApplicablePercent`, `${UBL_TAX}/cac:TaxCategory/cbc:Percent`],
  'BT-120': [`${TAX}/ram:ExemptionReason`, `${UBL_TAX}/cac:TaxCategory/cbc:TaxExemptionReason`],
  'BT-121': [`${TAX}/ram:ExemptionReasonCode`, `${UBL_TAX}/cac:TaxCategory/cbc:TaxExemptionReasonCode`],
  'BT-126': [`${LINE}/ram:AssociatedDocumentLineDocument/ram:LineID`, `${UBL_LINE}/cbc:ID`],
  'BT-129': [
    `${LINE}/ram:SpecifiedLineTradeDelivery/ram:BilledQuantity`,
    `${UBL_LINE}/(cbc:InvoicedQuantity | cbc:CreditedQuantity)`,
  ],
  'BT-130': [
    `${LINE}/ram:SpecifiedLineTradeDelivery/ram:BilledQuantity/@unitCode`,
    `${UBL_LINE}/(cbc:InvoicedQuantity | cbc:CreditedQuantity)/@unitCode`,
  ],
  'BT-131': [
    `${LINE_SETTLEMENT}/ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount`,
    `${UBL_LINE}/cbc:LineExtensionAmount`,
  ],
  ...placesOfAllowances(
    { amount: 'BT-136', base: 'BT-137', percent: 'BT-138', reason: 'BT-139', reasonCode: 'BT-140' },
    `${LINE_SETTLEMENT}/ram:SpecifiedTradeAllowanceCharge`,
    `${UBL_LINE}/cac:AllowanceCharge`,
  ),
  'BT-149': [
    `${LINE}/ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice/ram:BasisQuantity`,
    `${UBL_LINE}/cac:Price/cbc:BaseQuantity`,
  ],
  'BT-146': [
    `${LINE}/ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice/ram:ChargeAmount`,
    `${UBL_LINE}/cac:Price/cbc:PriceAmount`,
  ],
  'BT-147': [
    `${LINE}/ram:SpecifiedLineTradeAgreement/ram:GrossPriceProductTradePrice/ram:AppliedTradeAllowanceCharge/ram:ActualAmount`,
    `${UBL_LINE}/cac:Price/cac:AllowanceCharge/cbc:Amount`,
  ],
  'BT-148': [
    `${LINE}/ram:SpecifiedLineTradeAgreement/ram:GrossPriceProductTradePrice/ram:ChargeAmount`,
    `${UBL_LINE}/cac:Price/cac:AllowanceCharge/cbc:BaseAmount`,
  ],
  'BT-151': [
    `${LINE_SETTLEMENT}/ram:ApplicableTradeTax/ram:CategoryCode`,
    `${UBL_ITEM}/cac:ClassifiedTaxCategory/cbc:ID`,
  ],
  'BT-152': [
    `${LINE_SETTLEMENT}/ram:ApplicableTradeTax/ram:RateApplicablePercent`,
    `${UBL_ITEM}/cac:ClassifiedTaxCategory/cbc:Percent`,
  ],
  'BT-153': [`${LINE}/ram:SpecifiedTradeProduct/ram:Name`, `${UBL_ITEM}/cbc:Name`],
  'BT-154': [`${LINE}/ram:SpecifiedTradeProduct/ram:Description`, `${UBL_ITEM}/cbc:Description`],
};

export const terms = Object.keys(places);

/** The values of each term that an e-invoice has, in its order; days are without hyphens, as CII has them. */
export function termsIn(xml: Document): Record<string, string[]> {
  const syntax = xml.documentElement?.localName === 'CrossIndustryInvoice' ? 0 : 1;
  const found = Object.entries(places).map(([term, paths]) => {
    const values = valuesOf(xml, `/* ! (${paths[syntax]})`).filter((value) => value !== '');
    return [term, values.map((value) => value.replace(/^(\d{4})-(\d\d)-(\d\d)$/, '$1$2$3'))] as const;
  });
  return Object.fromEntries(found.filter(([, values]) => values.length > 0));
}
