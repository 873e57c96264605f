/**
 * The rules of EN 16931-1:2017 that an invoice can break, as
 * expressions over its XML, exact to the cent; and those of its binding to CII and of Factur-X that the schema leaves
 * open. The names are the norm's. A code counts as known here when another table than the writer's knows it.
 */
import type { Document } from 'slimdom';

import { holds, nodesOf } from '../invoice-pdf/_xml.ts';

interface Rule {
  name: string;
  /** The nodes for which it has to hold. */
  context: string;
  /** The condition that has to hold for each of them. */
  test: string;
}

const INVOICE = '/rsm:CrossIndustryInvoice';
const TRADE = `${INVOICE}/rsm:SupplyChainTradeTransaction`;
const AGREEMENT = `${TRADE}/ram:ApplicableHeaderTradeAgreement`;
const DELIVERY = `${TRADE}/ram:ApplicableHeaderTradeDelivery`;
const SETTLEMENT = `${TRADE}/ram:ApplicableHeaderTradeSettlement`;
const TOTALS = `${SETTLEMENT}/ram:SpecifiedTradeSettlementHeaderMonetarySummation`;
const LINE = `${TRADE}/ram:IncludedSupplyChainTradeLineItem`;
const LINE_AMOUNT =
  'ram:SpecifiedLineTradeSettlement/ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount';
const LINE_TAX = 'ram:SpecifiedLineTradeSettlement/ram:ApplicableTradeTax';
const BREAKDOWN = `${SETTLEMENT}/ram:ApplicableTradeTax`;
const ADJUSTMENT = 'ram:SpecifiedTradeAllowanceCharge';
const isCharge = (is: boolean) => `[ram:ChargeIndicator/udt:Indicator = '${is}']`;
const LINE_ADJUSTMENT = `${LINE}/ram:SpecifiedLineTradeSettlement/${ADJUSTMENT}`;
const SELLER = `${AGREEMENT}/ram:SellerTradeParty`;
const BUYER = `${AGREEMENT}/ram:BuyerTradeParty`;
const VAT_ID = "ram:SpecifiedTaxRegistration/ram:ID[@schemeID = 'VA']";
const OWN_CURRENCY = `@currencyID = ${SETTLEMENT}/ram:InvoiceCurrencyCode`;

/** The sum of amounts in minor units: all amounts of a currency are written with the same number of decimals. */
const minor = (path: string) => `sum((${path}) ! xs:integer(translate(., '.', '')))`;
const filled = (path: string) => `count(${path}) = 1 and normalize-space(${path}) != ''`;
const twoDecimals = (path: string) =>
  `every $amount in ${path} satisfies matches($amount, '^-?\\d+(\\.\\d{1,2})?$')`;

function rulesOf(context: string, tests: Record<string, string>): Rule[] {
  return Object.entries(tests).map(([name, test]) => ({ name, context, test }));
}

const documentRules = rulesOf(INVOICE, {
  'BR-01': `rsm:ExchangedDocumentContext/ram:GuidelineSpecifiedDocumentContextParameter/ram:ID = 'urn:cen.eu:en16931:2017'`,
  'BR-02': filled('rsm:ExchangedDocument/ram:ID'),
  'BR-03': filled("rsm:ExchangedDocument/ram:IssueDateTime/udt:DateTimeString[@format = '102']"),
  'BR-04, BR-CL-01':
    'rsm:ExchangedDocument/ram:TypeCode = (204, 326, 380, 381, 384, 386, 387, 389, 575, 875, 876, 877) ! string()',
  'BR-05': filled(`${SETTLEMENT}/ram:InvoiceCurrencyCode`),
  'BR-06': filled(`${SELLER}/ram:Name`),
  'BR-07': filled(`${BUYER}/ram:Name`),
  'BR-08, BR-09': filled(`${SELLER}/ram:PostalTradeAddress/ram:CountryID`),
  'BR-10, BR-11': filled(`${BUYER}/ram:PostalTradeAddress/ram:CountryID`),
  'BR-16': `exists(${LINE})`,
  'BR-CO-18': `exists(${BREAKDOWN})`,
  'BR-CO-26': `exists(${SELLER}/(${VAT_ID} | ram:SpecifiedLegalOrganization/ram:ID))`,
  'BR-CO-03': 'not(exists(//ram:TaxPointDate) and exists(//ram:DueDateTypeCode))',
  'BR-53': `count(${SETTLEMENT}/ram:TaxCurrencyCode) = count(${TOTALS}/ram:TaxTotalAmount[@currencyID = ${SETTLEMENT}/ram:TaxCurrencyCode][not(${OWN_CURRENCY})])`,
  'BR-FX-EN-04': `exists(${DELIVERY}/ram:ActualDeliverySupplyChainEvent/ram:OccurrenceDateTime | ${SETTLEMENT}/ram:BillingSpecifiedPeriod) or //rsm:ExchangedDocument/ram:TypeCode = '386'`,
  'CII-SR-452, CII-SR-453': `count(${SETTLEMENT}/ram:SpecifiedTradePaymentTerms) <= 1`,
  'CII-SR-461': `count(${BREAKDOWN}/ram:TaxPointDate) <= 1`,
  'CII-SR-469': `count(${SETTLEMENT}/ram:PaymentReference) <= 1`,
});

/** There is a total where there is something to add up. */
function isTotal(total: string, is: boolean): string {
  const parts = `${SETTLEMENT}/${ADJUSTMENT}${isCharge(is)}/ram:ActualAmount`;
  return `${minor(total)} = ${minor(parts)} and count(${total}) = number(exists(${parts}))`;
}

const totalsRules = rulesOf(TOTALS, {
  'BR-12, CII-SR-477': 'count(ram:LineTotalAmount) = 1',
  'BR-13, CII-SR-480': 'count(ram:TaxBasisTotalAmount) = 1',
  'BR-14, CII-SR-482': 'count(ram:GrandTotalAmount) = 1',
  'BR-15, CII-SR-487': 'count(ram:DuePayableAmount) = 1',
  'BR-CO-10': `${minor('ram:LineTotalAmount')} = ${minor(`${LINE}/${LINE_AMOUNT}`)}`,
  'BR-CO-11': isTotal('ram:AllowanceTotalAmount', false),
  'BR-CO-12': isTotal('ram:ChargeTotalAmount', true),
  'BR-CO-13': `${minor('ram:TaxBasisTotalAmount')} = ${minor('ram:LineTotalAmount | ram:ChargeTotalAmount')} - ${minor('ram:AllowanceTotalAmount')}`,
  'BR-CO-14': `count(ram:TaxTotalAmount[${OWN_CURRENCY}]) = 1 and ${minor(`ram:TaxTotalAmount[${OWN_CURRENCY}]`)} = ${minor(`${BREAKDOWN}/ram:CalculatedAmount`)}`,
  'BR-CO-15': `${minor('ram:GrandTotalAmount')} = ${minor(`ram:TaxBasisTotalAmount | ram:TaxTotalAmount[${OWN_CURRENCY}]`)}`,
  'BR-CO-16': `${minor('ram:DuePayableAmount')} = ${minor('ram:GrandTotalAmount | ram:RoundingAmount')} - ${minor('ram:TotalPrepaidAmount')}`,
  'BR-CO-25': `not(${minor('ram:DuePayableAmount')} > 0) or exists(${SETTLEMENT}/ram:SpecifiedTradePaymentTerms/(ram:DueDateDateTime | ram:Description))`,
  'BR-DEC-09 to 18': twoDecimals('*'),
  'no total below zero': 'xs:decimal(ram:GrandTotalAmount) >= 0',
  'nothing due below zero where nothing was paid before':
    'xs:decimal(ram:DuePayableAmount) >= 0 or xs:decimal(ram:TotalPrepaidAmount) > 0',
});

const lineRules = rulesOf(LINE, {
  'BR-21': filled('ram:AssociatedDocumentLineDocument/ram:LineID'),
  'BR-22, BR-23': filled('ram:SpecifiedLineTradeDelivery/ram:BilledQuantity[@unitCode]'),
  'BR-24': filled(LINE_AMOUNT),
  'BR-25': filled('ram:SpecifiedTradeProduct/ram:Name'),
  'BR-26, CII-SR-439': filled(
    'ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice/ram:ChargeAmount',
  ),
  'PEPPOL-EN16931-R120': `let $unit := if (${SETTLEMENT}/ram:InvoiceCurrencyCode = 'JPY') then 1 else 100, $price := ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice, $adjustments := ram:SpecifiedLineTradeSettlement/${ADJUSTMENT} return abs(xs:decimal(ram:SpecifiedLineTradeDelivery/ram:BilledQuantity) * xs:decimal($price/ram:ChargeAmount) div xs:decimal(($price/ram:BasisQuantity, 1)[1]) * $unit + ${minor(`$adjustments${isCharge(true)}/ram:ActualAmount`)} - ${minor(`$adjustments${isCharge(false)}/ram:ActualAmount`)} - ${minor(LINE_AMOUNT)}) le 2`,
  'BR-27': 'xs:decimal(ram:SpecifiedLineTradeAgreement/ram:NetPriceProductTradePrice/ram:ChargeAmount) >= 0',
  'BR-CO-04, BR-CL-18': `${LINE_TAX}[ram:TypeCode = 'VAT']/ram:CategoryCode = ('S', 'Z', 'E', 'AE', 'K', 'G', 'O')`,
  'BR-DEC-23': twoDecimals(LINE_AMOUNT),
});

const breakdownRules = rulesOf(BREAKDOWN, {
  'BR-45, BR-46': 'count(ram:BasisAmount) = 1 and count(ram:CalculatedAmount) = 1',
  'BR-47, CII-DT-037': "ram:TypeCode = 'VAT' and count(ram:CategoryCode) = 1",
  'BR-48': "exists(ram:RateApplicablePercent) or ram:CategoryCode = 'O'",
  // The norm's validators give or take a whole unit; VAT taken out of prices is a cent away.
  'BR-CO-17, BR-S-09': `abs(abs(${minor('ram:CalculatedAmount')}) - xs:integer(floor((abs(${minor('ram:BasisAmount')}) * (${minor('ram:RateApplicablePercent')}) * 2 + 10000) div 20000))) le 1`,
  'BR-DEC-19, BR-DEC-20': twoDecimals('(ram:BasisAmount | ram:CalculatedAmount)'),
});

/** The charges of the document with such VAT, less its discounts. */
function adjusted(vat: string): string {
  const amounts = (is: boolean) => minor(`${SETTLEMENT}/${ADJUSTMENT}${isCharge(is)}${vat}/ram:ActualAmount`);
  return `+ ${amounts(true)} - ${amounts(false)}`;
}

const reasonCodes = (is: boolean) =>
  `(${LINE_ADJUSTMENT} | ${SETTLEMENT}/${ADJUSTMENT})${isCharge(is)}/ram:ReasonCode`;

const allowanceRules = [
  ...rulesOf(`${SETTLEMENT}/${ADJUSTMENT}`, {
    'BR-32, BR-37': "ram:CategoryTradeTax[ram:TypeCode = 'VAT']/ram:CategoryCode",
    'BR-S-06, BR-Z-06': `(xs:decimal(ram:CategoryTradeTax/ram:RateApplicablePercent) > 0) = (ram:CategoryTradeTax/ram:CategoryCode = 'S')`,
  }),
  ...rulesOf(`//${ADJUSTMENT}`, {
    'BR-31, BR-36, BR-41, BR-43': 'count(ram:ActualAmount) = 1',
    'BR-33, BR-38, BR-42, BR-44, BR-CO-21 to 24': 'exists(ram:Reason | ram:ReasonCode)',
    'BR-DEC-01 to 06, BR-DEC-24 to 28': twoDecimals('(ram:ActualAmount | ram:BasisAmount)'),
    'PEPPOL-EN16931-R040 and R041': `empty(ram:CalculationPercent) or (exists(ram:BasisAmount) and abs(xs:decimal(ram:CalculationPercent) * ${minor('ram:BasisAmount')} div 100 - ${minor('ram:ActualAmount')}) le (if (//ram:InvoiceCurrencyCode = 'JPY') then 0.02 else 2))`,
    'below zero only on a line that is':
      'xs:decimal(ram:ActualAmount) >= 0 or xs:decimal(ancestor::ram:IncludedSupplyChainTradeLineItem//ram:BilledQuantity) < 0',
  }),
  ...rulesOf(reasonCodes(false), { 'BR-CL-19': isAnyOf(['95']) }),
  ...rulesOf(reasonCodes(true), { 'BR-CL-20': isAnyOf(['FC']) }),
];

/** The rules of every category: its lines and its part of the breakdown agree. `abbreviation` is the norm's. */
function categoryRules(code: string, abbreviation: string): Rule[] {
  const lines = `${LINE}[${LINE_TAX}/ram:CategoryCode = '${code}']`;
  const hasReason = 'count(ram:ExemptionReason) = 1';
  const isCharged = code === 'S';
  const isSilent = isCharged || code === 'Z';
  return [
    ...rulesOf(`${BREAKDOWN}[ram:CategoryCode = '${code}']`, {
      [`BR-${abbreviation}-08`]: isCharged
        ? `let $rate := string(ram:RateApplicablePercent) return ${minor('ram:BasisAmount')} = ${minor(`${LINE}[${LINE_TAX}[ram:CategoryCode = '${code}' and ram:RateApplicablePercent = $rate]]/${LINE_AMOUNT}`)} ${adjusted(`[ram:CategoryTradeTax[ram:CategoryCode = '${code}' and ram:RateApplicablePercent = $rate]]`)}`
        : `${minor('ram:BasisAmount')} = ${minor(`${lines}/${LINE_AMOUNT}`)} ${adjusted(`[ram:CategoryTradeTax/ram:CategoryCode = '${code}']`)}`,
      [`BR-${abbreviation}-10`]: isSilent
        ? 'empty(ram:ExemptionReason | ram:ExemptionReasonCode)'
        : hasReason,
    }),
    // BR-S-09 says what BR-CO-17 does.
    ...(isCharged
      ? []
      : rulesOf(`${BREAKDOWN}[ram:CategoryCode = '${code}']`, {
          [`BR-${abbreviation}-09`]: `${minor('ram:CalculatedAmount')} = 0`,
        })),
    ...rulesOf(lines, {
      [`BR-${abbreviation}-01`]: isCharged
        ? `exists(${BREAKDOWN}[ram:CategoryCode = 'S'])`
        : `count(${BREAKDOWN}[ram:CategoryCode = '${code}']) = 1`,
      [`BR-${abbreviation}-05`]:
        code === 'O'
          ? `empty(${LINE_TAX}/ram:RateApplicablePercent)`
          : `xs:decimal(${LINE_TAX}/ram:RateApplicablePercent) ${isCharged ? '>' : '='} 0`,
    }),
  ];
}

const numbersRules = [
  ...['S', 'Z', 'E', 'G', 'AE', 'K'].flatMap((code) => {
    const both = `exists(${SELLER}/${VAT_ID}) and exists(${BUYER}/${VAT_ID})`;
    const test = ['AE', 'K'].includes(code) ? both : `exists(${SELLER}/${VAT_ID})`;
    const name = `BR-${code === 'K' ? 'IC' : code}-02`;
    return rulesOf(`${LINE}[${LINE_TAX}/ram:CategoryCode = '${code}']`, { [name]: test });
  }),
  ...rulesOf(`${LINE}[${LINE_TAX}/ram:CategoryCode = 'O']`, {
    'BR-O-02': `empty(${AGREEMENT}/(ram:SellerTradeParty | ram:SellerTaxRepresentativeTradeParty | ram:BuyerTradeParty)/${VAT_ID})`,
    'BR-O-11': `every $code in //ram:ApplicableTradeTax/ram:CategoryCode satisfies $code = 'O'`,
  }),
  ...rulesOf(`${BREAKDOWN}[ram:CategoryCode = 'K']`, {
    'BR-IC-11': `exists(${DELIVERY}/ram:ActualDeliverySupplyChainEvent)`,
    'BR-IC-12': filled(`${DELIVERY}/ram:ShipToTradeParty/ram:PostalTradeAddress/ram:CountryID`),
  }),
];

const partRules = [
  ...rulesOf(`${SETTLEMENT}/ram:BillingSpecifiedPeriod`, {
    'BR-29, BR-CO-19':
      'xs:integer(ram:EndDateTime/udt:DateTimeString) >= xs:integer(ram:StartDateTime/udt:DateTimeString)',
  }),
  ...rulesOf(`${SETTLEMENT}/ram:SpecifiedTradeSettlementPaymentMeans`, {
    'BR-49, BR-CL-16': "ram:TypeCode = ('10', '30', '48', '49', '57', '58', '59', 'ZZZ')",
  }),
  ...rulesOf(`${SETTLEMENT}/ram:SpecifiedTradeSettlementPaymentMeans[ram:TypeCode = ('30', '58')]`, {
    'BR-50, BR-61, BR-CO-27, CII-SR-470': filled(
      'ram:PayeePartyCreditorFinancialAccount/(ram:IBANID | ram:ProprietaryID)',
    ),
  }),
  ...rulesOf(`${SETTLEMENT}/ram:PayeeTradeParty`, {
    'BR-17': `${filled('ram:Name')} and not(ram:Name = ${SELLER}/(ram:Name | ram:SpecifiedLegalOrganization/ram:TradingBusinessName)) and not(ram:ID = ${SELLER}/ram:ID) and not(ram:SpecifiedLegalOrganization/ram:ID = ${SELLER}/ram:SpecifiedLegalOrganization/ram:ID)`,
  }),
  ...rulesOf(`${SETTLEMENT}/ram:InvoiceReferencedDocument`, { 'BR-55': filled('ram:IssuerAssignedID') }),
  ...rulesOf(`${DELIVERY}/ram:ShipToTradeParty`, { 'BR-57': filled('ram:PostalTradeAddress/ram:CountryID') }),
  ...rulesOf("//ram:ID[@schemeID = 'VA']", {
    'BR-CO-09': "matches(., '^(IE|GB|XI|FR|DE)[0-9A-Z+*]{2,14}$')",
  }),
  ...rulesOf("//(udt:DateTimeString | qdt:DateTimeString)[@format = '102']", {
    'CII-DT-097': String.raw`matches(., '^\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$')`,
  }),
  ...rulesOf("//ram:*[ends-with(local-name(), 'Amount')]", {
    'CII-DT-031': 'exists(@currencyID) = exists(self::ram:TaxTotalAmount)',
  }),
  ...rulesOf(
    '(//ram:ID except (//ram:SpecifiedTaxRegistration | //ram:SpecifiedLegalOrganization)/ram:ID) | //ram:TypeCode | //ram:CategoryCode',
    { 'CII-DT-001 to 014, CII-DT-045 to 048': 'empty(@*)' },
  ),
];

const codeRules = [
  ...rulesOf('//@currencyID', { 'BR-CL-03': isAnyOf(Intl.supportedValuesOf('currency')) }),
  ...rulesOf('//ram:InvoiceCurrencyCode', { 'BR-CL-04': isAnyOf(Intl.supportedValuesOf('currency')) }),
  ...rulesOf('//ram:TaxCurrencyCode', { 'BR-CL-05': isAnyOf(Intl.supportedValuesOf('currency')) }),
  ...rulesOf('//ram:CountryID', { 'BR-CL-14': isAnyOf(['IE', 'GB', 'FR', 'DE', 'US']) }),
  ...rulesOf('//ram:ExemptionReasonCode', {
    'BR-CL-22': isAnyOf(['VATEX-EU-135-1', ...['AE', 'IC', 'G', 'O'].map((code) => `VATEX-EU-${code}`)]),
  }),
  ...rulesOf('//@unitCode', { 'BR-CL-23': isAnyOf(['C62', 'HUR', 'H87', 'LTR', 'MTR', 'KGM', 'ZZ']) }),
];

function isAnyOf(codes: readonly string[]): string {
  return `. = (${codes.map((code) => `'${code}'`).join(', ')})`;
}

export const rules: readonly Rule[] = [
  ...documentRules,
  ...totalsRules,
  ...lineRules,
  ...breakdownRules,
  ...['S', 'Z', 'E', 'AE', 'G', 'O'].flatMap((code) => categoryRules(code, code)),
  ...categoryRules('K', 'IC'),
  ...numbersRules,
  ...allowanceRules,
  ...partRules,
  ...codeRules,
];

/** The names of the rules that an e-invoice breaks. */
export function brokenRules(document: Document): string[] {
  return rules
    .filter(({ context, test }) => nodesOf(document, context).some((node) => !holds(node, test)))
    .map(({ name }) => name);
}

/** The names of the rules that an e-invoice could break: those that have something to look at. */
export function applicableRules(document: Document): string[] {
  return rules.filter(({ context }) => nodesOf(document, context).length > 0).map(({ name }) => name);
}
