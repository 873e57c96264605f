import { shipToParty, tradeParty } from './cii-parties.ts';
import {
  accountingAccount,
  allowanceCharge,
  billingPeriod,
  date,
  optionalDate,
  settlement,
} from './cii-settlement.ts';
import type { EInvoice, Identifier, Line } from './model.ts';
import { element, leaf, optionalElement, optionalLeaf } from './xml-text.ts';

/** The EN 16931 profile, also known as Comfort, of Factur-X 1.0 and ZUGFeRD 2 (BT-24). */
const GUIDELINE = 'urn:cen.eu:en16931:2017';

const namespaces = {
  rsm: 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100',
  ram: 'urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100',
  qdt: 'urn:un:unece:uncefact:data:standard:QualifiedDataType:100',
  udt: 'urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100',
};

/** Writes an e-invoice as Cross Industry Invoice D22B in the profile EN 16931. */
export function ciiText(invoice: EInvoice): string {
  const declarations = Object.entries(namespaces).map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`);
  const content = [context(), heading(invoice), transaction(invoice)].join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<rsm:CrossIndustryInvoice${declarations.join('')}>${content}</rsm:CrossIndustryInvoice>\n`;
}

function context(): string {
  return element(
    'rsm:ExchangedDocumentContext',
    element('ram:GuidelineSpecifiedDocumentContextParameter', leaf('ram:ID', GUIDELINE)),
  );
}

function heading({ number, typeCode, issueDate, notes }: EInvoice): string {
  return element(
    'rsm:ExchangedDocument',
    leaf('ram:ID', number),
    leaf('ram:TypeCode', typeCode),
    date('ram:IssueDateTime', issueDate),
    ...notes.map(({ text, subjectCode }) =>
      element('ram:IncludedNote', leaf('ram:Content', text), optionalLeaf('ram:SubjectCode', subjectCode)),
    ),
  );
}

function transaction(invoice: EInvoice): string {
  const { delivery } = invoice;
  return element(
    'rsm:SupplyChainTradeTransaction',
    ...invoice.lines.map(lineItem),
    agreement(invoice),
    element(
      'ram:ApplicableHeaderTradeDelivery',
      shipToParty(delivery),
      optionalElement(
        'ram:ActualDeliverySupplyChainEvent',
        optionalDate('ram:OccurrenceDateTime', delivery.date),
      ),
      reference('ram:DespatchAdviceReferencedDocument', invoice.despatchAdviceReference),
      reference('ram:ReceivingAdviceReferencedDocument', invoice.receivingAdviceReference),
    ),
    settlement(invoice),
  );
}

function agreement(invoice: EInvoice): string {
  const { taxRepresentative, projectReference } = invoice;
  return element(
    'ram:ApplicableHeaderTradeAgreement',
    optionalLeaf('ram:BuyerReference', invoice.buyerReference),
    tradeParty('ram:SellerTradeParty', invoice.seller),
    tradeParty('ram:BuyerTradeParty', invoice.buyer),
    taxRepresentative && tradeParty('ram:SellerTaxRepresentativeTradeParty', taxRepresentative),
    reference('ram:SellerOrderReferencedDocument', invoice.salesOrderReference),
    reference('ram:BuyerOrderReferencedDocument', invoice.purchaseOrderReference),
    reference('ram:ContractReferencedDocument', invoice.contractReference),
    ...invoice.supportingDocuments.map(({ reference: id, description, url }) =>
      additional(
        leaf('ram:IssuerAssignedID', id),
        optionalLeaf('ram:URIID', url),
        leaf('ram:TypeCode', SUPPORTING),
        optionalLeaf('ram:Name', description),
      ),
    ),
    invoice.tenderReference &&
      additional(leaf('ram:IssuerAssignedID', invoice.tenderReference), leaf('ram:TypeCode', TENDER)),
    objectReference(invoice.invoicedObject),
    // The schema asks for a name too, which the norm doesn't know.
    projectReference &&
      element(
        'ram:SpecifiedProcuringProject',
        leaf('ram:ID', projectReference),
        leaf('ram:Name', 'Project reference'),
      ),
  );
}

function reference(name: string, id: string | undefined): string | undefined {
  return optionalElement(name, optionalLeaf('ram:IssuerAssignedID', id));
}

/** Kinds of referenced documents, from UNTDID 1001. */
const SUPPORTING = '916';
const TENDER = '50';
const OBJECT = '130';

function additional(...children: readonly (string | undefined)[]): string {
  return element('ram:AdditionalReferencedDocument', ...children);
}

/** BT-18, BT-128. */
function objectReference(object: Identifier | undefined): string | undefined {
  return (
    object &&
    additional(
      leaf('ram:IssuerAssignedID', object.id),
      leaf('ram:TypeCode', OBJECT),
      optionalLeaf('ram:ReferenceTypeCode', object.scheme),
    )
  );
}

/** A line of a document (BG-25). */
function lineItem(line: Line): string {
  return element(
    'ram:IncludedSupplyChainTradeLineItem',
    element(
      'ram:AssociatedDocumentLineDocument',
      leaf('ram:LineID', line.id),
      optionalElement('ram:IncludedNote', optionalLeaf('ram:Content', line.note)),
    ),
    product(line),
    element(
      'ram:SpecifiedLineTradeAgreement',
      optionalElement(
        'ram:BuyerOrderReferencedDocument',
        optionalLeaf('ram:LineID', line.orderLineReference),
      ),
      line.priceDiscount &&
        element(
          'ram:GrossPriceProductTradePrice',
          leaf('ram:ChargeAmount', line.priceDiscount.grossPrice),
          optionalLeaf('ram:BasisQuantity', line.priceBaseQuantity, { unitCode: line.unitCode }),
          element(
            'ram:AppliedTradeAllowanceCharge',
            element('ram:ChargeIndicator', leaf('udt:Indicator', 'false')),
            leaf('ram:ActualAmount', line.priceDiscount.amount),
          ),
        ),
      element(
        'ram:NetPriceProductTradePrice',
        leaf('ram:ChargeAmount', line.netPrice),
        optionalLeaf('ram:BasisQuantity', line.priceBaseQuantity, { unitCode: line.unitCode }),
      ),
    ),
    element(
      'ram:SpecifiedLineTradeDelivery',
      leaf('ram:BilledQuantity', line.quantity, { unitCode: line.unitCode }),
    ),
    element(
      'ram:SpecifiedLineTradeSettlement',
      element(
        'ram:ApplicableTradeTax',
        leaf('ram:TypeCode', 'VAT'),
        leaf('ram:CategoryCode', line.category),
        optionalLeaf('ram:RateApplicablePercent', line.rate),
      ),
      billingPeriod(line.period),
      ...line.allowanceCharges.map((one) => allowanceCharge(one)),
      element('ram:SpecifiedTradeSettlementLineMonetarySummation', leaf('ram:LineTotalAmount', line.net)),
      objectReference(line.invoicedObject),
      accountingAccount(line.buyerAccountingReference),
    ),
  );
}

/** The article (BG-31) with its properties (BG-32). */
function product(line: Line): string {
  const { standardItemId } = line;
  return element(
    'ram:SpecifiedTradeProduct',
    optionalLeaf('ram:GlobalID', standardItemId?.id, { schemeID: standardItemId?.scheme }),
    optionalLeaf('ram:SellerAssignedID', line.sellerItemId),
    optionalLeaf('ram:BuyerAssignedID', line.buyerItemId),
    leaf('ram:Name', line.itemName),
    optionalLeaf('ram:Description', line.itemDescription),
    ...line.attributes.map(({ name, value }) =>
      element('ram:ApplicableProductCharacteristic', leaf('ram:Description', name), leaf('ram:Value', value)),
    ),
    ...line.classifications.map(({ code, scheme, version }) =>
      element(
        'ram:DesignatedProductClassification',
        leaf('ram:ClassCode', code, { listID: scheme, listVersionID: version }),
      ),
    ),
    optionalElement('ram:OriginTradeCountry', optionalLeaf('ram:ID', line.originCountryCode)),
  );
}
