import type { Connection } from '../store/dialects/dialect.ts';
import { type DocumentHead, findDraftVersion, locateDocument, readPdf } from '../store/records/documents.ts';
import type { Engine } from '../store/engines/engine.ts';
import type { Print, Printed } from './printing.ts';
import { RenderPool, type RenderPoolOptions } from './render-pool.ts';

/** A PDF to answer with: the values of its headers, and a function for its bytes, which not every answer needs. */
export interface DocumentFile {
  /** The file's name before `.pdf`: the document's number, or `draft-<id>`. */
  name: string;
  /** Hex SHA-256 of the bytes. */
  sha256: string;
  byteCount: number;
  read: () => Promise<Buffer>;
}

/**
 * The PDF of an existing document: at once when it is stored, otherwise after printing.
 * Resolves to undefined when a draft was discarded meanwhile.
 * @throws AppError `unavailable` when it can't be printed now.
 */
export type PrepareFile = () => Promise<DocumentFile | undefined>;

/** Undefined when the company has no document with that id: the same for another company's document as for none. */
export type FindDocument = (company: string, id: string) => Promise<PrepareFile | undefined>;

/** The PDFs of invoices, credit notes and pro formas (openapi.yaml, `getInvoicePdf`). */
export interface Documents extends AsyncDisposable {
  find: FindDocument;
}

export interface DocumentsOptions extends RenderPoolOptions {
  engine: Engine;
}

/** Opens the documents of a database; the processes that print them end with it. */
export function openDocuments({ engine, ...poolOptions }: DocumentsOptions): Documents {
  const pool = new RenderPool(poolOptions);
  return {
    find: createDocumentFinder(engine, (company, id) => pool.print(company, id)),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

/** Builds the function that finds a document's PDF. `print` makes those that aren't stored. */
export function createDocumentFinder(engine: Engine, print: Print): FindDocument {
  const { db } = engine;
  const underWay = new Map<string, Promise<Printed>>();
  /** Requests for the same document at the same time share one printing. */
  const printOnce = (company: string, id: string): Promise<Printed> => {
    const key = `${company} ${id}`;
    const known = underWay.get(key);
    if (known) return known;
    const printing = print(company, id).finally(() => underWay.delete(key));
    underWay.set(key, printing);
    return printing;
  };
  const printDraft = keepingDrafts(db, print);
  return async (company, id) => {
    const located = await locateDocument(db, company, id);
    if (!located) return undefined;
    const { head, status } = located;
    if (head) return async () => storedFile(db, company, id, head);
    const printNow = status === 'draft' ? printDraft : printOnce;
    return async () => fileOf(db, company, id, await printNow(company, id));
  };
}

/** PDFs of drafts are kept up to so many bytes: hundreds of them. */
const DRAFT_BYTES_MAX = 32 * 1024 * 1024;

/** Prints a draft once while it stays the same. One that was edited meanwhile is printed anew for later requests. */
function keepingDrafts(db: Connection, print: Print): Print {
  const printings = new Map<string, { version: string; printed: Promise<Printed>; byteCount: number }>();
  return async (company, id) => {
    const version = await findDraftVersion(db, company, id);
    if (version === undefined) return print(company, id);
    const key = `${company} ${id}`;
    const known = printings.get(key);
    if (known?.version === version) return known.printed;
    const printing = { version, printed: print(company, id), byteCount: 0 };
    printings.delete(key);
    printings.set(key, printing);
    const printed = await printing.printed.catch(() => undefined);
    if (printed?.outcome === 'draft') printing.byteCount = printed.bytes.length;
    else if (printings.get(key) === printing) printings.delete(key);
    let sum = [...printings.values()].reduce((before, { byteCount }) => before + byteCount, 0);
    for (const [oldest, { byteCount }] of printings) {
      if (sum <= DRAFT_BYTES_MAX) break;
      printings.delete(oldest);
      sum -= byteCount;
    }
    return printing.printed;
  };
}

async function fileOf(
  db: Connection,
  company: string,
  id: string,
  printed: Printed,
): Promise<DocumentFile | undefined> {
  if (printed.outcome === 'absent') return undefined;
  if (printed.outcome === 'draft') {
    const { bytes, sha256 } = printed;
    return { name: `draft-${id}`, sha256, byteCount: bytes.length, read: async () => Buffer.from(bytes) };
  }
  const head = printed.head ?? (await locateDocument(db, company, id))?.head;
  if (!head) throw new Error('A document that was stored just now is not there.');
  return storedFile(db, company, id, head);
}

function storedFile(
  db: Connection,
  company: string,
  id: string,
  { number, sha256, byteCount }: DocumentHead,
): DocumentFile {
  const read = async () => {
    const bytes = await readPdf(db, company, id);
    if (bytes?.length !== byteCount) throw new Error('The bytes of a stored document are not all there.');
    return bytes;
  };
  return { name: number, sha256, byteCount, read };
}
