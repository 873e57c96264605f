import type { PrintedDocument } from '../printed-document/printed-document.ts';
import { type GivenAddress, linesBeside } from '../../contract/addresses.ts';
import type { DocumentTerms, PartyIdentifier } from '../../contract/feed.ts';
import type { PostalAddress, Delivery, EInvoice, Identifier, Party, Payee } from './model.ts';
import { oneLine, optionalText } from './xml-text.ts';

export function sellerOf({ supplier }: PrintedDocument): Party {
  return {
    name: oneLine(supplier.legalName ?? ''),
    tradingName: optionalText(supplier.tradingName),
    identifiers: (supplier.identifiers ?? []).flatMap((one) => identifierOf(one) ?? []),
    registration: registrationOf(supplier),
    vatId: optionalText(supplier.vatId),
    taxNumber: optionalText(supplier.taxNumber),
    legalText: optionalText(supplier.legalText),
    electronicAddress: identifierOf(supplier.electronicAddress),
    address: addressOf(supplier),
    contact: {
      name: optionalText(supplier.contactName),
      phone: optionalText(supplier.phone),
      email: optionalText(supplier.email),
    },
  };
}

/** Returns the buyer: the customer under its registered name if known, with the other name as trading name. */
export function buyerOf({ record, terms }: PrintedDocument): Party {
  const { name, legalName, vatId, contactName, email, addressLines, countryCode } = record.buyer;
  const own = terms?.buyer ?? {};
  const isOutside = record.vatBreakdown.some(({ category }) => category === 'O');
  return {
    name: oneLine(legalName ?? name),
    tradingName: legalName === null || legalName === name ? undefined : optionalText(name),
    identifiers: [identifierOf(own.identifier)].filter((one) => one !== undefined),
    registration: registrationOf(own),
    electronicAddress: identifierOf(own.electronicAddress),
    // Outside the scope of VAT, the standard allows neither party a VAT number (BR-O-02).
    vatId: isOutside ? undefined : optionalText(vatId),
    address: addressOf({ ...own, addressLines, countryCode }),
    contact: {
      name: optionalText(contactName),
      phone: optionalText(own.phone),
      email: optionalText(email),
    },
  };
}

/** Returns the payee (BG-10); undefined if it is the supplier, whom the standard recognises by name or numbers (BR-17). */
export function payeeOf(document: PrintedDocument): Payee | undefined {
  const given = document.terms?.payee;
  if (!given) return undefined;
  const name = oneLine(given.name);
  const payee = { name, identifier: identifierOf(given.identifier), registration: registrationOf(given) };
  const seller = sellerOf(document);
  const isSeller =
    [seller.name, seller.tradingName].includes(name) ||
    seller.identifiers.some(({ id }) => id === payee.identifier?.id) ||
    (payee.registration !== undefined && payee.registration.id === seller.registration?.id);
  return isSeller ? undefined : payee;
}

/** Returns the supplier's tax representative (BG-11); undefined if there is none. */
export function representativeOf({ terms }: PrintedDocument): EInvoice['taxRepresentative'] {
  const { taxRepresentative: given } = terms ?? {};
  return given && { name: oneLine(given.name), vatId: optionalText(given.vatId), address: addressOf(given) };
}

/**
 * Returns the delivery: its given day or else the supply date, and its given place or else the site. Goods for another member
 * state need a place (BR-IC-12), which without a site is the customer's address.
 */
export function readDelivery({ record, terms }: PrintedDocument): Delivery {
  const { buyer, supplyDate, vatBreakdown } = record;
  const isAtBuyer = vatBreakdown.some(({ category }) => category === 'K');
  const given: DocumentTerms['delivery'] = terms?.delivery ?? {};
  const place =
    given.countryCode === undefined
      ? (buyer.site ?? (isAtBuyer ? { ...terms?.buyer, ...buyer, label: undefined } : undefined))
      : { ...given, label: undefined };
  return {
    name: optionalText(given.name ?? place?.label),
    locationId: identifierOf(given.locationId),
    date: given.date ?? supplyDate ?? undefined,
    address: place && addressOf(place),
  };
}

export function identifierOf(given: PartyIdentifier | undefined): Identifier | undefined {
  const id = optionalText(given?.id);
  return id === undefined ? undefined : { id, scheme: given?.scheme };
}

function registrationOf(given: {
  companyNumber?: string;
  companyNumberScheme?: string;
}): Identifier | undefined {
  const id = optionalText(given.companyNumber);
  return id === undefined ? undefined : { id, scheme: given.companyNumberScheme };
}

/** Returns a postal address with at most three lines, as in the standard; the third takes the rest. */
function addressOf(given: GivenAddress & { countryCode?: string }): PostalAddress {
  const [line1, line2, ...others] = linesBeside(given);
  return {
    line1,
    line2,
    line3: optionalText(others.join(', ')),
    town: optionalText(given.town),
    postcode: optionalText(given.postcode),
    region: optionalText(given.region),
    countryCode: given.countryCode ?? '',
  };
}
