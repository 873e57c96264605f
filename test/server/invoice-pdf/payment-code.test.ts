import {
  BinaryBitmap,
  DecodeHintType,
  HybridBinarizer,
  NotFoundException,
  QRCodeReader,
  type Result,
  ResultMetadataType,
  ResultPoint,
  RGBLuminanceSource,
} from '@zxing/library';
import t from 'tap';

import { documentTexts } from '../../../src/server/printed-document/document-texts.ts';
import { transferText } from '../../../src/server/printed-document/payment-code.ts';
import type { PrintedDocument } from '../../../src/server/printed-document/printed-document.ts';
import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import { documentsByName } from './_documents.ts';
import { pixelsOf } from './_reading.ts';

const renderer = createRenderer();
const documentNamed = await documentsByName();
const plain = documentNamed('issued invoice, Irish, one rate');
const changed = (supplier: object, record: object = {}, other: object = {}): PrintedDocument => ({
  ...plain,
  ...other,
  supplier: { ...plain.supplier, ...supplier },
  record: { ...plain.record, ...record },
});

/** Pixels to a point: a telephone that has the whole page in view, and is held nearer until it reads. */
const SCALES = [2, 2.5, 3];

const TRY_HARDER = new Map([[DecodeHintType.TRY_HARDER, true]]);

function readCode(bitmap: BinaryBitmap): Result | undefined {
  try {
    return new QRCodeReader().decode(bitmap, TRY_HARDER);
  } catch (error) {
    if (error instanceof NotFoundException) return undefined;
    throw error;
  }
}

/** A code is 17 modules wide and four for each version; the middles of its upper corners are 7 modules less apart. */
function versionOf([, topLeft, topRight]: ResultPoint[]): number {
  const { estimatedModuleSize: size = NaN } = topLeft as { estimatedModuleSize?: number };
  const apart = topLeft && topRight ? ResultPoint.distance(topLeft, topRight) : NaN;
  return Math.round((apart / size + 7 - 17) / 4);
}

interface ReadCode {
  text: string;
  level: unknown;
  version: number;
}

/** The texts that a foreign program reads on the pages. */
async function readCodes(bytes: Buffer, [scale = 1, ...nearer] = SCALES): Promise<ReadCode[]> {
  const found: ReadCode[] = [];
  for (const { data, width, height } of await pixelsOf(bytes, scale)) {
    const grey = Uint8ClampedArray.from({ length: width * height }, (_, index) => data[index * 4 + 1] ?? 0);
    const bitmap = new BinaryBitmap(new HybridBinarizer(new RGBLuminanceSource(grey, width, height)));
    const result = readCode(bitmap);
    if (!result) continue;
    const level = result.getResultMetadata().get(ResultMetadataType.ERROR_CORRECTION_LEVEL);
    found.push({ text: result.getText(), level, version: versionOf(result.getResultPoints()) });
  }
  return found.length > 0 || nearer.length === 0 ? found : readCodes(bytes, nearer);
}

const lines = (bic: string, name: string, iban: string, amount: string, number: string) =>
  ['BCD', '002', '1', 'SCT', bic, name, iban, amount, '', '', number].join('\n');
const OWN = lines(
  'AIBKIE2DXXX',
  'Brennan Heating & Electrical Ltd',
  'IE29AIBK93115212345678',
  'EUR201.41',
  'INV-2026-0001',
);

t.test('a foreign reader reads the transfer on the page, on each paper and in each length', async (t) => {
  const longest = { bankAccountName: 'Ἀθῆναι '.repeat(11), bic: 'AIBKIE2D' };
  const read: [document: PrintedDocument, text: string | undefined][] = [
    [plain, OWN],
    [changed({ pageSize: 'Letter' }, {}, { accent: '#9c3d00' }), OWN],
    [changed(longest), transferText(changed(longest), 20_141)],
    ...['1 lines on A4', '36 lines on Letter'].map((end): [PrintedDocument, string | undefined] => {
      const document = documentNamed(`a payment link and terms for late payment, ${end}`);
      return [document, transferText(document, document.record.totals.grossMinor)];
    }),
  ];
  for (const [document, text] of read) {
    const found = await readCodes(await renderer.render(document));
    t.match(found, [{ text, level: 'M' }]);
    t.equal(found.length, 1);
    t.ok((found[0]?.version ?? 40) <= 13, `version ${found[0]?.version}`);
  }
  t.ok(Buffer.byteLength(transferText(changed(longest), 20_141) ?? '') > 200);
});

const hasCode = (document: PrintedDocument) =>
  documentTexts(document).statements.some(({ code }) => code !== undefined);

t.test('what asks for no transfer has no code', async (t) => {
  const without = [
    documentNamed('draft invoice, Irish, one rate'),
    documentNamed('issued credit_note, Irish, one rate'),
    documentNamed('issued invoice, Irish, taxed in dollars'),
    documentNamed('nothing to pay'),
    documentNamed('a company without bank account, logo or number'),
  ];
  t.strictSame(without.filter(hasCode), []);
  t.ok(hasCode(plain));
});

t.test('the text keeps to the limits of EPC069-12, or there is none', async (t) => {
  const groups = { iban: 'ie29 AIBK 9311 5212 3456 78', bic: 'aibk ie 2d' };
  const fromLegalName = /\nBrennan Heating & Electrical Limited\n/;
  const [british, swift] = [{ iban: 'GB29NWBK60161331926819' }, 'NWBKGB2L'];
  const saudi = { iban: 'SA0380000000608010167519', bic: 'RJHISARI' };
  const rows: [
    what: string,
    supplier: object,
    record: object,
    amountMinor: number,
    text: RegExp | undefined,
  ][] = [
    ['the least amount', {}, {}, 1, /\nEUR0\.01\n/],
    ['the largest amount', {}, {}, 99_999_999_999, /\nEUR999999999\.99\n/],
    ['one more', {}, {}, 100_000_000_000, undefined],
    ['nothing', {}, {}, 0, undefined],
    ['more than 331 bytes', { bankAccountName: '🏠'.repeat(70) }, {}, 1, undefined],
    ['a longer name', { bankAccountName: `${'é'.repeat(69)} Limited` }, {}, 1, /\né{69}\nIE29/],
    ['no name of the account', { bankAccountName: undefined }, {}, 1, fromLegalName],
    ['lines in a name', { bankAccountName: 'A\r\nIE00\u0007B' }, {}, 1, /\nA IE00 B\nIE29/],
    ['no name at all', { bankAccountName: ' ', legalName: 'x' }, {}, 1, undefined],
    ['a number of 140 characters', {}, { number: 'N'.repeat(140) }, 1, /\nN{140}$/],
    ['one more character', {}, { number: 'N'.repeat(141) }, 1, undefined],
    ['no BIC', { bic: undefined }, {}, 1, /\nSCT\n\nBrennan/],
    ['a BIC that is none', { bic: 'IRISH' }, {}, 1, /\nSCT\n\nBrennan/],
    ['spaces', groups, {}, 1, /\nAIBKIE2D\nB.*\nIE29AIBK93115212345678\n/],
    ['a wrong check digit', { iban: 'IE30AIBK93115212345678' }, {}, 1, undefined],
    ['Britain, with its BIC', { ...british, bic: swift }, {}, 1, /\nNWBKGB2L\n/],
    ['Britain, without', { ...british, bic: undefined }, {}, 1, undefined],
    ['outside SEPA', saudi, {}, 1, undefined],
    ['another currency', {}, { currency: 'GBP' }, 1, undefined],
  ];
  for (const [what, supplier, record, amountMinor, expected] of rows) {
    const text = transferText(changed(supplier, record), amountMinor);
    if (expected === undefined) t.equal(text, undefined, what);
    else t.match(text, expected, what);
    t.ok(Buffer.byteLength(text ?? '') <= 331, what);
  }
});
