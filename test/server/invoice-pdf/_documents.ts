/** Documents of every kind, state and VAT situation, made by the moves of the back office, as they are printed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';

import t, { type Test } from 'tap';

import type { CompanySettings } from '../../../src/server/backoffice/companies.ts';
import type { NewInvoice, ChangeContent } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { documentTexts } from '../../../src/server/printed-document/document-texts.ts';
import type { PrintedParty } from '../../../src/server/printed-document/parties.ts';
import type { PrintedDocument } from '../../../src/server/printed-document/printed-document.ts';
import type { Statement } from '../../../src/server/printed-document/statements.ts';
import type { TextTable } from '../../../src/server/printed-document/text-table.ts';
import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { findPrintable } from '../../../src/server/store/records/documents.ts';
import { findSupplier } from '../../../src/server/store/records/suppliers.ts';
import { keptFile } from '../../_migrated.ts';
import { openTestDatabase } from '../../_server.ts';
import { creditNoteOf, invoiceDraft, issue, issued, openIssuer } from '../backoffice/_documents.ts';
import { createTestBackoffice, type TestCompany, type TestBackoffice } from '../backoffice/_backoffice.ts';
import { peculiarDocuments } from './_peculiar-documents.ts';
import { type PlacedText, placedTexts } from './_reading.ts';
import { richDocuments } from './_rich-documents.ts';
import { sales } from './_sales.ts';

/** A document to print, under a name that tells it from the others. */
export interface Example {
  name: string;
  document: PrintedDocument;
}

/** A document with its PDF, and the texts on its pages as a foreign reader finds them. */
export interface PrintedExample extends Example {
  bytes: Buffer;
  texts: PlacedText[];
}

/** A sale of a company to its customer `cus_1`. */
export interface Sale {
  name: string;
  company: Partial<CompanySettings>;
  customer: Partial<ChangeContent<'customer.save'>>;
  draft: Partial<NewInvoice>;
}

/** The document that a sale becomes; `credit` goes into the draft of a credit note of the issued invoice. */
export interface Story extends Sale {
  kind: Invoice['kind'];
  status: Invoice['status'];
  credit?: Partial<NewInvoice>;
  /** Makes of the document what an earlier version issued and this one wouldn't. */
  earlier?: (document: PrintedDocument) => void;
}

const fates: readonly Pick<Story, 'kind' | 'status'>[] = [
  { kind: 'invoice', status: 'issued' },
  { kind: 'credit_note', status: 'issued' },
  { kind: 'pro_forma', status: 'issued' },
  { kind: 'invoice', status: 'draft' },
  { kind: 'credit_note', status: 'draft' },
];

const stories: readonly Story[] = [
  ...sales.flatMap((sale) =>
    fates.map((fate) => ({ ...sale, ...fate, name: `${fate.status} ${fate.kind}, ${sale.name}` })),
  ),
  ...peculiarDocuments,
  ...richDocuments,
];

let examples: Promise<readonly Example[]> | undefined;

/** All of them: some 210, each sale as invoice, credit note and pro forma, and the peculiar ones. They are made once for all files. */
export async function exampleDocuments(): Promise<readonly Example[]> {
  return (examples ??= kept('documents', () => makeExamples(stories)));
}

/** The same as they are printed, which is done once for all files too. */
export async function printedExamples(): Promise<readonly PrintedExample[]> {
  const documents = await exampleDocuments();
  return kept('printed', async () => {
    const renderer = createRenderer();
    const printed: PrintedExample[] = [];
    for (const example of documents) {
      const bytes = await renderer.render(example.document);
      printed.push({ ...example, bytes, texts: await placedTexts(bytes) });
    }
    return printed;
  });
}

async function kept<T>(what: string, make: () => Promise<T>): Promise<T> {
  const path = await keptFile(what, ['src', 'generated', 'test'], async (draft) =>
    writeFileSync(draft, serialize(await make())),
  );
  // Nothing else has written it.
  return deserialize(readFileSync(path)) as T;
}

/** All texts that stand on the pages of a document, in the order in which they are read. */
export function textsOf(document: PrintedDocument): string[] {
  const said = documentTexts(document);
  const ofParty = ({ paragraphs }: Pick<PrintedParty, 'paragraphs'>) =>
    paragraphs.flatMap(([, text]) => text);
  const ofTable = ({ columns, rows }: TextTable) => [...columns.map(({ head }) => head), ...rows.flat()];
  const ofStatement = ({ heading, paragraphs, link, details }: Statement) =>
    [heading, paragraphs, link?.text ?? '', details.flat()].flat();
  return [
    ofParty(said.supplier),
    said.parties.flatMap((party) => [party.label, ...ofParty(party)]),
    [said.head.title, said.head.number, said.warning ?? ''],
    [...said.facts, ...said.references].flatMap(({ label, value }) => [label, value]),
    ofTable(said.table),
    said.sums.flat(),
    said.vatTables.flatMap((table) => [table.title, table.caption, ...ofTable(table)]),
    [...(said.vatNotes ? [said.vatNotes] : []), ...said.statements].flatMap(ofStatement),
    [said.running.left, said.registered],
  ].flat();
}

/** Finds the document of a name. */
export async function documentsByName(): Promise<(name: string) => PrintedDocument> {
  const documents = new Map((await exampleDocuments()).map(({ name, document }) => [name, document]));
  return (name) => {
    const found = documents.get(name);
    if (!found) throw new Error(`There is no example "${name}".`);
    return found;
  };
}

async function makeExamples(told: readonly Story[]): Promise<Example[]> {
  await using database = await openTestDatabase('sqlite');
  const testBackoffice = createTestBackoffice(database);
  const made: Example[] = [];
  for (const story of told) made.push({ name: story.name, document: await live(testBackoffice, story) });
  return made;
}

async function live(testBackoffice: TestBackoffice, story: Story): Promise<PrintedDocument> {
  const company = await openIssuer(testBackoffice, story);
  const { kind, status, draft, credit, earlier } = story;
  const invoice = kind === 'credit_note' ? await issued(company, invoiceDraft(draft)) : undefined;
  const { id } = await company.apply(
    invoice
      ? creditNoteOf(invoice, { lines: draft.lines ?? [], ...credit })
      : invoiceDraft({ ...draft, kind }),
  );
  if (status === 'issued') await company.apply(issue(id));
  const document = await printedDocument(testBackoffice.engine, company, id);
  earlier?.(document);
  return document;
}

/** Runs a test with a back office on SQLite; one of documents.test.ts prints on PostgreSQL too. */
export function onSqlite(title: string, body: (t: Test, backoffice: TestBackoffice) => Promise<void>): void {
  t.test(title, async (t) => {
    await using database = await openTestDatabase('sqlite');
    await body(t, createTestBackoffice(database));
  });
}

/** A document as it is stored now, put together as it is printed. */
export async function printedDocument(
  { db }: Engine,
  { id: company }: Pick<TestCompany, 'id'>,
  id: string,
): Promise<PrintedDocument> {
  const found = await findPrintable(db, company, id);
  if (!found) throw new Error(`There is no document ${id}.`);
  const { supplier, ...others } = found;
  return { ...others, ...(await findSupplier(db, company, supplier)) };
}
