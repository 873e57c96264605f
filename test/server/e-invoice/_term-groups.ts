/* Where each syntax has the terms of groups that an invoice has more than once. */

export type Places = readonly [cii: string, ubl: string];

/** An identifier with its scheme behind it. */
export const withScheme = (path: string) => `${path}/string-join((., @schemeID), ' ')`;

export function placesOfParty(
  numbers: Record<string, string>,
  cii: string,
  ubl: string,
): Record<string, Places> {
  const places: Record<string, Places> = {
    name: ['ram:Name', 'cac:PartyLegalEntity/cbc:RegistrationName'],
    tradingName: ['ram:SpecifiedLegalOrganization/ram:TradingBusinessName', 'cac:PartyName/cbc:Name'],
    registration: [
      withScheme('ram:SpecifiedLegalOrganization/ram:ID'),
      withScheme('cac:PartyLegalEntity/cbc:CompanyID'),
    ],
    identifiers: [
      withScheme('(ram:ID | ram:GlobalID)'),
      withScheme("cac:PartyIdentification/cbc:ID[not(@schemeID = 'SEPA')]"),
    ],
    electronicAddress: [withScheme('ram:URIUniversalCommunication/ram:URIID'), withScheme('cbc:EndpointID')],
    taxNumber: [
      "ram:SpecifiedTaxRegistration/ram:ID[@schemeID = 'FC']",
      "cac:PartyTaxScheme[cac:TaxScheme/cbc:ID = 'TAX']/cbc:CompanyID",
    ],
    legalText: ['ram:Description', 'cac:PartyLegalEntity/cbc:CompanyLegalForm'],
    vatId: [
      "ram:SpecifiedTaxRegistration/ram:ID[@schemeID = 'VA']",
      "cac:PartyTaxScheme[cac:TaxScheme/cbc:ID = 'VAT']/cbc:CompanyID",
    ],
    ...placesOfAddress('ram:PostalTradeAddress', '(cac:PostalAddress | cac:Address)'),
    contact: ['ram:DefinedTradeContact/ram:PersonName', 'cac:Contact/cbc:Name'],
    phone: ['ram:DefinedTradeContact//ram:CompleteNumber', 'cac:Contact/cbc:Telephone'],
    email: ['ram:DefinedTradeContact//ram:URIID', 'cac:Contact/cbc:ElectronicMail'],
  };
  return placesOfMembers(numbers, places, cii, ubl);
}

/** The places of a group's terms by their numbers, from those of its members. */
function placesOfMembers(
  numbers: Record<string, string>,
  places: Record<string, Places>,
  cii: string,
  ubl: string,
): Record<string, Places> {
  const found = Object.entries(numbers).map(([member, number]): [string, Places] => {
    const [inCii, inUbl] = places[member] ?? ['', ''];
    return [number, [`${cii}/${inCii}`, `${ubl}/${inUbl}`]];
  });
  return Object.fromEntries(found);
}

/** Discounts and charges alike, which an indicator tells apart. */
export function placesOfAllowances(
  numbers: Record<string, string>,
  cii: string,
  ubl: string,
): Record<string, Places> {
  const places: Record<string, Places> = {
    amount: ['ram:ActualAmount', 'cbc:Amount'],
    base: ['ram:BasisAmount', 'cbc:BaseAmount'],
    percent: ['ram:CalculationPercent', 'cbc:MultiplierFactorNumeric'],
    reason: ['ram:Reason', 'cbc:AllowanceChargeReason'],
    reasonCode: ['ram:ReasonCode', 'cbc:AllowanceChargeReasonCode'],
  };
  const indicators: Places = [`${cii}/ram:ChargeIndicator/udt:Indicator`, `${ubl}/cbc:ChargeIndicator`];
  return { ...placesOfMembers(numbers, places, cii, ubl), [`${numbers['amount']} or charge`]: indicators };
}

function placesOfAddress(cii: string, ubl: string): Record<string, Places> {
  return {
    line1: [`${cii}/ram:LineOne`, `${ubl}/cbc:StreetName`],
    line2: [`${cii}/ram:LineTwo`, `${ubl}/cbc:AdditionalStreetName`],
    line3: [`${cii}/ram:LineThree`, `${ubl}/cac:AddressLine/cbc:Line`],
    town: [`${cii}/ram:CityName`, `${ubl}/cbc:CityName`],
    region: [`${cii}/ram:CountrySubDivisionName`, `${ubl}/cbc:CountrySubentity`],
    postcode: [`${cii}/ram:PostcodeCode`, `${ubl}/cbc:PostalZone`],
    country: [`${cii}/ram:CountryID`, `${ubl}/cac:Country/cbc:IdentificationCode`],
  };
}
