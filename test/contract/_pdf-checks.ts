import { createHash } from 'node:crypto';

import { textOf } from '../invoice-pdf/_reading.ts';
import type { Note } from './_checks.ts';
import type { ReceivedAnswer } from './_exchange.ts';
import type { Asker, Party } from './_parties.ts';
import { askChecked, type ReadRecord, readWhole } from './_reading.ts';

const kindsAndStates = ['invoice', 'credit_note', 'pro_forma'].flatMap((kind) =>
  ['issued', 'draft'].map((state) => ({ kind, state })),
);

/** Enough to tell whether documents of one kind and state have each a PDF of their own. */
const OF_EACH_MAX = 2;

/** Asks twice for PDFs of each kind and state: of the reader's documents, or else of the large company's. */
export async function pdfs(party: Party, note: Note): Promise<void> {
  const list = { operationId: 'listInvoices', target: '/api/v1/invoices?status=all' };
  const companies = [
    { asker: 'reader' as const, all: await readWhole(party, note, list, 'reader') },
    { asker: 'large' as const, all: await readWhole(party, note, list, 'large') },
  ];
  const owners = new Map<string, string>();
  for (const { kind, state } of kindsAndStates) {
    const [found] = companies
      .map(({ asker, all }) => ({
        asker,
        documents: all.filter((document) => document['kind'] === kind && document['status'] === state),
      }))
      .filter(({ documents }) => documents.length > 0);
    if (!found) note(`there is no ${kind} that is ${state}`);
    for (const document of found?.documents.slice(0, OF_EACH_MAX) ?? []) {
      const bytes = await pdfOf(party, note, document, found?.asker);
      const digest = createHash('sha256').update(bytes).digest('hex');
      const owner = owners.get(digest);
      if (owner !== undefined) note(`the PDF of ${document.id} has the bytes of another, of ${owner}`);
      owners.set(digest, document.id);
    }
  }
}

async function pdfOf(
  party: Party,
  note: Note,
  document: ReadRecord,
  asker: Asker = 'reader',
): Promise<Buffer> {
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
  const text = await textOf(answer.bytes);
  const isDraft = document['status'] === 'draft';
  if (typeof number === 'string' && !text.includes(number))
    note(`${what} does not show its number ${number}`);
  if (/\bDRAFT\b/.test(text) !== isDraft) note(`${what} is ${isDraft ? 'not ' : ''}marked DRAFT`);
  return answer.bytes;
}

/** The exact name where it is given (RFC 6266 section 4.3), and otherwise the plain one. */
function fileNameOf({ headers }: ReceivedAnswer): string {
  const disposition = headers['content-disposition'] ?? '';
  const [, exact] = /filename\*=UTF-8''([^;]+)/.exec(disposition) ?? [];
  const [, plain] = /filename="([^"]*)"/.exec(disposition) ?? [];
  return exact === undefined ? (plain ?? 'nothing') : decodeURIComponent(exact);
}
