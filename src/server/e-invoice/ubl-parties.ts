import type { Address, Delivery, Party } from './model.ts';
import { element, leaf, optionalElement, optionalLeaf } from './xml-text.ts';

/** A party (BG-4, BG-7) under the name of its role. */
export function accountingParty(name: string, party: Party): string {
  const { tradingName, contact, vatId } = party;
  return element(
    name,
    element(
      'cac:Party',
      optionalElement('cac:PartyName', optionalLeaf('cbc:Name', tradingName)),
      postalAddress('cac:PostalAddress', party.address),
      vatId && element('cac:PartyTaxScheme', leaf('cbc:CompanyID', vatId), taxScheme()),
      element(
        'cac:PartyLegalEntity',
        leaf('cbc:RegistrationName', party.name),
        optionalLeaf('cbc:CompanyID', party.registrationId),
      ),
      optionalElement(
        'cac:Contact',
        optionalLeaf('cbc:Name', contact.name),
        optionalLeaf('cbc:Telephone', contact.phone),
        optionalLeaf('cbc:ElectronicMail', contact.email),
      ),
    ),
  );
}

/** When and where it was delivered (BG-13). */
export function deliveryOf({ date, address, name }: Delivery): string | undefined {
  return optionalElement(
    'cac:Delivery',
    optionalLeaf('cbc:ActualDeliveryDate', date),
    optionalElement('cac:DeliveryLocation', address && postalAddress('cac:Address', address)),
    name && element('cac:DeliveryParty', element('cac:PartyName', leaf('cbc:Name', name))),
  );
}

function postalAddress(name: string, { line1, line2, line3, postcode, countryCode }: Address): string {
  return element(
    name,
    optionalLeaf('cbc:StreetName', line1),
    optionalLeaf('cbc:AdditionalStreetName', line2),
    optionalLeaf('cbc:PostalZone', postcode),
    optionalElement('cac:AddressLine', optionalLeaf('cbc:Line', line3)),
    element('cac:Country', leaf('cbc:IdentificationCode', countryCode)),
  );
}

export function taxScheme(): string {
  return element('cac:TaxScheme', leaf('cbc:ID', 'VAT'));
}
