/** Groups of terms that occur in several places of UBL. */
import type { AllowanceCharge, DocumentAllowanceCharge, Identifier, Party, PostalAddress } from './model.ts';
import { type TermMapping, type Rows, groupOf } from './rows.ts';

/** The row that marks a number as a VAT number and, below, the one for any other tax number. */
export const VAT_SCHEME: TermMapping = ['-', 'cac:TaxScheme/cbc:ID', 'VAT'];
const OTHER_SCHEME: TermMapping = ['-', 'cac:TaxScheme/cbc:ID', 'TAX'];

/** Returns the XML rows of the seller or the buyer (BG-4, BG-7). `creditorId` is BT-90, for a seller. */
export function accountingParty(party: Party, creditorId?: string): Rows {
  return [
    ['BT-34, 49', 'cbc:EndpointID', party.electronicAddress],
    ['BT-29, 46', 'cac:PartyIdentification/cbc:ID', party.identifiers],
    ['BT-90', 'cac:PartyIdentification/cbc:ID', creditor(creditorId)],
    ['BT-28, 45', 'cac:PartyName/cbc:Name', party.tradingName],
    groupOf('cac:PostalAddress', ublAddress(party.address)),
    groupOf('cac:PartyTaxScheme', [['BT-31, 48', 'cbc:CompanyID', party.vatId], VAT_SCHEME]),
    groupOf('cac:PartyTaxScheme', [['BT-32', 'cbc:CompanyID', party.taxNumber], OTHER_SCHEME]),
    groupOf('cac:PartyLegalEntity', [
      ['BT-27, 44', 'cbc:RegistrationName', party.name],
      ['BT-30, 47', 'cbc:CompanyID', party.registration],
      ['BT-33', 'cbc:CompanyLegalForm', party.legalText],
    ]),
    groupOf('cac:Contact', [
      ['BT-41, 56', 'cbc:Name', party.contact.name],
      ['BT-42, 57', 'cbc:Telephone', party.contact.phone],
      ['BT-43, 58', 'cbc:ElectronicMail', party.contact.email],
    ]),
  ];
}

/** Returns the creditor identifier (BT-90) as UBL has it, under the scheme SEPA; undefined if there is none. */
export function creditor(id: string | undefined): Identifier | undefined {
  return id === undefined ? undefined : { id, scheme: 'SEPA' };
}

/** Returns the XML rows of a postal address (BG-5, BG-8, BG-12, BG-15). */
export function ublAddress(address: PostalAddress): Rows {
  return [
    ['BT-35, 50, 64, 75', 'cbc:StreetName', address.line1],
    ['BT-36, 51, 65, 76', 'cbc:AdditionalStreetName', address.line2],
    ['BT-37, 52, 66, 77', 'cbc:CityName', address.town],
    ['BT-38, 53, 67, 78', 'cbc:PostalZone', address.postcode],
    ['BT-39, 54, 68, 79', 'cbc:CountrySubentity', address.region],
    ['BT-162, 163, 164, 165', 'cac:AddressLine/cbc:Line', address.line3],
    ['BT-40, 55, 69, 80', 'cac:Country/cbc:IdentificationCode', address.countryCode],
  ];
}

/** Returns the rows of a line's discount or charge (BG-27, BG-28), or a document's with its VAT (BG-20, BG-21). */
export function ublAllowanceCharge(given: AllowanceCharge & Partial<DocumentAllowanceCharge>): Rows {
  return [
    ['BG-20, 21, 27, 28', 'cbc:ChargeIndicator', String(given.isCharge)],
    ['BT-98, 105, 140, 145', 'cbc:AllowanceChargeReasonCode', given.reasonCode],
    ['BT-97, 104, 139, 144', 'cbc:AllowanceChargeReason', given.reason],
    ['BT-94, 101, 138, 143', 'cbc:MultiplierFactorNumeric', given.percent],
    ['BT-92, 99, 136, 141', 'cbc:Amount', given.amount],
    ['BT-93, 100, 137, 142', 'cbc:BaseAmount', given.base],
    groupOf('cac:TaxCategory', [
      ['BT-95, 102', 'cbc:ID', given.category],
      ['BT-96, 103', 'cbc:Percent', given.rate],
      VAT_SCHEME,
    ]),
  ];
}
