import type { PrintedDocument } from './printed-document.ts';
import { element, leaf, oneLine, optionalLeaf } from './xml-text.ts';

interface Address {
  addressLines: readonly string[];
  countryCode: string;
  postcode?: string | null | undefined;
}

export function sellerParty({ supplier }: PrintedDocument): string {
  const { legalName = '', tradingName, addressLines = [], countryCode = '', postcode } = supplier;
  return element(
    'ram:SellerTradeParty',
    leaf('ram:Name', oneLine(legalName)),
    organisation(supplier.companyNumber, tradingName),
    contact({ phone: supplier.phone, email: supplier.email }),
    address({ addressLines, countryCode, postcode }),
    registration(supplier.vatId),
  );
}

/** The customer (BG-7). Its name is the registered one, where there is one; the other is the trading name then. */
export function buyerParty({ record }: PrintedDocument): string {
  const { name, legalName, vatId, contactName, email, addressLines, countryCode } = record.buyer;
  const isOutside = record.vatBreakdown.some(({ category }) => category === 'O');
  return element(
    'ram:BuyerTradeParty',
    leaf('ram:Name', oneLine(legalName ?? name)),
    legalName === null || legalName === name ? undefined : organisation(undefined, name),
    contact({ name: contactName, email }),
    address({ addressLines, countryCode }),
    // Outside the scope of VAT the norm wants no VAT number of either side (BR-O-02).
    isOutside ? undefined : registration(vatId),
  );
}

/**
 * Where it was delivered (BG-13): the site. Goods that go to another member state need a place of delivery (BR-IC-12),
 * which without a site is the customer's address.
 */
export function deliveryParty({ record }: PrintedDocument): string | undefined {
  const { buyer, vatBreakdown } = record;
  if (buyer.site) {
    return element('ram:ShipToTradeParty', optionalLeaf('ram:Name', buyer.site.label), address(buyer.site));
  }
  if (!vatBreakdown.some(({ category }) => category === 'K')) return undefined;
  return element('ram:ShipToTradeParty', address(buyer));
}

function organisation(
  companyNumber: string | undefined,
  tradingName: string | undefined,
): string | undefined {
  return group(
    'ram:SpecifiedLegalOrganization',
    optionalLeaf('ram:ID', companyNumber),
    optionalLeaf('ram:TradingBusinessName', tradingName),
  );
}

function contact(given: {
  name?: string | null;
  phone?: string | undefined;
  email?: string | null | undefined;
}): string | undefined {
  return group(
    'ram:DefinedTradeContact',
    optionalLeaf('ram:PersonName', given.name),
    group('ram:TelephoneUniversalCommunication', optionalLeaf('ram:CompleteNumber', given.phone)),
    group('ram:EmailURIUniversalCommunication', optionalLeaf('ram:URIID', given.email)),
  );
}

/** The norm has three lines, so the third takes the rest. Which line is the town isn't known. */
function address({ addressLines, countryCode, postcode }: Address): string {
  const [first, second, ...others] = addressLines.map(oneLine).filter((line) => line !== '');
  return element(
    'ram:PostalTradeAddress',
    optionalLeaf('ram:PostcodeCode', postcode),
    optionalLeaf('ram:LineOne', first),
    optionalLeaf('ram:LineTwo', second),
    optionalLeaf('ram:LineThree', others.join(', ')),
    leaf('ram:CountryID', countryCode),
  );
}

function registration(vatId: string | null | undefined): string | undefined {
  return group('ram:SpecifiedTaxRegistration', optionalLeaf('ram:ID', vatId, { schemeID: 'VA' }));
}

function group(name: string, ...children: readonly (string | undefined)[]): string | undefined {
  return children.some((child) => child !== undefined) ? element(name, ...children) : undefined;
}
