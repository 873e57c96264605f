import type { Customer, Invoice } from '../../contract/records.ts';
import { quote } from '../../errors.ts';
import { Refusal } from './refusal.ts';

export type Naming = Pick<Invoice, 'customer' | 'siteId' | 'buyer'>;

/**
 * Returns the members of a document that name its customer and, if given, the customer's site.
 * @throws Refusal `unknown_record` when the customer has no such site.
 */
export function namingOf(customer: Customer, siteId: string | null, path: string): Naming {
  return {
    customer: { id: customer.id, type: 'customer', name: customer.name },
    siteId,
    buyer: {
      name: customer.name,
      legalName: customer.legalName,
      vatId: customer.vatId,
      addressLines: customer.addressLines,
      countryCode: customer.countryCode,
      contactName: customer.contactName,
      email: customer.email,
      site: siteId === null ? null : siteOf(customer, siteId, path),
    },
  };
}

function siteOf({ id, sites }: Customer, siteId: string, path: string): Invoice['buyer']['site'] {
  const site = sites.find((candidate) => candidate.id === siteId);
  if (!site) {
    const message = `The customer ${quote(id)} has no site with the id ${quote(siteId)}.`;
    throw new Refusal('unknown_record', message, `${path}/siteId`);
  }
  const { label, addressLines, countryCode, postcode } = site;
  return { id: siteId, label, addressLines, countryCode, postcode };
}
