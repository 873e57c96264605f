import type { Invoice } from '../contract/records.ts';
import { unitCodes } from '../contract/code-lists.ts';
import { decimalAmount, percent } from './decimal-amount.ts';
import { element, leaf, oneLine } from './xml-text.ts';

type Line = Invoice['lines'][number];

/** "Mutually defined": what Recommendation 20 has for units that it doesn't know. */
const OTHER_UNIT = 'ZZ';

/** A line of a document (BG-25). */
export function lineItem(line: Line, currency: string): string {
  const { position, quantity, unitCode, unitPriceMinor, amountMinor } = line;
  const unit = unitCodes.has(unitCode) ? unitCode : OTHER_UNIT;
  return element(
    'ram:IncludedSupplyChainTradeLineItem',
    element('ram:AssociatedDocumentLineDocument', leaf('ram:LineID', String(position))),
    product(line),
    element(
      'ram:SpecifiedLineTradeAgreement',
      element(
        'ram:NetPriceProductTradePrice',
        leaf('ram:ChargeAmount', decimalAmount(unitPriceMinor, currency)),
      ),
    ),
    element('ram:SpecifiedLineTradeDelivery', leaf('ram:BilledQuantity', quantity, { unitCode: unit })),
    element(
      'ram:SpecifiedLineTradeSettlement',
      lineTax(line),
      element(
        'ram:SpecifiedTradeSettlementLineMonetarySummation',
        leaf('ram:LineTotalAmount', decimalAmount(amountMinor, currency)),
      ),
    ),
  );
}

/** The first line of a description names the item (BT-153), the others describe it (BT-154). */
function product({ description, unitCode }: Line): string {
  const texts = description.split(/\r\n?|\n/).map(oneLine);
  const [name = '', ...others] = texts.filter((text) => text !== '');
  if (!unitCodes.has(unitCode)) others.push(`Unit: ${unitCode}`);
  return element(
    'ram:SpecifiedTradeProduct',
    leaf('ram:Name', name),
    others.length === 0 ? undefined : leaf('ram:Description', others.join('\n')),
  );
}

function lineTax({ vatCategory, vatRateBasisPoints }: Line): string {
  return element(
    'ram:ApplicableTradeTax',
    leaf('ram:TypeCode', 'VAT'),
    leaf('ram:CategoryCode', vatCategory),
    rateOf(vatCategory, vatRateBasisPoints),
  );
}

/** A rate, which what is outside the scope of VAT doesn't even have as zero (BR-O-05). */
export function rateOf(category: string, rateBasisPoints: number): string | undefined {
  return category === 'O' ? undefined : leaf('ram:RateApplicablePercent', percent(rateBasisPoints));
}
