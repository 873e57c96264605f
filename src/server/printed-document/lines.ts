import { decimalAmount } from '../../contract/currencies.ts';
import type { LineTerms } from '../../contract/document-terms.ts';
import { sumOfPrices } from '../../contract/prices.ts';
import { adjustmentText, shownMinor } from './adjustments.ts';
import { moneyFormat, priceText, quantityText, shareText } from './amounts.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { TextColumn, TextTable } from './text-table.ts';
import { unitText } from './units.ts';
import { type InvoiceLine, periodText, pricesIncludeVat, showsVat, vatOfLine } from './wording.ts';

/** The unit code for counted things (UN/ECE Recommendation 20). */
const ONE = 'C62';
/** Returns a document's lines as a table of texts, with the subtotal after each. */
export function linesOf(printed: PrintedDocument): TextTable {
  const { lines, currency } = printed.record;
  let sumMinor = 0;
  const carried = lines.map((line) => {
    sumMinor += shownMinor(line, printed);
    return moneyFormat(currency).plain(sumMinor);
  });
  return { columns: columnsOf(printed), rows: lines.map((line) => textsOf(printed, line)), carried };
}

function columnsOf(printed: PrintedDocument): TextColumn[] {
  const { record } = printed;
  const currency = pricesIncludeVat(printed) ? `${record.currency} incl. VAT` : record.currency;
  const vat: TextColumn[] = showsVat(record) ? [{ head: 'VAT', align: 'right', widthMax: 88 }] : [];
  return [
    { head: 'Description', align: 'left', widthMax: Infinity },
    { head: 'Quantity', align: 'right', widthMax: 92 },
    { head: 'Unit', align: 'left', widthMax: 60 },
    { head: `Unit price (${currency})`, align: 'right', widthMax: 92 },
    ...vat,
    { head: `Amount (${currency})`, align: 'right', widthMax: 104 },
  ];
}

function textsOf(printed: PrintedDocument, line: InvoiceLine): string[] {
  const { plain } = moneyFormat(printed.record.currency);
  const { allowances = [], charges = [] } = printed.amounts?.lines[line.id] ?? {};
  const adjusted = [
    ...allowances.map((one) => adjustmentText('discount', one, printed.record.currency)),
    ...charges.map((one) => adjustmentText('charge', one, printed.record.currency)),
  ];
  // A negative part of one is a discount, and -0.05 units are shown as -5 %.
  const share = line.unitCode === ONE ? shareText(line.quantity) : undefined;
  return [
    [
      line.description,
      ...aboutItem(printed.terms?.lines?.[line.id] ?? {}),
      ...discountTexts(line, printed),
      ...adjusted.map(({ label, countedMinor }) => `${label}: ${plain(countedMinor)}`),
    ].join('\n'),
    share ?? quantityText(line.quantity),
    share === undefined ? unitText(line.unitCode, line.quantity) : '',
    unitPriceText(line, printed),
    ...(showsVat(printed.record) ? [vatOfLine(line, printed)] : []),
    plain(shownMinor(line, printed)),
  ];
}

/** The ISO 6523 code of GTIN. */
const GTIN = '0160';

/** Returns the texts shown with a line's description: the article's numbers and properties, its period, and a note. */
function aboutItem(terms: LineTerms): string[] {
  const { sellerItemId, buyerItemId, standardItemId, attributes = [], supplyPeriod } = terms;
  const numbers = [
    sellerItemId && `Item no. ${sellerItemId}`,
    buyerItemId && `Your item no. ${buyerItemId}`,
    standardItemId && `${standardItemId.scheme === GTIN ? 'GTIN' : 'Standard no.'} ${standardItemId.id}`,
    terms.orderLineReference && `Your order line ${terms.orderLineReference}`,
    terms.invoicedObject && `Concerning ${terms.invoicedObject.id}`,
    terms.buyerAccountingReference && `Your account ${terms.buyerAccountingReference}`,
  ];
  const properties = attributes.map(({ name, value }) => `${name}: ${value}`);
  const texts = [...[numbers, properties].map((some) => some.filter(Boolean).join('  ·  ')), terms.note];
  if (supplyPeriod) texts.splice(2, 0, periodText(supplyPeriod));
  return texts.flatMap((text) => text || []);
}

/** Returns a line's price as it was given: exact, and with VAT where prices include it. */
function givenPrice({ id, unitPriceMinor }: InvoiceLine, { record, amounts }: PrintedDocument): string {
  const { given, grossMinor, unitPrice, priceBaseQuantity } = amounts?.lines[id] ?? {};
  const priceMinor =
    priceBaseQuantity === undefined && grossMinor === undefined ? undefined : given?.unitPriceMinor;
  return unitPrice ?? decimalAmount(priceMinor ?? unitPriceMinor, record.currency);
}

function unitPriceText(line: InvoiceLine, printed: PrintedDocument): string {
  const price = priceText(givenPrice(line, printed), printed.record.currency);
  const base = printed.amounts?.lines[line.id]?.priceBaseQuantity;
  return base === undefined ? price : `${price} per ${quantityText(base)}`;
}

/** Returns the texts of a price before its discount, and of the discount (BT-148, BT-147). */
function discountTexts(line: InvoiceLine, printed: PrintedDocument): string[] {
  const discount = printed.terms?.lines?.[line.id]?.priceDiscount;
  if (discount === undefined) return [];
  const [before, less] = [sumOfPrices(givenPrice(line, printed), discount), discount].map((price) =>
    priceText(price, printed.record.currency),
  );
  return [`Price before discount: ${before} less ${less}`];
}
