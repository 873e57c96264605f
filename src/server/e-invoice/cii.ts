import { shipToParty, tradeParty } from './cii-parties.ts';
import { date, optionalDate, settlement } from './cii-settlement.ts';
import type { EInvoice, Line } from './model.ts';
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
    ...notes.map((note) => element('ram:IncludedNote', leaf('ram:Content', note))),
  );
}

function transaction(invoice: EInvoice): string {
  const { delivery } = invoice;
  return element(
    'rsm:SupplyChainTradeTransaction',
    ...invoice.lines.map(lineItem),
    element(
      'ram:ApplicableHeaderTradeAgreement',
      optionalLeaf('ram:BuyerReference', invoice.buyerReference),
      tradeParty('ram:SellerTradeParty', invoice.seller),
      tradeParty('ram:BuyerTradeParty', invoice.buyer),
      optionalElement(
        'ram:BuyerOrderReferencedDocument',
        optionalLeaf('ram:IssuerAssignedID', invoice.purchaseOrderReference),
      ),
    ),
    element(
      'ram:ApplicableHeaderTradeDelivery',
      shipToParty(delivery),
      optionalElement(
        'ram:ActualDeliverySupplyChainEvent',
        optionalDate('ram:OccurrenceDateTime', delivery.date),
      ),
    ),
    settlement(invoice),
  );
}

/** A line of a document (BG-25). */
function lineItem(line: Line): string {
  return element(
    'ram:IncludedSupplyChainTradeLineItem',
    element('ram:AssociatedDocumentLineDocument', leaf('ram:LineID', line.id)),
    element(
      'ram:SpecifiedTradeProduct',
      leaf('ram:Name', line.itemName),
      optionalLeaf('ram:Description', line.itemDescription),
    ),
    element(
      'ram:SpecifiedLineTradeAgreement',
      element('ram:NetPriceProductTradePrice', leaf('ram:ChargeAmount', line.netPrice)),
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
      element('ram:SpecifiedTradeSettlementLineMonetarySummation', leaf('ram:LineTotalAmount', line.net)),
    ),
  );
}
