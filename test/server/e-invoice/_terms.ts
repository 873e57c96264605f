/** Where each syntax has the terms of EN 16931, by the norm's own bindings (CEN/TS 16931-3-2 and 3-3). */
import type { Document } from 'slimdom';

import { valuesOf } from '../invoice-pdf/_xml.ts';

type Places = readonly [cii: string, ubl: string];

const TRADE = 'rsm:SupplyChainTradeTransaction';
const AGREEMENT = `${TRADE}/ram:ApplicableHeaderTradeAgreement`;
const DELIVERY = `${TRADE}/ram:ApplicableHeaderTradeDelivery`;
const SETTLEMENT = `${TRADE}/ram:ApplicableHeaderTradeSettlement`;
const LINE = `${TRADE}/ram:IncludedSupplyChainTradeLineItem`;
const UBL_LINE = '(cac:InvoiceLine | cac:CreditNoteLine)';

/** The cells of a table: two spaces or more stand between them. `+scheme` puts its scheme behind an identifier. */
const rowsOf = (table: string): string[][] =>
  table
    .replaceAll('+scheme', "/string-join((., @schemeID), ' ')")
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/ {2,}/));

function placesIn(table: string): [term: string, places: Places][] {
  let base = ['', ''];
  return rowsOf(table).flatMap(([term = '', ...own]): [string, Places][] => {
    if (term === 'at') base = own;
    return term === 'at' ? [] : [[term, [`${base[0]}/${own[0]}`, `${base[1]}/${own[1]}`]]];
  });
}

const groupsAlike = (groups: readonly Places[], table: string): [term: string, places: Places][] =>
  groups.flatMap(([cii, ubl], column) =>
    rowsOf(table)
      .filter((cells) => cells[column] !== '-')
      .map((cells): [string, Places] => [
        cells[column] ?? '',
        [`${cii}/${cells.at(-2)}`, `${ubl}/${cells.at(-1)}`],
      ]),
  );

/**
 * Terms with their places, which begin in each syntax where the last line with `at` says.
 * Peppol has all notes in one, and UBL the subject in front of the text. UBL has no order of the seller's without one of
 * the buyer's. The codes of BT-8 are those of UBL; CII has others.
 */
const places = placesIn(`
  at  rsm:ExchangedDocument  .
    BT-1          ram:ID             cbc:ID
    BT-2          ram:IssueDateTime  cbc:IssueDate
    BT-3          ram:TypeCode       (cbc:InvoiceTypeCode | cbc:CreditNoteTypeCode)
    BT-21, BT-22  string-join(ram:IncludedNote/string-join((ram:SubjectCode ! concat('#', ., '#'), ram:Content), ''), codepoints-to-string(10))  string-join(cbc:Note, codepoints-to-string(10))
  at  ${AGREEMENT}  .
    BT-10   ram:BuyerReference                                                  cbc:BuyerReference
    BT-11   ram:SpecifiedProcuringProject/ram:ID                                (cac:ProjectReference/cbc:ID | self::cn:*/cac:AdditionalDocumentReference[cbc:DocumentTypeCode = '50']/cbc:ID)
    BT-12   ram:ContractReferencedDocument/ram:IssuerAssignedID                 cac:ContractDocumentReference/cbc:ID
    BT-13   ram:BuyerOrderReferencedDocument/ram:IssuerAssignedID               cac:OrderReference/cbc:ID[. != 'NA']
    BT-14   ram:SellerOrderReferencedDocument/ram:IssuerAssignedID              cac:OrderReference/cbc:SalesOrderID
    BT-17   ram:AdditionalReferencedDocument[ram:TypeCode = '50']/ram:IssuerAssignedID   cac:OriginatorDocumentReference/cbc:ID
    BT-18   ram:AdditionalReferencedDocument[ram:TypeCode = '130']/string-join((ram:IssuerAssignedID, ram:ReferenceTypeCode), ' ')  cac:AdditionalDocumentReference[cbc:DocumentTypeCode = '130']/cbc:ID+scheme
    BT-62   ram:SellerTaxRepresentativeTradeParty/ram:Name                      cac:TaxRepresentativeParty/cac:PartyName/cbc:Name
    BT-122  ram:AdditionalReferencedDocument[ram:TypeCode = '916']/ram:IssuerAssignedID  cac:AdditionalDocumentReference[not(cbc:DocumentTypeCode)]/cbc:ID
    BT-123  ram:AdditionalReferencedDocument[ram:TypeCode = '916']/ram:Name     cac:AdditionalDocumentReference[not(cbc:DocumentTypeCode)]/cbc:DocumentDescription
    BT-124  ram:AdditionalReferencedDocument[ram:TypeCode = '916']/ram:URIID    cac:AdditionalDocumentReference[not(cbc:DocumentTypeCode)]/cac:Attachment/cac:ExternalReference/cbc:URI
  at  ${DELIVERY}  .
    BT-15  ram:ReceivingAdviceReferencedDocument/ram:IssuerAssignedID       cac:ReceiptDocumentReference/cbc:ID
    BT-16  ram:DespatchAdviceReferencedDocument/ram:IssuerAssignedID        cac:DespatchDocumentReference/cbc:ID
    BT-70  ram:ShipToTradeParty/ram:Name                                    cac:Delivery/cac:DeliveryParty/cac:PartyName/cbc:Name
    BT-71  ram:ShipToTradeParty/(ram:ID | ram:GlobalID)+scheme              cac:Delivery/cac:DeliveryLocation/cbc:ID+scheme
    BT-72  ram:ActualDeliverySupplyChainEvent/ram:OccurrenceDateTime        cac:Delivery/cbc:ActualDeliveryDate
  at  ${SETTLEMENT}  .
    BT-5    ram:InvoiceCurrencyCode                                         cbc:DocumentCurrencyCode
    BT-6    ram:TaxCurrencyCode                                             cbc:TaxCurrencyCode
    BT-7    ram:ApplicableTradeTax/ram:TaxPointDate/udt:DateString          cbc:TaxPointDate
    BT-8    (distinct-values(ram:ApplicableTradeTax/ram:DueDateTypeCode) ! map{'5': '3', '29': '35', '72': '432'}(.))  cac:InvoicePeriod/cbc:DescriptionCode
    BT-9    ram:SpecifiedTradePaymentTerms/ram:DueDateDateTime              cbc:DueDate
    BT-19   ram:ReceivableSpecifiedTradeAccountingAccount/ram:ID            cbc:AccountingCost
    BT-20   ram:SpecifiedTradePaymentTerms/ram:Description                  cac:PaymentTerms/cbc:Note
    BT-25   ram:InvoiceReferencedDocument/ram:IssuerAssignedID              cac:BillingReference/cac:InvoiceDocumentReference/cbc:ID
    BT-26   ram:InvoiceReferencedDocument/ram:FormattedIssueDateTime        cac:BillingReference/cac:InvoiceDocumentReference/cbc:IssueDate
    BT-59   ram:PayeeTradeParty/ram:Name                                    cac:PayeeParty/cac:PartyName/cbc:Name
    BT-60   ram:PayeeTradeParty/(ram:ID | ram:GlobalID)+scheme              cac:PayeeParty/cac:PartyIdentification/cbc:ID[not(@schemeID = 'SEPA')]+scheme
    BT-61   ram:PayeeTradeParty/ram:SpecifiedLegalOrganization/ram:ID+scheme  cac:PayeeParty/cac:PartyLegalEntity/cbc:CompanyID+scheme
    BT-73   ram:BillingSpecifiedPeriod/ram:StartDateTime                    cac:InvoicePeriod/cbc:StartDate
    BT-74   ram:BillingSpecifiedPeriod/ram:EndDateTime                      cac:InvoicePeriod/cbc:EndDate
    BT-82   (ram:SpecifiedTradeSettlementPaymentMeans/ram:Information)[1]       cac:PaymentMeans/cbc:PaymentMeansCode/@name
    BT-83   ram:PaymentReference                                            cac:PaymentMeans[1]/cbc:PaymentID
    BT-89   ram:SpecifiedTradePaymentTerms/ram:DirectDebitMandateID         cac:PaymentMeans[1]/cac:PaymentMandate/cbc:ID
    BT-90   ram:CreditorReferenceID                                         descendant::cac:PartyIdentification/cbc:ID[@schemeID = 'SEPA']
    BT-91   ram:SpecifiedTradeSettlementPaymentMeans/ram:PayerPartyDebtorFinancialAccount/ram:IBANID  cac:PaymentMeans[1]/cac:PaymentMandate/cac:PayerFinancialAccount/cbc:ID
    BT-95   ram:SpecifiedTradeAllowanceCharge/ram:CategoryTradeTax/ram:CategoryCode           cac:AllowanceCharge/cac:TaxCategory/cbc:ID
    BT-96   ram:SpecifiedTradeAllowanceCharge/ram:CategoryTradeTax/ram:RateApplicablePercent  cac:AllowanceCharge/cac:TaxCategory/cbc:Percent
  at  ${SETTLEMENT}/ram:SpecifiedTradeSettlementPaymentMeans  cac:PaymentMeans
    BT-81  ram:TypeCode                                                           cbc:PaymentMeansCode
    BT-84  ram:PayeePartyCreditorFinancialAccount/(ram:IBANID | ram:ProprietaryID)  cac:PayeeFinancialAccount/cbc:ID
    BT-85  ram:PayeePartyCreditorFinancialAccount/ram:AccountName                 cac:PayeeFinancialAccount/cbc:Name
    BT-86  ram:PayeeSpecifiedCreditorFinancialInstitution/ram:BICID               cac:PayeeFinancialAccount/cac:FinancialInstitutionBranch/cbc:ID
    BT-87  ram:ApplicableTradeSettlementFinancialCard/ram:ID                      cac:CardAccount/cbc:PrimaryAccountNumberID
    BT-88  ram:ApplicableTradeSettlementFinancialCard/ram:CardholderName          cac:CardAccount/cbc:HolderName
  at  ${SETTLEMENT}/ram:SpecifiedTradeSettlementHeaderMonetarySummation  cac:LegalMonetaryTotal
    BT-106  ram:LineTotalAmount       cbc:LineExtensionAmount
    BT-107  ram:AllowanceTotalAmount  cbc:AllowanceTotalAmount
    BT-108  ram:ChargeTotalAmount     cbc:ChargeTotalAmount
    BT-109  ram:TaxBasisTotalAmount   cbc:TaxExclusiveAmount
    BT-112  ram:GrandTotalAmount      cbc:TaxInclusiveAmount
    BT-113  ram:TotalPrepaidAmount    cbc:PrepaidAmount
    BT-114  ram:RoundingAmount        cbc:PayableRoundingAmount
    BT-115  ram:DuePayableAmount      cbc:PayableAmount
  at  ${SETTLEMENT}/ram:SpecifiedTradeSettlementHeaderMonetarySummation  cac:TaxTotal
    BT-110  ram:TaxTotalAmount[@currencyID = //ram:InvoiceCurrencyCode]       cbc:TaxAmount[@currencyID = //cbc:DocumentCurrencyCode]
    BT-111  ram:TaxTotalAmount[not(@currencyID = //ram:InvoiceCurrencyCode)]  cbc:TaxAmount[not(@currencyID = //cbc:DocumentCurrencyCode)]
  at  ${SETTLEMENT}/ram:ApplicableTradeTax  cac:TaxTotal/cac:TaxSubtotal
    BT-116  ram:BasisAmount            cbc:TaxableAmount
    BT-117  ram:CalculatedAmount       cbc:TaxAmount
    BT-118  ram:CategoryCode           cac:TaxCategory/cbc:ID
    BT-119  ram:RateApplicablePercent  cac:TaxCategory/cbc:Percent
    BT-120  ram:ExemptionReason        cac:TaxCategory/cbc:TaxExemptionReason
    BT-121  ram:ExemptionReasonCode    cac:TaxCategory/cbc:TaxExemptionReasonCode
  at  ${LINE}  ${UBL_LINE}
    BT-126  ram:AssociatedDocumentLineDocument/ram:LineID                             cbc:ID
    BT-127  ram:AssociatedDocumentLineDocument/ram:IncludedNote/ram:Content           cbc:Note
    BT-129  ram:SpecifiedLineTradeDelivery/ram:BilledQuantity                         (cbc:InvoicedQuantity | cbc:CreditedQuantity)
    BT-130  ram:SpecifiedLineTradeDelivery/ram:BilledQuantity/@unitCode               (cbc:InvoicedQuantity | cbc:CreditedQuantity)/@unitCode
    BT-132  ram:SpecifiedLineTradeAgreement/ram:BuyerOrderReferencedDocument/ram:LineID  cac:OrderLineReference/cbc:LineID
  at  ${LINE}/ram:SpecifiedLineTradeAgreement  ${UBL_LINE}/cac:Price
    BT-146  ram:NetPriceProductTradePrice/ram:ChargeAmount    cbc:PriceAmount
    BT-147  ram:GrossPriceProductTradePrice/ram:AppliedTradeAllowanceCharge/ram:ActualAmount  cac:AllowanceCharge/cbc:Amount
    BT-148  ram:GrossPriceProductTradePrice/ram:ChargeAmount  cac:AllowanceCharge/cbc:BaseAmount
    BT-149  ram:NetPriceProductTradePrice/ram:BasisQuantity   cbc:BaseQuantity
  at  ${LINE}/ram:SpecifiedLineTradeSettlement  ${UBL_LINE}
    BT-128  ram:AdditionalReferencedDocument/string-join((ram:IssuerAssignedID, ram:ReferenceTypeCode), ' ')  cac:DocumentReference/cbc:ID+scheme
    BT-131  ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount  cbc:LineExtensionAmount
    BT-133  ram:ReceivableSpecifiedTradeAccountingAccount/ram:ID                   cbc:AccountingCost
    BT-134  ram:BillingSpecifiedPeriod/ram:StartDateTime                           cac:InvoicePeriod/cbc:StartDate
    BT-135  ram:BillingSpecifiedPeriod/ram:EndDateTime                             cac:InvoicePeriod/cbc:EndDate
    BT-151  ram:ApplicableTradeTax/ram:CategoryCode                                cac:Item/cac:ClassifiedTaxCategory/cbc:ID
    BT-152  ram:ApplicableTradeTax/ram:RateApplicablePercent                       cac:Item/cac:ClassifiedTaxCategory/cbc:Percent
  at  ${LINE}/ram:SpecifiedTradeProduct  ${UBL_LINE}/cac:Item
    BT-153          ram:Name                       cbc:Name
    BT-154          ram:Description                cbc:Description
    BT-155          ram:SellerAssignedID           cac:SellersItemIdentification/cbc:ID
    BT-156          ram:BuyerAssignedID            cac:BuyersItemIdentification/cbc:ID
    BT-157          ram:GlobalID+scheme            cac:StandardItemIdentification/cbc:ID+scheme
    BT-158          ram:DesignatedProductClassification/ram:ClassCode/string-join((., @listID, @listVersionID), ' ')  cac:CommodityClassification/cbc:ItemClassificationCode/string-join((., @listID, @listVersionID), ' ')
    BT-159          ram:OriginTradeCountry/ram:ID  cac:OriginCountry/cbc:IdentificationCode
    BT-160, BT-161  ram:ApplicableProductCharacteristic/string-join((ram:Description, ram:Value), '=')  cac:AdditionalItemProperty/string-join((cbc:Name, cbc:Value), '=')
`);

/** A column has the terms of each party, and those that it hasn't are hyphens. */
const ofParties = groupsAlike(
  [
    [`${AGREEMENT}/ram:SellerTradeParty`, 'cac:AccountingSupplierParty/cac:Party'],
    [`${AGREEMENT}/ram:BuyerTradeParty`, 'cac:AccountingCustomerParty/cac:Party'],
    [`${AGREEMENT}/ram:SellerTaxRepresentativeTradeParty`, 'cac:TaxRepresentativeParty'],
    [`${DELIVERY}/ram:ShipToTradeParty`, 'cac:Delivery/cac:DeliveryLocation'],
  ],
  `
  BT-27   BT-44   -       -       ram:Name                                            cac:PartyLegalEntity/cbc:RegistrationName
  BT-28   BT-45   -       -       ram:SpecifiedLegalOrganization/ram:TradingBusinessName  cac:PartyName/cbc:Name
  BT-29   BT-46   -       -       (ram:ID | ram:GlobalID)+scheme                      cac:PartyIdentification/cbc:ID[not(@schemeID = 'SEPA')]+scheme
  BT-30   BT-47   -       -       ram:SpecifiedLegalOrganization/ram:ID+scheme        cac:PartyLegalEntity/cbc:CompanyID+scheme
  BT-31   BT-48   BT-63   -       ram:SpecifiedTaxRegistration/ram:ID[@schemeID = 'VA']  cac:PartyTaxScheme[cac:TaxScheme/cbc:ID = 'VAT']/cbc:CompanyID
  BT-32   -       -       -       ram:SpecifiedTaxRegistration/ram:ID[@schemeID = 'FC']  cac:PartyTaxScheme[cac:TaxScheme/cbc:ID = 'TAX']/cbc:CompanyID
  BT-33   -       -       -       ram:Description                                     cac:PartyLegalEntity/cbc:CompanyLegalForm
  BT-34   BT-49   -       -       ram:URIUniversalCommunication/ram:URIID+scheme      cbc:EndpointID+scheme
  BT-35   BT-50   BT-64   BT-75   ram:PostalTradeAddress/ram:LineOne                  (cac:PostalAddress | cac:Address)/cbc:StreetName
  BT-36   BT-51   BT-65   BT-76   ram:PostalTradeAddress/ram:LineTwo                  (cac:PostalAddress | cac:Address)/cbc:AdditionalStreetName
  BT-162  BT-163  BT-164  BT-165  ram:PostalTradeAddress/ram:LineThree                (cac:PostalAddress | cac:Address)/cac:AddressLine/cbc:Line
  BT-37   BT-52   BT-66   BT-77   ram:PostalTradeAddress/ram:CityName                 (cac:PostalAddress | cac:Address)/cbc:CityName
  BT-38   BT-53   BT-67   BT-78   ram:PostalTradeAddress/ram:PostcodeCode             (cac:PostalAddress | cac:Address)/cbc:PostalZone
  BT-39   BT-54   BT-68   BT-79   ram:PostalTradeAddress/ram:CountrySubDivisionName   (cac:PostalAddress | cac:Address)/cbc:CountrySubentity
  BT-40   BT-55   BT-69   BT-80   ram:PostalTradeAddress/ram:CountryID                (cac:PostalAddress | cac:Address)/cac:Country/cbc:IdentificationCode
  BT-41   BT-56   -       -       ram:DefinedTradeContact/ram:PersonName              cac:Contact/cbc:Name
  BT-42   BT-57   -       -       ram:DefinedTradeContact//ram:CompleteNumber         cac:Contact/cbc:Telephone
  BT-43   BT-58   -       -       ram:DefinedTradeContact//ram:URIID                  cac:Contact/cbc:ElectronicMail
`,
);

/** Discounts and charges alike, which an indicator tells apart: the document's, and the lines'. */
const ofAdjustments = groupsAlike(
  [
    [SETTLEMENT, '.'],
    [`${LINE}/ram:SpecifiedLineTradeSettlement`, UBL_LINE],
  ],
  `
  BT-92            BT-136            ram:SpecifiedTradeAllowanceCharge/ram:ActualAmount                cac:AllowanceCharge/cbc:Amount
  BT-93            BT-137            ram:SpecifiedTradeAllowanceCharge/ram:BasisAmount                 cac:AllowanceCharge/cbc:BaseAmount
  BT-94            BT-138            ram:SpecifiedTradeAllowanceCharge/ram:CalculationPercent          cac:AllowanceCharge/cbc:MultiplierFactorNumeric
  BT-97            BT-139            ram:SpecifiedTradeAllowanceCharge/ram:Reason                      cac:AllowanceCharge/cbc:AllowanceChargeReason
  BT-98            BT-140            ram:SpecifiedTradeAllowanceCharge/ram:ReasonCode                  cac:AllowanceCharge/cbc:AllowanceChargeReasonCode
  BT-92 or charge  BT-136 or charge  ram:SpecifiedTradeAllowanceCharge/ram:ChargeIndicator/udt:Indicator  cac:AllowanceCharge/cbc:ChargeIndicator
`,
);

const all = [...places, ...ofParties, ...ofAdjustments];

export const terms = all.map(([term]) => term);

/** The values of each term that an e-invoice has, in its order; days are without hyphens, as CII has them. */
export function termsIn(xml: Document): Record<string, string[]> {
  const syntax = xml.documentElement?.localName === 'CrossIndustryInvoice' ? 0 : 1;
  const found = all.map(([term, paths]) => {
    const values = valuesOf(xml, `/* ! (${paths[syntax]})`).filter((value) => value !== '');
    return [term, values.map((value) => value.replace(/^(\d{4})-(\d\d)-(\d\d)$/, '$1$2$3'))] as const;
  });
  return Object.fromEntries(found.filter(([, values]) => values.length > 0));
}
