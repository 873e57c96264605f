import type { PostalAddress, Delivery, Identifier, Party, Payee } from './model.ts';
import { element, leaf, optionalElement, optionalLeaf } from './xml-text.ts';

/** A party (BG-4, BG-7, BG-11) under the name of its role. */
export function tradeParty(name: string, party: Pick<Party, 'name' | 'address'> & Partial<Party>): string {
  const { contact, electronicAddress: endpoint } = party;
  return element(
    name,
    ...partyIds(party.identifiers ?? []),
    leaf('ram:Name', party.name),
    optionalLeaf('ram:Description', party.legalText),
    optionalElement(
      'ram:SpecifiedLegalOrganization',
      registrationId(party.registration),
      optionalLeaf('ram:TradingBusinessName', party.tradingName),
    ),
    optionalElement(
      'ram:DefinedTradeContact',
      optionalLeaf('ram:PersonName', contact?.name),
      optionalElement(
        'ram:TelephoneUniversalCommunication',
        optionalLeaf('ram:CompleteNumber', contact?.phone),
      ),
      optionalElement('ram:EmailURIUniversalCommunication', optionalLeaf('ram:URIID', contact?.email)),
    ),
    postalAddress(party.address),
    endpoint &&
      element('ram:URIUniversalCommunication', leaf('ram:URIID', endpoint.id, { schemeID: endpoint.scheme })),
    taxRegistration(party.vatId, 'VA'),
    taxRegistration(party.taxNumber, 'FC'),
  );
}

/** Whom to pay (BG-10). */
export function payeeParty({ name, identifier, registration }: Payee): string {
  return element(
    'ram:PayeeTradeParty',
    ...partyIds(identifier ? [identifier] : []),
    leaf('ram:Name', name),
    optionalElement('ram:SpecifiedLegalOrganization', registrationId(registration)),
  );
}

/** Where it was delivered (BG-13). */
export function shipToParty({ name, locationId, address }: Delivery): string | undefined {
  return optionalElement(
    'ram:ShipToTradeParty',
    ...partyIds(locationId ? [locationId] : []),
    optionalLeaf('ram:Name', name),
    address && postalAddress(address),
  );
}

/** CII tells identifiers of a scheme from others, which come first. */
function partyIds(identifiers: readonly Identifier[]): string[] {
  const own = identifiers.filter(({ scheme }) => scheme === undefined);
  const ofScheme = identifiers.filter(({ scheme }) => scheme !== undefined);
  return [
    ...own.map(({ id }) => leaf('ram:ID', id)),
    ...ofScheme.map(({ id, scheme }) => leaf('ram:GlobalID', id, { schemeID: scheme })),
  ];
}

function registrationId(registration: Identifier | undefined): string | undefined {
  return optionalLeaf('ram:ID', registration?.id, { schemeID: registration?.scheme });
}

function taxRegistration(id: string | undefined, schemeID: string): string | undefined {
  return optionalElement('ram:SpecifiedTaxRegistration', optionalLeaf('ram:ID', id, { schemeID }));
}

function postalAddress({ postcode, line1, line2, line3, town, region, countryCode }: PostalAddress): string {
  return element(
    'ram:PostalTradeAddress',
    optionalLeaf('ram:PostcodeCode', postcode),
    optionalLeaf('ram:LineOne', line1),
    optionalLeaf('ram:LineTwo', line2),
    optionalLeaf('ram:LineThree', line3),
    optionalLeaf('ram:CityName', town),
    leaf('ram:CountryID', countryCode),
    optionalLeaf('ram:CountrySubDivisionName', region),
  );
}
