import { createHash } from 'node:crypto';

import { attachmentOf, textOf } from '../server/invoice-pdf/_reading.ts';
import { ask, type Exam, expect, readPage } from './_exam.ts';
import { parsed, type ReceivedAnswer } from './_exchange.ts';
import { listsOf, pathOf } from './_lists.ts';
import { type Asker, NotGiven } from './_parties.ts';

export const kindsAndStates = ['invoice', 'credit_note', 'pro_forma'].flatMap((kind) =>
  ['issued', 'draft'].map((state) => ({ kind, state })),
);

/** Enough to tell whether documents of one kind and state have each a PDF of their own. */
const OF_EACH_MAX = 2;

/** Asks twice for PDFs of a kind and state: of the reader's documents, or else of the large company's. */
export async function pdfs(exam: Exam, { kind, state }: (typeof kindsAndStates)[number]): Promise<void> {
  const operationId = 'listInvoices';
  await listsOf(exam, operationId);
  for (const asker of ['reader', 'large'] as const) {
    const target = `/api/v1/invoices?status=${state}&kind=${kind}&limit=100`;
    const { data } = await readPage(exam, { operationId, target, asker });
    if (data.length === 0) continue;
    const owners = new Map<string, string>();
    for (const { id } of data.slice(0, OF_EACH_MAX)) {
      const digest = createHash('sha256')
        .update(await pdfOf(exam, id, asker))
        .digest('hex');
      const owner = owners.get(digest);
      if (owner !== undefined) exam.note(`the PDF of ${id} has the bytes of another, of ${owner}`);
      owners.set(digest, id);
    }
    return;
  }
  throw new NotGiven(`a ${kind} that is ${state}`);
}

async function pdfOf(exam: Exam, id: string, asker: Asker): Promise<Buffer> {
  const asked = { operationId: 'getInvoicePdf', target: pathOf('getInvoicePdf', id), asker };
  const what = `${asked.target} for ${asker}`;
  const answer = await expect(exam, asked, '200');
  if (answer.status !== 200) return answer.bytes;
  const again = await ask(exam, asked);
  if (!answer.bytes.equals(again.bytes)) exam.note(`${what} has other bytes the second time`);
  if (answer.headers['etag'] !== again.headers['etag']) exam.note(`${what} has another tag the second time`);
  const detail = await ask(exam, { operationId: 'getInvoice', target: pathOf('getInvoice', id), asker });
  const { data } = parsed(detail) as { data: Detail };
  const name = `${data.number ?? `draft-${id}`}.pdf`;
  if (fileNameOf(answer) !== name)
    exam.note(`${what}: the file is called ${fileNameOf(answer)}, not ${name}`);
  const problems = [
    ...(await textProblems(data, answer.bytes)),
    ...(await eInvoiceProblems(data, answer.bytes)),
  ];
  for (const problem of problems) exam.note(`${what} ${problem}`);
  return answer.bytes;
}

/** An invoice as far as its PDF is held against it. */
interface Detail {
  kind: string;
  status: string;
  number: string | null;
  currency: string;
  buyer: { name: string };
  totals: { netMinor: number; vatMinor: number; grossMinor: number };
  lines: { description: string; vatCategory: string; vatRateBasisPoints: number }[];
}

const isOfHundredths = ({ currency }: Detail) => ['EUR', 'GBP', 'USD'].includes(currency);
/** Texts break where the page ends. */
const packed = (text: string) => text.replaceAll(/\s/g, '');

/** A page has the document's number, its buyer, what each line is for, and its sums; a sum of nothing needn't stand there. */
async function textProblems(document: Detail, bytes: Buffer): Promise<string[]> {
  const { status, number, buyer, lines, totals } = document;
  const text = await textOf(bytes);
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  const sums = Object.values(totals).filter((minor) => minor !== 0 && isOfHundredths(document));
  const words = [
    ...(number === null ? [] : [number]),
    buyer.name,
    ...lines.map(({ description }) => description.trim().split(/\s/, 2).join(' ')),
    ...sums.map((minor) => (Math.abs(minor) / 100).toLocaleString('en-IE', digits)),
  ];
  const isDraft = status === 'draft';
  return [
    ...(/\bDRAFT\b/.test(text) === isDraft ? [] : [`is ${isDraft ? 'not ' : ''}marked DRAFT`]),
    ...words.filter((one) => !packed(text).includes(packed(one))).map((one) => `does not show ${one}`),
  ];
}

/** Rates that every e-invoice can state. */
const PLAIN_RATE_MIN = 100;

/**
 * The e-invoice within is that of this document. Only an issued invoice or credit note has one, and EN 16931 can express
 * any in euros, pounds or dollars whose lines are all taxed.
 */
async function eInvoiceProblems(document: Detail, bytes: Buffer): Promise<string[]> {
  const { kind, status, number, totals, lines } = document;
  const xml = await attachmentOf(bytes, 'factur-x.xml');
  const isIssued = status === 'issued' && kind !== 'pro_forma';
  const isTaxed = lines.every(
    ({ vatCategory, vatRateBasisPoints }) => vatCategory === 'S' && vatRateBasisPoints >= PLAIN_RATE_MIN,
  );
  if (xml === undefined)
    return isIssued && isTaxed && isOfHundredths(document) ? ['has no e-invoice inside'] : [];
  if (!isIssued) return ['has an e-invoice inside, though it is none'];
  const missing = [`>${number}<`, `>${(Math.abs(totals.grossMinor) / 100).toFixed(2)}<`].filter(
    (text) => !xml.includes(text),
  );
  return missing.map((text) => `has an e-invoice inside without ${text}`);
}

/** The exact name where it is given (RFC 6266 section 4.3), and otherwise the plain one. */
function fileNameOf({ headers }: ReceivedAnswer): string {
  const disposition = headers['content-disposition'] ?? '';
  const [, exact] = /filename\*=UTF-8''([^;]+)/.exec(disposition) ?? [];
  const [, plain] = /filename="([^"]*)"/.exec(disposition) ?? [];
  return exact === undefined ? (plain ?? 'nothing') : decodeURIComponent(exact);
}
