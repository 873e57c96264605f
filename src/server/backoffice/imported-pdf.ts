import { hash } from 'node:crypto';

import type { Invoice } from '../../contract/records.ts';
import { insertPdf } from '../store/records/documents.ts';
import type { Move } from './move.ts';
import { Refusal } from './refusal.ts';

const PDF_BYTES_MAX = 5 * 1024 * 1024;

/** The number of bytes at a file's end in which readers look for the end-of-file marker (ISO 32000-1, annex H.3, note 18). */
const TRAILER_BYTES = 1024;

/**
 * Stores the PDF supplied with an imported document, to be served in place of one that we make.
 * @param base64 the PDF; undefined without one, in which case one is printed on request.
 * @throws Refusal `invalid_change` for anything but a PDF that everybody can open.
 */
export async function keepImportedPdf(
  move: Move,
  { id, number }: Pick<Invoice, 'id' | 'number'>,
  base64: string | undefined,
): Promise<void> {
  if (base64 === undefined) return;
  const bytes = Buffer.from(base64, 'base64');
  // Node ignores characters that aren't base64, so the decoded bytes are encoded again to compare.
  const problem = bytes.toString('base64') === base64 ? pdfProblem(bytes) : 'is not in base64';
  if (problem !== undefined) throw new Refusal('invalid_change', `pdf ${problem}.`, '/with/pdf');
  await insertPdf(move.transaction, {
    company: move.company.id,
    invoice: id,
    number: number ?? id,
    sha256: hash('sha256', bytes),
    byte_count: bytes.length,
    bytes,
  });
}

function pdfProblem(bytes: Buffer): string | undefined {
  if (bytes.length > PDF_BYTES_MAX) return `has ${bytes.length} bytes, and may have ${PDF_BYTES_MAX}`;
  const text = bytes.toString('latin1');
  if (!/^%PDF-[12]\.\d/.test(text)) return "doesn't begin with %PDF, as a PDF does";
  const [, offset] = /startxref\s+(\d+)\s+%%EOF(?![^]*startxref)/.exec(text.slice(-TRAILER_BYTES)) ?? [];
  if (offset === undefined) return "doesn't end with startxref and %%EOF, as a PDF does; it may be cut off";
  // A slightly wrong offset is accepted, because readers then search for the objects themselves.
  if (Number(offset) >= bytes.length || !/\d\s+\d+\s+obj\b/.test(text) || !/\/Root\b/.test(text))
    return 'has no objects or no root, as a PDF has; a part of it may be missing';
  // The trailer is never compressed, and nor is the dictionary of a cross-reference stream that replaces it.
  return /\/Encrypt\s*(?:\d+\s+\d+\s+R\b|<<)/.test(text) ? 'is encrypted; send it without' : undefined;
}
