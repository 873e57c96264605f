/** Documents that are long, wide, scarce, strange or large. */
import type { DraftLine } from '../../../src/contract/feed.ts';
import type { CompanyProfile } from '../../../src/server/store/tables/companies.ts';
import { line, lineIn } from '../backoffice/_documents.ts';
import { customerIn, irishProfile } from '../backoffice/_parties.ts';
import type { Story } from './_documents.ts';
import { british, irish, LOGO } from './_sales.ts';

const site = {
  id: 'site_1',
  label: 'Boiler house',
  addressLines: ['Rear of 1 Quay Street', 'Galway'],
  countryCode: 'IE',
  postcode: 'H91 E2V8',
  geo: null,
};
const galway = { ...customerIn('IE', 'EUR'), sites: [site] };

const maire = { name: 'Máire Ní Bhriain', legalName: null, vatId: null, email: 'maire@home.example' };
const berlin = {
  ...site,
  countryCode: 'DE',
  postcode: '10115',
  addressLines: ['Chausseestraße 1', 'Berlin'],
};
const dinars = { exchangeRate: '2.8', exchangeRateDate: '2026-11-19', exchangeRateSource: 'Central Bank' };

/** An issued invoice of an Irish company within Ireland, as far as nothing else is given. */
function peculiar(name: string, given: Partial<Omit<Story, 'name'>>): Story {
  return { name, company: irish, customer: galway, draft: {}, kind: 'invoice', status: 'issued', ...given };
}

/** Lines with prices, quantities and rates of many sizes. */
function manyLines(count: number): DraftLine[] {
  return Array.from({ length: count }, (_, index) =>
    line({
      description: `Valve ${index + 1}`,
      quantity: ['1', '2.5', '0.333333', '12'][index % 4] ?? '1',
      unitPriceMinor: 101 + 37 * index,
      vatRateBasisPoints: [2300, 1350, 900][index % 3] ?? 2300,
      unitCode: ['C62', 'HUR', 'MTR', 'KGM'][index % 4] ?? 'C62',
    }),
  );
}

const stepsTo = (count: number) =>
  Array.from({ length: count }, (_, index) => `Step ${index + 1}`).join('\n');

export const payable = {
  paymentLink: 'https://pay.example.com/i/{number}?amount={amount}',
  latePaymentTerms:
    'We understand and will exercise our statutory right to claim interest and compensation for debt recovery costs under the late payment legislation if we are not paid according to agreed credit terms.',
};

const longText = 'The pump was taken out, cleaned, fitted with new seals, and put back. '
  .repeat(28)
  .slice(0, 1990);
const longLane = 'Long Lane '.repeat(12).trim();
const scripts: readonly [language: string, name: string, addressLine: string][] = [
  ['Greek', 'Θέρμανση Παπαδόπουλος ΑΕ', 'Οδός Ερμού 15, Αθήνα'],
  ['Bulgarian', 'Отопление „Студена вода“ ООД', 'бул. Витоша 1, София'],
  ['Ukrainian', 'Тепло й затишок — ТОВ «Їжак»', 'вул. Хрещатик 22, Київ'],
  ['Polish', 'Zażółć Gęślą Jaźń Sp. z o.o.', 'ul. Świętokrzyska 3, Łódź'],
  ['Hungarian', 'Árvíztűrő Tükörfúrógép Kft.', 'Üllői út 1, Budapest'],
  ['Romanian', 'Încălzire Țăranu și Ștefănescu', 'Șoseaua Kiseleff 2, București'],
  ['Turkish', 'Isıtma Güneş İnşaat Şti.', 'İstiklâl Caddesi 8, Beyoğlu'],
  ['Icelandic', 'Hitaveita Þórðar ehf.', 'Ægisgata 5, Ísafjörður'],
  ['Welsh', 'Gwresogi Tŷ’r Ŵydd', 'Heol y Dŵr, Llanfair­pwll'],
  ['Georgian and Armenian', 'გათბობა Ջեռուցում', 'რუსთაველის 1, Երևան'],
  ['Arabic', 'شركة النور للتدفئة (مُحَمَّد الإسلام)', 'شارع الملك فيصل 12، بيروت'],
  ['Persian', 'شرکت می‌خواهم پارس ۱۲۳', 'تهران، خیابان ولیعصر'],
  ['Hebrew', 'חימום ירושלים בע״מ (שָׁלוֹם)', 'רחוב הרצל 15, תל אביב'],
  ['Hindi', 'श्री कृष्ण ऊर्जा प्राइवेट लिमिटेड', 'क्षितिज मार्ग १२, नई दिल्ली'],
  ['Thai', 'บริษัท น้ำแข็งที่กรุงเทพ จำกัด', '๑๒ ถนนสุขุมวิท แขวงคลองเตย กรุงเทพมหานคร'],
  ['Chinese', '北京暖气设备有限公司', '北京市朝阳区建国路（甲）12号'],
  ['Taiwanese', '臺灣電力股份有限公司', '臺北市大安區羅斯福路三段'],
  ['Japanese', '東京ガス株式会社さくら支店', '東京都港区芝公園「直角」1-2-3'],
  ['Korean', '한국난방 주식회사', '서울특별시 강남구 테헤란로 152'],
];

/** Lines and terms with discounts, charges, exact prices, and something paid before. */
const adjusted = {
  lines: [
    line({
      description: 'Heating oil',
      quantity: '1500',
      unitCode: 'LTR',
      unitPrice: '84.275',
      priceBaseQuantity: '100',
      allowances: [{ percent: '10', reason: 'Trade discount', reasonCode: '95' }],
    }),
    line({ quantity: '3', unitPriceMinor: 6850, charges: [{ amountMinor: 1500, reasonCode: 'FC' }] }),
    lineIn('Z', { description: 'Book', unitPriceMinor: 2499 }),
  ],
  allowances: [
    { percent: '2', reason: 'Early booking', vatCategory: 'S' as const, vatRateBasisPoints: 2300 },
    { amountMinor: 99, reasonCode: '95', vatCategory: 'Z' as const, vatRateBasisPoints: 0 },
  ],
  charges: [{ amountMinor: 1250, reason: 'Delivery', vatCategory: 'S' as const, vatRateBasisPoints: 2300 }],
};
const paid = { paidOn: '2026-11-02', method: 'bank_transfer' };

/** Lines of so many small amounts, and of so many lines of text. */
const work = (quantity: string, unitPriceMinor: number, given: Partial<DraftLine> = {}) =>
  line({ quantity, unitPriceMinor, ...given });
const steps = (count: number) => line({ description: stepsTo(count) });
const [reduced, plain] = [{ vatRateBasisPoints: 1350 }, line()];

/** Invoices that are peculiar in their lines alone. */
const byLines: Record<string, DraftLine[]> = {
  ...Object.fromEntries([500, 12, 20, 24, 28, 32, 36].map((count) => [`${count} lines`, manyLines(count)])),
  '1,000 lines': manyLines(1000),
  'discounts as lines below zero': [
    work('10', 9999),
    work('-1', 9999, { description: 'Discount of 10 %' }),
    work('3', 5005, reduced),
    work('-0.05', 15_015, { description: 'Discount of 5 %', ...reduced }),
  ],
  ...Object.fromEntries(
    [13, 36, 45, 120].map((count) => [
      `a line of ${count} lines of text among others`,
      [plain, steps(count), line(reduced)],
    ]),
  ),
  ...Object.fromEntries(
    [32, 40, 41].map((count) => [`a single line of ${count} lines of text`, [steps(count)]]),
  ),
  'a rate that is discounted below zero': [work('10', 9999), work('-1', 2345, reduced)],
  'a rate that is discounted to nothing': [work('2', 4567), work('-2', 4567), line(reduced)],
  'nothing to pay': [work('1', 0)],
  'one cent': [work('1', 1)],
  'half a cent': [work('0.5', 1), plain],
  'the largest amounts': [work('1', 7_000_000_000_000_000)],
  'the finest quantity': [work('123456789.123456', 123_456)],
  'a margin scheme': [lineIn('E', { vatExemptionReason: 'Margin scheme — second-hand goods' })],
};

export const peculiarDocuments: readonly Story[] = [
  peculiar('discounts, charges and a payment before', {
    draft: {
      ...adjusted,
      roundingMinor: -2,
      prepayments: [{ ...paid, amountMinor: 50_000, reference: 'Deposit of October' }],
    },
  }),
  peculiar('prices that include VAT, paid before in cash', {
    draft: {
      ...adjusted,
      pricesIncludeVat: true,
      cashRounding: true,
      prepayments: [{ ...paid, amountMinor: 100_001, method: 'cash' }],
    },
  }),
  peculiar('discounts that are credited', { kind: 'credit_note', draft: adjusted }),
  ...scripts.map(([language, name, addressLine]) =>
    peculiar(`a customer with a ${language} name`, {
      customer: { ...galway, name, legalName: name, addressLines: [addressLine], contactName: name },
      draft: { lines: [line({ description: `${name}: ${addressLine}` })], note: name },
    }),
  ),
  peculiar('characters that XML escapes', {
    company: {
      profile: { ...irishProfile, legalName: 'Smith & Sons <Heating> "Ltd" \'22\'', iban: 'Account 29 &<>"' },
    },
    customer: { ...galway, name: 'A <b>& Co</b> ]]> <!-- -->', contactName: '&amp; &#x0; <?xml?>' },
    draft: {
      lines: [line({ description: '<script>alert("x")</script> & 5 > 3' })],
      note: ']]> & <!DOCTYPE x>',
      buyerReference: '<&>"\'',
      purchaseOrderReference: '<&>"\'',
    },
  }),
  peculiar('characters that XML forbids', {
    earlier: ({ record }) => {
      record.buyer.name = 'Tab\tand\u0001bell\u0007 \ufffe\uffff';
      record.buyer.addressLines = ['\u000b', 'Galway\u001f'];
      for (const drafted of record.lines) {
        drafted.description = 'Line one\r\nLine two\rLine three\u000c\u0085\u2028 😀 \u{10ffff}';
      }
      record.note = '\u0002 a bell \u0007 and a form feed \f';
    },
  }),
  peculiar('words and addresses that are too long for their columns', {
    customer: {
      ...galway,
      name: `Donaudampfschifffahrtsgesellschaft${'skapitän'.repeat(30)}`,
      addressLines: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((number) => `${number} ${longLane}`),
    },
    draft: {
      lines: [line({ description: 'W'.repeat(300) }), line({ description: longText })],
      purchaseOrderReference: `PO-${'0123456789'.repeat(20)}`,
      note: longText,
    },
  }),
  ...Object.entries(byLines).map(([name, lines]) => peculiar(name, { draft: { lines } })),
  peculiar('a note of many short lines', { draft: { note: stepsTo(150) } }),
  peculiar('a simplified invoice without an address', {
    customer: { ...galway, addressLines: [], vatId: null },
    draft: { lines: [line({ unitPriceMinor: 5000 })] },
  }),
  peculiar('a British simplified invoice without an address', {
    company: british,
    customer: { ...customerIn('GB', 'GBP'), addressLines: [], vatId: null },
    draft: { lines: [line({ unitPriceMinor: 5000, vatRateBasisPoints: 2000 })] },
  }),
  peculiar('a private person, a site, a period and references', {
    customer: { ...galway, ...maire },
    draft: {
      siteId: 'site_1',
      supplyPeriod: { startDate: '2026-11-01', endDate: '2026-11-14' },
      buyerReference: 'Máire',
      purchaseOrderReference: 'Order 7',
      paymentTermsDays: 0,
    },
  }),
  peculiar('goods to a site in Germany', {
    customer: { ...customerIn('FR', 'EUR'), sites: [berlin] },
    draft: { siteId: 'site_1', lines: [lineIn('K')] },
  }),
  peculiar('a company without bank account, logo or number', {
    company: { profile: irishProfile },
    draft: { dueDate: '2026-12-24' },
  }),
  peculiar('a bank account in groups of four', {
    company: {
      profile: { ...irishProfile, iban: 'ie29 AIBK 9311 5212 3456 78', bic: 'aibk ie 2d', logo: LOGO },
    },
  }),
  ...['A4', 'Letter'].flatMap((pageSize) =>
    [1, 36].map((count) =>
      peculiar(`a payment link and terms for late payment, ${count} lines on ${pageSize}`, {
        company: { profile: { ...irish.profile, ...payable, pageSize } as CompanyProfile },
        draft: { lines: manyLines(count) },
        earlier: (document) => (document.accent = '#9c3d00'),
      }),
    ),
  ),
  peculiar('terms for late payment over half a page, and a long link', {
    company: {
      profile: {
        ...irish.profile,
        paymentLink: `https://pay.example.com/{number}?amount={amount}&for=${'0123456789'.repeat(44)}`,
        latePaymentTerms: 'Interest runs from the day after.\n'.repeat(29),
      },
    },
    draft: { lines: manyLines(9) },
  }),
  peculiar('a currency with three digits', {
    customer: { ...customerIn('KW', 'KWD') },
    draft: { lines: [line({ unitPriceMinor: 12_345 })], exchange: dinars },
  }),
  peculiar('a credit note for a part, with a reason over lines', {
    kind: 'credit_note',
    draft: { lines: manyLines(3), purchaseOrderReference: 'PO-7' },
    credit: {
      lines: [line({ quantity: '0.5', unitPriceMinor: 101 })],
      note: 'One valve came back.\nThe box was damaged.',
    },
  }),
];
