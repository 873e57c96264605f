import type { Address, Delivery, Party } from './model.ts';
import { element, leaf, optionalElement, optionalLeaf } from './xml-text.ts';

/** A party (BG-4, BG-7) under the name of its role. */
export function tradeParty(name: string, party: Party): string {
  const { contact } = party;
  return element(
    name,
    leaf('ram:Name', party.name),
    optionalElement(
      'ram:SpecifiedLegalOrganization',
      optionalLeaf('ram:ID', party.registrationId),
      optionalLeaf('ram:TradingBusinessName', party.tradingName),
    ),
    optionalElement(
      'ram:DefinedTradeContact',
      optionalLeaf('ram:PersonName', contact.name),
      optionalElement(
        'ram:TelephoneUniversalCommunication',
        optionalLeaf('ram:CompleteNumber', contact.phone),
      ),
      optionalElement('ram:EmailURIUniversalCommunication', optionalLeaf('ram:URIID', contact.email)),
    ),
    postalAddress(party.address),
    optionalElement('ram:SpecifiedTaxRegistration', optionalLeaf('ram:ID', party.vatId, { schemeID: 'VA' })),
  );
}

/** Where it was delivered (BG-13). */
export function shipToParty({ name, address }: Delivery): string | undefined {
  return optionalElement(
    'ram:ShipToTradeParty',
    optionalLeaf('ram:Name', name),
    address && postalAddress(address),
  );
}

function postalAddress({ postcode, line1, line2, line3, countryCode }: Address): string {
  return element(
    'ram:PostalTradeAddress',
    optionalLeaf('ram:PostcodeCode', postcode),
    optionalLeaf('ram:LineOne', line1),
    optionalLeaf('ram:LineTwo', line2),
    optionalLeaf('ram:LineThree', line3),
    leaf('ram:CountryID', countryCode),
  );
}
