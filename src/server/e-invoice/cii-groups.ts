/** Groups of terms that occur in several places of Cross Industry Invoice. */
import type { AllowanceCharge, DocumentAllowanceCharge, Identifier, Party, PostalAddress } from './model.ts';
import { type Attributes, type TermGroup, type TermMapping, type Rows, groupOf } from './rows.ts';

/** Returns the XML rows of the seller, the buyer or the seller's tax representative (BG-4, BG-7, BG-11). */
export function tradeParty(party: Pick<Party, 'name' | 'address'> & Partial<Party>): Rows {
  return [
    ...identifiers('BT-29, 46', party.identifiers),
    ['BT-27, 44, 62', 'ram:Name', party.name],
    ['BT-33', 'ram:Description', party.legalText],
    groupOf('ram:SpecifiedLegalOrganization', [
      ['BT-30, 47', 'ram:ID', party.registration],
      ['BT-28, 45', 'ram:TradingBusinessName', party.tradingName],
    ]),
    groupOf('ram:DefinedTradeContact', [
      ['BT-41, 56', 'ram:PersonName', party.contact?.name],
      ['BT-42, 57', 'ram:TelephoneUniversalCommunication/ram:CompleteNumber', party.contact?.phone],
      ['BT-43, 58', 'ram:EmailURIUniversalCommunication/ram:URIID', party.contact?.email],
    ]),
    groupOf('ram:PostalTradeAddress', ciiAddress(party.address)),
    ['BT-34, 49', 'ram:URIUniversalCommunication/ram:URIID', party.electronicAddress],
    ['BT-31, 48, 63', 'ram:SpecifiedTaxRegistration/ram:ID', party.vatId, { schemeID: 'VA' }],
    ['BT-32', 'ram:SpecifiedTaxRegistration/ram:ID', party.taxNumber, { schemeID: 'FC' }],
  ];
}

/** Returns the XML rows of identifiers: CII has separate elements for those without a scheme, which come first. */
export function identifiers(
  term: TermMapping[0],
  all: readonly (Identifier | undefined)[] = [],
): TermMapping[] {
  return [
    [term, 'ram:ID', all.filter((one) => one?.scheme === undefined)],
    [term, 'ram:GlobalID', all.filter((one) => one?.scheme !== undefined)],
  ];
}

/** Returns the XML rows of a postal address (BG-5, BG-8, BG-12, BG-15). */
export function ciiAddress(address: PostalAddress): Rows {
  return [
    ['BT-38, 53, 67, 78', 'ram:PostcodeCode', address.postcode],
    ['BT-35, 50, 64, 75', 'ram:LineOne', address.line1],
    ['BT-36, 51, 65, 76', 'ram:LineTwo', address.line2],
    ['BT-162, 163, 164, 165', 'ram:LineThree', address.line3],
    ['BT-37, 52, 66, 77', 'ram:CityName', address.town],
    ['BT-40, 55, 69, 80', 'ram:CountryID', address.countryCode],
    ['BT-39, 54, 68, 79', 'ram:CountrySubDivisionName', address.region],
  ];
}

/** Returns the rows of a line's discount or charge (BG-27, BG-28), or a document's with its VAT (BG-20, BG-21). */
export function ciiAllowanceCharge(given: AllowanceCharge & Partial<DocumentAllowanceCharge>): Rows {
  return [
    ['BG-20, 21, 27, 28', 'ram:ChargeIndicator/udt:Indicator', String(given.isCharge)],
    ['BT-94, 101, 138, 143', 'ram:CalculationPercent', given.percent],
    ['BT-93, 100, 137, 142', 'ram:BasisAmount', given.base],
    ['BT-92, 99, 136, 141', 'ram:ActualAmount', given.amount],
    ['BT-98, 105, 140, 145', 'ram:ReasonCode', given.reasonCode],
    ['BT-97, 104, 139, 144', 'ram:Reason', given.reason],
    groupOf('ram:CategoryTradeTax', [
      ['-', 'ram:TypeCode', 'VAT'],
      ['BT-95, 102', 'ram:CategoryCode', given.category],
      ['BT-96, 103', 'ram:RateApplicablePercent', given.rate],
    ]),
  ];
}

/** The document type code of a reference to an invoiced object, from UNTDID 1001. */
const OBJECT = '130';

/** Returns the row group that refers to the invoiced object of the document (BT-18) or of a line (BT-128). */
export function objectReference(object: Identifier | undefined): TermGroup {
  return groupOf('ram:AdditionalReferencedDocument', [
    ['BT-18, 128', 'ram:IssuerAssignedID', object?.id],
    ['-', 'ram:TypeCode', OBJECT],
    ['BT-18, 128', 'ram:ReferenceTypeCode', object?.scheme],
  ]);
}

/** Returns a day as the value and attributes of a row, in format 102 of UNTDID 2379. */
export function day(date: string | undefined): [value: string | undefined, attributes: Attributes] {
  return [date?.replaceAll('-', ''), { format: '102' }];
}
