import { createHash } from 'node:crypto';

import { attachmentOf, textOf } from '../server/invoice-pdf/_reading.ts';
import type { Note } from './_checks.ts';
import { parsed, type ReceivedAnswer } from './_exchange.ts';
import { type Asker, NotGiven, type Party } from './_parties.ts';
import { askChecked, listsOf, pathOf, readPage, type ReadRecord } from './_reading.ts';

export const kindsAndStates = ['invoice', 'credit_note', 'pro_forma'].flatMap((kind) =>
  ['issued', 'draft'].map((state) => ({ kind, state })),
);

/** Enough to tell whether documents of one kind and state have each a PDF of their own. */
const OF_EACH_MAX = 2;

/** Asks twice for PDFs of a kind and state: of the reader's documents, or else of the large company's. */
export async function pdfs(
  { kind, state }: (typeof kindsAndStates)[number],
  party: Party,
  note: Note,
): Promise<void> {
  const list = {
    operationId: 'listInvoices',
    target: `/api/v1/invoices?status=${state}&kind=${kind}&limit=100`,
  };
  await listsOf(party, list.operationId);
  for (const asker of ['reader', 'large'] as const) {
    const { data } = await readPage(party, note, list.operationId, list.target, asker);
    if (data.length === 0) continue;
    const owners = new Map<string, string>();
    for (const document of data.slice(0, OF_EACH_MAX)) {
      const bytes = await pdfOf(party, note, document, asker);
      const digest = createHash('sha256').update(bytes).digest('hex');
      const owner = owners.get(digest);
      if (owner !== undefined) note(`the PDF of ${document.id} has the bytes of another, of ${owner}`);
      owners.set(digest, document.id);
    }
    return;
  }
  throw new NotGiven(`a ${kind} that is ${state}`);
}

async function pdfOf(party: Party, note: Note, document: ReadRecord, asker: Asker): Promise<Buffer> {
  const { id, number } = document;
  const target = `/api/v1/invoices/${id}/pdf`;
  const what = `${target} for ${asker}`;
  const asked = { operationId: 'getInvoicePdf', target, asker };
  const answer = await askChecked(party, note, asked);
  const again = await askChecked(party, note, asked);
  if (answer.status !== 200) {
    note(`${what}: the status is ${answer.status}`);
    return answer.bytes;
  }
  const name = typeof number === 'string' ? number : `draft-${id}`;
  if (fileNameOf(answer) !== `${name}.pdf`) {
    note(`${what}: the file is called ${fileNameOf(answer)}, not ${name}.pdf`);
  }
  if (!answer.bytes.equals(again.bytes)) note(`${what} has other bytes the second time`);
  if (answer.headers['etag'] !== again.headers['etag']) note(`${what} has another tag the second time`);
  const own = { operationId: 'getInvoice', target: pathOf('getInvoice', id), asker };
  const { data } = parsed(await askChecked(party, note, own)) as { data: Detail };
  for (const problem of await contentProblems(data, answer.bytes)) note(`${what} ${problem}`);
  return answer.bytes;
}

async function contentProblems(document: Detail, bytes: Buffer): Promise<string[]> {
  const text = await textOf(bytes);
  const isDraft = document.status === 'draft';
  const missing = wordsOf(document).filter((words) => !packed(text).includes(packed(words)));
  return [
    ...(/\bDRAFT\b/.test(text) === isDraft ? [] : [`is ${isDraft ? 'not ' : ''}marked DRAFT`]),
    ...missing.map((words) => `does not show ${words}`),
    ...(await eInvoiceProblems(document, bytes)),
  ];
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

/** Texts break where the page ends. */
function packed(text: string): string {
  return text.replaceAll(/\s/g, '');
}

/** Words that a document's page has: its number, its buyer, what each line is for, and its sums. */
function wordsOf({ number, buyer, lines, totals, currency }: Detail): string[] {
  const isOfHundredths = ['EUR', 'GBP', 'USD'].includes(currency);
  const amount = (minor: number) =>
    (Math.abs(minor) / 100).toLocaleString('en-IE', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  return [
    ...(number === null ? [] : [number]),
    buyer.name,
    ...lines.map(({ description }) => description.trim().split(/\s/, 2).join(' ')),
    // A sum of nothing needn't stand there.
    ...(isOfHundredths
      ? Object.values(totals)
          .filter((minor) => minor !== 0)
          .map(amount)
      : []),
  ];
}

/** Rates that every e-invoice can state. */
const PLAIN_RATE_MIN = 100;

/**
 * The e-invoice within is that of this document. Only an issued invoice or credit note has one, and EN 16931 can express
 * any in euros, pounds or dollars whose lines are all taxed.
 */
async function eInvoiceProblems(document: Detail, bytes: Buffer): Promise<string[]> {
  const { kind, status, number, totals, currency, lines } = document;
  const xml = await attachmentOf(bytes, 'factur-x.xml');
  const isIssued = status === 'issued' && kind !== 'pro_forma';
  const isPlain =
    ['EUR', 'GBP', 'USD'].includes(currency) &&
    lines.every((line) => line.vatCategory === 'S' && line.vatRateBasisPoints >= PLAIN_RATE_MIN);
  if (xml === undefined) return isIssued && isPlain ? ['has no e-invoice inside'] : [];
  if (!isIssued) return ['has an e-invoice inside, though it is none'];
  const gross = (Math.abs(totals.grossMinor) / 100).toFixed(2);
  const missing = [`>${number}<`, `>${gross}<`].filter((text) => !xml.includes(text));
  return missing.map((text) => `has an e-invoice inside without ${text}`);
}

/** The exact name where it is given (RFC 6266 section 4.3), and otherwise the plain one. */
function fileNameOf({ headers }: ReceivedAnswer): string {
  const disposition = headers['content-disposition'] ?? '';
  const [, exact] = /filename\*=UTF-8''([^;]+)/.exec(disposition) ?? [];
  const [, plain] = /filename="([^"]*)"/.exec(disposition) ?? [];
  return exact === undefined ? (plain ?? 'nothing') : decodeURIComponent(exact);
}
