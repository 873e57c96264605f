import type { PostalAddress, Delivery, Identifier, Party, Payee } from './model.ts';
import { element, leaf, optionalElement, optionalLeaf } from './xml-text.ts';

/** The schemes of PartyTaxScheme: of the VAT number, and of another number of the tax office. */
const VAT = 'VAT';
const OTHER_TAX = 'TAX';

/** UBL has BT-90 as an identifier of the seller, or of the payee, under this scheme. */
const CREDITOR = 'SEPA';

/** A party (BG-4, BG-7) under the name of its role. `creditorId` is BT-90, of a seller. */
export function accountingParty(name: string, party: Party, creditorId?: string): string {
  const { tradingName, contact, electronicAddress: endpoint } = party;
  return element(
    name,
    element(
      'cac:Party',
      optionalLeaf('cbc:EndpointID', endpoint?.id, { schemeID: endpoint?.scheme }),
      ...party.identifiers.map(partyIdentification),
      creditorId && partyIdentification({ id: creditorId, scheme: CREDITOR }),
      optionalElement('cac:PartyName', optionalLeaf('cbc:Name', tradingName)),
      postalAddress('cac:PostalAddress', party.address),
      partyTax(party.vatId, VAT),
      partyTax(party.taxNumber, OTHER_TAX),
      element(
        'cac:PartyLegalEntity',
        leaf('cbc:RegistrationName', party.name),
        companyId(party.registration),
        optionalLeaf('cbc:CompanyLegalForm', party.legalText),
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

/** Whom to pay (BG-10), with BT-90. */
export function payeeParty({ name, identifier, registration }: Payee, creditorId?: string): string {
  return element(
    'cac:PayeeParty',
    identifier && partyIdentification(identifier),
    creditorId && partyIdentification({ id: creditorId, scheme: CREDITOR }),
    element('cac:PartyName', leaf('cbc:Name', name)),
    optionalElement('cac:PartyLegalEntity', companyId(registration)),
  );
}

/** The seller's tax representative (BG-11). */
export function representativeParty({
  name,
  address,
  vatId,
}: Pick<Party, 'name' | 'address' | 'vatId'>): string {
  return element(
    'cac:TaxRepresentativeParty',
    element('cac:PartyName', leaf('cbc:Name', name)),
    postalAddress('cac:PostalAddress', address),
    partyTax(vatId, VAT),
  );
}

/** When and where it was delivered (BG-13). */
export function deliveryOf({ date, locationId, address, name }: Delivery): string | undefined {
  return optionalElement(
    'cac:Delivery',
    optionalLeaf('cbc:ActualDeliveryDate', date),
    optionalElement(
      'cac:DeliveryLocation',
      optionalLeaf('cbc:ID', locationId?.id, { schemeID: locationId?.scheme }),
      address && postalAddress('cac:Address', address),
    ),
    name && element('cac:DeliveryParty', element('cac:PartyName', leaf('cbc:Name', name))),
  );
}

function partyIdentification({ id, scheme }: Identifier): string {
  return element('cac:PartyIdentification', leaf('cbc:ID', id, { schemeID: scheme }));
}

function companyId(registration: Identifier | undefined): string | undefined {
  return optionalLeaf('cbc:CompanyID', registration?.id, { schemeID: registration?.scheme });
}

function partyTax(id: string | undefined, scheme: string): string | undefined {
  return id && element('cac:PartyTaxScheme', leaf('cbc:CompanyID', id), taxScheme(scheme));
}

function postalAddress(name: string, address: PostalAddress): string {
  return element(
    name,
    optionalLeaf('cbc:StreetName', address.line1),
    optionalLeaf('cbc:AdditionalStreetName', address.line2),
    optionalLeaf('cbc:CityName', address.town),
    optionalLeaf('cbc:PostalZone', address.postcode),
    optionalLeaf('cbc:CountrySubentity', address.region),
    optionalElement('cac:AddressLine', optionalLeaf('cbc:Line', address.line3)),
    element('cac:Country', leaf('cbc:IdentificationCode', address.countryCode)),
  );
}

export function taxScheme(id = VAT): string {
  return element('cac:TaxScheme', leaf('cbc:ID', id));
}
