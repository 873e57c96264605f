import type { Invoice } from '../contract/records.ts';
import { convertBreakdown, totals, vatBreakdown } from '../backoffice/vat.ts';
import { DAY_MS, dayText, isWorkday } from './calendar.ts';
import type { Deal, Line, LinePlan } from './deals.ts';
import { northernIrishVatNumber } from './vat-numbers.ts';

const HOME_CURRENCY = 'EUR';

/** The members that quotes, invoices, credit notes and pro formas have in common. */
export interface Parties {
  customer: Invoice['customer'];
  siteId: Invoice['siteId'];
  currency: Invoice['currency'];
  buyer: Invoice['buyer'];
}

export function parties({ customer: { record }, site, vat }: Deal): Parties {
  // Goods go to Northern Ireland as to a member state, under the prefix XI.
  const vatId = vat.category === 'K' && record.vatId ? northernIrishVatNumber(record.vatId) : record.vatId;
  return {
    customer: { id: record.id, type: 'customer', name: record.name },
    siteId: site?.id ?? null,
    currency: record.currency,
    buyer: {
      name: record.name,
      legalName: record.legalName,
      vatId,
      addressLines: record.addressLines,
      countryCode: record.countryCode,
      contactName: record.contactName,
      email: record.email,
      site: site
        ? {
            id: site.id,
            label: site.label,
            addressLines: site.addressLines,
            countryCode: site.countryCode,
            postcode: site.postcode,
          }
        : null,
    },
  };
}

/** The lines of a document; their ids carry the document's. */
export function documentLines(plans: readonly LinePlan[], documentId: string, jobId: string | null): Line[] {
  const stem = `lin_${documentId.replaceAll('-', '')}`;
  return plans.map((plan, index) => ({
    id: `${stem}.${index + 1}`,
    position: index + 1,
    description: plan.description,
    quantity: plan.quantity,
    unitCode: plan.unitCode,
    unitPriceMinor: plan.unitPriceMinor,
    amountMinor: plan.amountMinor,
    vatCategory: plan.vatCategory,
    vatRateBasisPoints: plan.vatRateBasisPoints,
    vatExemptionReason: plan.vatExemptionReason,
    jobId,
  }));
}

type Amounts = Pick<Invoice, 'totals' | 'vatBreakdown'>;

export function amountsOf(plans: readonly LinePlan[]): Amounts {
  const breakdown = vatBreakdown(plans);
  return { totals: totals(breakdown), vatBreakdown: breakdown };
}

/** The rate of a document, or undefined when it is in the company's own currency. */
export type ExchangeRate = Pick<
  NonNullable<Invoice['accountingCurrency']>,
  'exchangeRate' | 'exchangeRateDate' | 'exchangeRateSource'
>;

/** The rate of the last workday up to a moment: an invention that wanders between 1.15 and 1.19. */
export function exchangeRate(currency: string, atMs: number): ExchangeRate | undefined {
  if (currency === HOME_CURRENCY) return undefined;
  let day = atMs;
  while (!isWorkday(day)) day -= DAY_MS;
  const dayNumber = Math.floor(day / DAY_MS);
  const wander = Math.abs((dayNumber % 240) - 120) * 2 + ((dayNumber * 7919) % 97);
  return {
    exchangeRate: `1.1${String(5000 + wander * 12).slice(0, 4)}`,
    exchangeRateDate: dayText(day),
    exchangeRateSource: 'ECB',
  };
}

export function accountingAmounts(
  currency: string,
  rate: ExchangeRate | undefined,
  breakdown: Invoice['vatBreakdown'],
): Invoice['accountingCurrency'] {
  if (!rate) return null;
  const conversion = { from: currency, to: HOME_CURRENCY, exchangeRate: rate.exchangeRate };
  const converted = convertBreakdown(breakdown, conversion);
  return { currency: HOME_CURRENCY, ...rate, totals: totals(converted), vatBreakdown: converted };
}

export function documentLinks(id: string): Invoice['links'] {
  const self = `/api/v1/invoices/${id}`;
  return { self, pdf: `${self}/pdf` };
}
