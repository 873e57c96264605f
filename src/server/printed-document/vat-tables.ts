import type { Invoice } from '../../contract/records.ts';
import { moneyFormat } from './amounts.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { TextTable } from './text-table.ts';
import {
  categoryText,
  dateText,
  hidesReverseCharge,
  isMargin,
  isMarginOnly,
  isSilent,
  showsVat,
} from './wording.ts';

/** Amounts in one currency. Those in the currency of the VAT return have totals, and a caption with the exchange rate. */
interface Amounts {
  currency: string;
  vatBreakdown: Invoice['vatBreakdown'];
  totals?: Invoice['totals'];
  caption?: string;
}

/** A VAT table for one currency, as shown. */
export interface VatTable extends TextTable {
  title: string;
  /** The exchange rate, or an empty text. */
  caption: string;
}

/** Returns the VAT tables for the document's currency and that of the VAT return; none for a document without VAT. */
export function vatTablesOf(printed: PrintedDocument): VatTable[] {
  const { record } = printed;
  if (!showsVat(record) || isSilent(printed) || isMarginOnly(record)) return [];
  return amountsOf(record).map((amounts) => ({
    title: amounts.caption === undefined ? 'VAT summary' : `VAT in ${amounts.currency}`,
    caption: amounts.caption ?? '',
    columns: [
      { head: 'Rate', align: 'left', widthMax: 110 },
      { head: `Net (${amounts.currency})`, align: 'right', widthMax: 130 },
      { head: `VAT (${amounts.currency})`, align: 'right', widthMax: 130 },
    ],
    rows: textsOf(printed, amounts),
  }));
}

function amountsOf({ currency, vatBreakdown, accountingCurrency }: Invoice): Amounts[] {
  const own = { currency, vatBreakdown };
  if (!accountingCurrency) return [own];
  const { exchangeRate, exchangeRateDate, exchangeRateSource } = accountingCurrency;
  const rate = `1 ${currency} = ${exchangeRate} ${accountingCurrency.currency}`;
  const caption = `${rate} (${exchangeRateSource}, ${dateText(exchangeRateDate)})`;
  return [own, { ...accountingCurrency, caption }];
}

function textsOf(printed: PrintedDocument, { currency, vatBreakdown, totals }: Amounts): string[][] {
  const { plain } = moneyFormat(currency);
  const hasMargin = printed.record.lines.some(isMargin);
  const texts = vatBreakdown.map(({ category, rateBasisPoints, taxableMinor, vatMinor }) => {
    const isOfMargin = hasMargin && category === 'E';
    // No amount of VAT may be shown, not even zero.
    const isUnstated = isOfMargin || (category === 'AE' && hidesReverseCharge(printed));
    return [
      isOfMargin ? 'Margin scheme' : categoryText(category, rateBasisPoints),
      plain(taxableMinor),
      isUnstated ? '–' : plain(vatMinor),
    ];
  });
  if (totals) texts.push(['Total', plain(totals.netMinor), plain(totals.vatMinor)]);
  return texts;
}
