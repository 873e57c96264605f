import {
  type DocumentHead,
  findDraftVersion,
  locateDocument,
  type LocatedDocument,
  readPdf,
} from '../store/records/documents.ts';
import type { CustomerAccount } from '../printed-document/account.ts';
import type { Engine } from '../store/engines/engine.ts';
import type { Print, Printed } from './printing.ts';
import { RenderPool, type RenderPoolOptions } from './render-pool.ts';

/** A PDF to serve: the values for its headers, and a function that reads its bytes, which not every response needs. */
export interface DocumentFile {
  /** The file's name before `.pdf`: the document's number, or `draft-<id>`. */
  name: string;
  /** Hex SHA-256 of the bytes. */
  sha256: string;
  byteCount: number;
  read: () => Promise<Buffer>;
}

export interface Documents {
  /** Finds a document; undefined when the company has none with that id, even if another company has. */
  find: (company: string, id: string) => Promise<LocatedDocument | undefined>;
  /**
   * Returns the PDF of a document, printing it first unless it is stored. Resolves to undefined when a draft has been
   * discarded in the meantime.
   * @throws AppError `unavailable` when it can't be printed now.
   */
  prepare: (found: LocatedDocument) => Promise<DocumentFile | undefined>;
  /**
   * Prints the statement of account of an issued invoice as of a calendar day; undefined for any other document.
   * With `account`, it is the statement of the invoice's customer.
   * @throws AppError `unavailable` when it can't be printed now.
   */
  prepareStatement: (
    found: LocatedDocument,
    day: string,
    account?: CustomerAccount,
  ) => Promise<DocumentFile | undefined>;
}

/** Opens the documents of a database; disposing of the result ends the processes that print them. */
export function openDocuments({
  engine,
  ...options
}: RenderPoolOptions & { engine: Engine }): Documents & Pick<RenderPool, 'tryTemplate'> & AsyncDisposable {
  const pool = new RenderPool(options);
  return {
    ...createDocuments(engine, (...asked) => pool.print(...asked)),
    tryTemplate: () => pool.tryTemplate(),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

export function createDocuments(engine: Engine, print: Print): Documents {
  const { db } = engine;
  const printShared = sharingPrints(engine, print);
  const storedFile = ({ company, id }: LocatedDocument, head: DocumentHead): DocumentFile => ({
    name: head.number,
    sha256: head.sha256,
    byteCount: head.byteCount,
    async read() {
      const bytes = await readPdf(db, company, id);
      if (bytes?.length !== head.byteCount)
        throw new Error('The bytes of a stored document are not all there.');
      return bytes;
    },
  });
  return {
    find: (company, id) => locateDocument(db, company, id),
    async prepare(found) {
      if (found.head) return storedFile(found, found.head);
      const printed = await printShared(found);
      if (printed.outcome === 'absent') return undefined;
      if (printed.outcome === 'draft') return passingFile(`draft-${found.id}`, printed);
      const stored = printed.outcome === 'stored' ? printed.head : undefined;
      const head = stored ?? (await locateDocument(db, found.company, found.id))?.head;
      if (!head) throw new Error('A document that was stored just now is not there.');
      return storedFile(found, head);
    },
    async prepareStatement({ company, id }, day, account) {
      const printed = await print(company, id, day, account);
      if (printed.outcome !== 'statement') return undefined;
      return passingFile(`statement-${printed.number}-${day}`, printed);
    },
  };
}

/** Returns the file for a PDF that isn't stored. */
function passingFile(name: string, { bytes, sha256 }: { bytes: Uint8Array; sha256: string }): DocumentFile {
  return { name, sha256, byteCount: bytes.length, read: async () => Buffer.from(bytes) };
}

/** The most bytes of drafts' PDFs that are cached, which is enough for hundreds. */
const DRAFT_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Returns a print function that shares one printing among concurrent requests for a document, and caches drafts until
 * they are edited.
 */
function sharingPrints({ db }: Engine, print: Print): (found: LocatedDocument) => Promise<Printed> {
  const printings = new Map<string, { version: string; printed: Promise<Printed>; byteCount: number }>();
  return async ({ company, id, status }) => {
    const version = status === 'draft' ? await findDraftVersion(db, company, id) : status;
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
