import type { PrintedDocument } from '../invoice-pdf/printed-document.ts';
import type { Address, Delivery, Party } from './model.ts';
import { oneLine, optionalText } from './xml-text.ts';

interface GivenAddress {
  addressLines?: readonly string[];
  countryCode?: string;
  postcode?: string | null;
}

export function sellerOf({ supplier }: PrintedDocument): Party {
  return {
    name: oneLine(supplier.legalName ?? ''),
    tradingName: optionalText(supplier.tradingName),
    registrationId: optionalText(supplier.companyNumber),
    vatId: optionalText(supplier.vatId),
    address: addressOf(supplier),
    contact: { phone: optionalText(supplier.phone), email: optionalText(supplier.email) },
  };
}

/** The customer. Its name is the registered one, where there is one; the other is the trading name then. */
export function buyerOf({ record }: PrintedDocument): Party {
  const { name, legalName, vatId, contactName, email, addressLines, countryCode } = record.buyer;
  const isOutside = record.vatBreakdown.some(({ category }) => category === 'O');
  return {
    name: oneLine(legalName ?? name),
    tradingName: legalName === null || legalName === name ? undefined : optionalText(name),
    // Outside the scope of VAT the norm wants no VAT number of either side (BR-O-02).
    vatId: isOutside ? undefined : optionalText(vatId),
    address: addressOf({ addressLines, countryCode }),
    contact: { name: optionalText(contactName), email: optionalText(email) },
  };
}

/**
 * When and where it was delivered. The day is that of the supply: with a period, its last one. The place is the site. Goods
 * that go to another member state need a place of delivery (BR-IC-12), which without a site is the customer's address.
 */
export function deliveryOf({ record }: PrintedDocument): Delivery {
  const { buyer, supplyDate, vatBreakdown } = record;
  const isAtBuyer = vatBreakdown.some(({ category }) => category === 'K');
  const place = buyer.site ?? (isAtBuyer ? { ...buyer, label: undefined } : undefined);
  return {
    name: optionalText(place?.label),
    date: supplyDate ?? undefined,
    address: place && addressOf(place),
  };
}

/** The norm has three lines, so the third takes the rest. Which line is the town isn't known. */
function addressOf({ addressLines = [], countryCode = '', postcode }: GivenAddress): Address {
  const [line1, line2, ...others] = addressLines.map(oneLine).filter((line) => line !== '');
  return {
    line1,
    line2,
    line3: optionalText(others.join(', ')),
    postcode: optionalText(postcode),
    countryCode,
  };
}
