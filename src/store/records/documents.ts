import { hash } from 'node:crypto';

import { sql } from 'kysely';

import { joinObjects, type JsonText } from '../../contract/json-text.ts';
import type { Invoice } from '../../contract/records.ts';
import type { CompanyProfile } from './companies.ts';
import type { Engine } from '../engines/engine.ts';
import type { Tables } from '../schema.ts';
import type { Supplier } from './suppliers.ts';

/** A document's PDF without its bytes. */
export interface DocumentHead {
  number: string;
  /** Hex SHA-256 of the bytes. */
  sha256: string;
  byteCount: number;
}

/** A document as it is found: `head` is undefined while it has no stored PDF, which a draft never has. */
export interface LocatedDocument {
  status: Invoice['status'];
  head: DocumentHead | undefined;
}

/** The stored data from which a document is printed. */
export interface PrintableDocument {
  record: Invoice;
  /** Null on a draft, and on a document that was loaded without the company as it was at its issue. */
  supplier: Supplier | null;
  reverseChargeRates: Readonly<Record<string, number>>;
}

/** The documents of all companies, and their PDFs. */
export interface DocumentStore {
  /** Undefined when the company has no document with that id. */
  locate: (company: string, id: string) => Promise<LocatedDocument | undefined>;
  /** Differs whenever a draft, or the company as the draft shows it, has changed; undefined when that isn't known. */
  findDraftVersion: (company: string, id: string) => Promise<string | undefined>;
  /** The bytes of a stored PDF; undefined when there is none. */
  readBytes: (company: string, id: string) => Promise<Buffer | undefined>;
  findPrintable: (company: string, id: string) => Promise<PrintableDocument | undefined>;
  /** The company's profile as it is now; empty when there is no such company. */
  findProfile: (company: string) => Promise<CompanyProfile>;
  /** A logo that was kept for documents, as a data URL. */
  findLogo: (company: string, sha256: string) => Promise<string | undefined>;
  /**
   * Stores a PDF unless there is one: of several processes that come at once, the first one's stays. Resolves to whether
   * it was this one.
   */
  keep: (document: Tables['documents']) => Promise<boolean>;
}

type Key = { company: string; id: string };

export function createDocumentStore(engine: Engine): DocumentStore {
  const profile = engine.prepare((db, value: { company: string }) =>
    db.selectFrom('companies').select('profile').where('id', '=', value.company),
  );
  const logo = engine.prepare((db, value: { company: string; sha256: string }) =>
    db
      .selectFrom('logos')
      .select('data_url')
      .where('company', '=', value.company)
      .where('sha256', '=', value.sha256),
  );
  return {
    locate: createLocator(engine),
    findDraftVersion: createDraftVersionFinder(engine),
    readBytes: createBytesReader(engine),
    findPrintable: createPrintableFinder(engine),
    async findProfile(company) {
      const [row] = await profile({ company });
      // Written from checked settings.
      return JSON.parse(row?.profile ?? '{}') as CompanyProfile;
    },
    findLogo: async (company, sha256) => (await logo({ company, sha256 }))[0]?.data_url,
    keep: createKeeper(engine),
  };
}

function createLocator(engine: Engine): DocumentStore['locate'] {
  const find = engine.prepare((db, value: Key) =>
    db
      .selectFrom('invoices')
      .leftJoin('documents', (join) =>
        join
          .onRef('documents.company', '=', 'invoices.company')
          .onRef('documents.invoice', '=', 'invoices.id'),
      )
      .select(['invoices.status', 'documents.number', 'documents.sha256', 'documents.byte_count'])
      .where('invoices.company', '=', value.company)
      .where('invoices.id', '=', value.id),
  );
  return async (company, id) => {
    const [row] = await find({ company, id });
    if (!row) return undefined;
    const { number, sha256, byte_count: byteCount } = row;
    const isStored = number !== null && sha256 !== null && byteCount !== null;
    return {
      // The column is generated from the record, whose statuses these are.
      status: row.status as Invoice['status'],
      head: isStored ? { number, sha256, byteCount } : undefined,
    };
  };
}

function createDraftVersionFinder(engine: Engine): DocumentStore['findDraftVersion'] {
  const find = engine.prepare((db, value: Key) =>
    db
      .selectFrom('invoices')
      .innerJoin('companies', 'companies.id', 'invoices.company')
      .select(['invoices.digest', 'invoices.unpublished', 'companies.profile'])
      .where('invoices.company', '=', value.company)
      .where('invoices.id', '=', value.id)
      .where('invoices.status', '=', 'draft'),
  );
  return async (company, id) => {
    const [row] = await find({ company, id });
    return row?.digest ? hash('sha256', [row.digest, row.unpublished, row.profile].join('\n')) : undefined;
  };
}

function createBytesReader(engine: Engine): DocumentStore['readBytes'] {
  if (engine.name === 'sqlite') {
    const find = engine.prepare((db, value: Key) =>
      db
        .selectFrom('documents')
        .select('bytes')
        .where('company', '=', value.company)
        .where('invoice', '=', value.id),
    );
    return async (company, id) => (await find({ company, id }))[0]?.bytes;
  }
  // Bytes would come as hexadecimal digits: half as many again, which also take Node three times as long to read.
  const find = engine.prepare((db, value: Key) =>
    db
      .selectFrom('documents')
      .select(sql<string>`encode(bytes, 'base64')`.as('text'))
      .where('company', '=', value.company)
      .where('invoice', '=', value.id),
  );
  return async (company, id) => {
    const [row] = await find({ company, id });
    return row && Buffer.from(row.text, 'base64');
  };
}

function createPrintableFinder(engine: Engine): DocumentStore['findPrintable'] {
  const find = engine.prepare((db, value: Key) =>
    db
      .selectFrom('invoices')
      .select(['body', 'detail', 'unpublished'])
      .where('company', '=', value.company)
      .where('id', '=', value.id),
  );
  return async (company, id) => {
    const [row] = await find({ company, id });
    if (!row) return undefined;
    // The two parts were rendered from one Invoice; what is beside them is written by moves, and empty without them.
    const text = joinObjects(row.body as JsonText<object>, row.detail as JsonText<object>);
    const unpublished = JSON.parse(row.unpublished) as Partial<PrintableDocument>;
    const { supplier = null, reverseChargeRates = {} } = unpublished;
    return { record: JSON.parse(text) as Invoice, supplier, reverseChargeRates };
  };
}

function createKeeper(engine: Engine): DocumentStore['keep'] {
  const insert = engine.command((db, value: Tables['documents']) =>
    db
      .insertInto('documents')
      .values({
        company: value.company,
        invoice: value.invoice,
        number: value.number,
        sha256: value.sha256,
        byte_count: value.byte_count,
        bytes: value.bytes,
      })
      .onConflict((conflict) => conflict.columns(['company', 'invoice']).doNothing())
      .returning('invoice'),
  );
  return async (document) => {
    const kept = await engine.transaction((transaction) => insert(transaction, document));
    return kept.length > 0;
  };
}
