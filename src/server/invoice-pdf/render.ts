import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { NodeCompiler, NodeTypstDocument } from '@myriaddreamin/typst-ts-node-compiler';
import { eInvoiceText, hasEInvoice } from '../e-invoice/e-invoice.ts';
import { logoFile } from '../logos/logo.ts';
import { type DocumentTexts, documentTexts } from '../printed-document/document-texts.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import { LIGHT_GROUND } from '../process/vendor-look.ts';
import { familiesFor, fontFolders } from '../typefaces/fonts.ts';
import { printable } from '../typefaces/letters.ts';
import { E_INVOICE_FILE, withMetadata } from './metadata.ts';

/** A renderer of PDFs. It caches fonts, so a process creates only one. */
export interface Renderer {
  /**
   * Renders a document as PDF/A-3a (ISO 19005-3) and PDF/UA-1 (ISO 14289-1). Identical documents give identical bytes.
   * With `statementOn`, renders the statement of account of an issued invoice as of that day.
   */
  render: (document: PrintedDocument) => Promise<Buffer>;
  /** Sets a document and returns the lines of text on its pages, for the trial of a template. */
  linesOnPages: (document: PrintedDocument) => string[];
}

/** The folder of Fieldledger's own template, which is shipped so that an operator's can start from it. */
export const OWN_TEMPLATE = join(import.meta.dirname, 'template');

/** Creates a renderer for the template in a folder; Typst and the fonts are loaded with the first document. */
export function createRenderer(template = OWN_TEMPLATE): Renderer {
  let opened: NodeCompiler | undefined;
  const withPages = <T>(
    printed: PrintedDocument,
    use: (compiler: NodeCompiler, pages: NodeTypstDocument, isHybrid: boolean) => T,
  ): T => {
    const compiler = (opened ??= openCompiler(template));
    const isHybrid = printed.statementOn === undefined && hasEInvoice(printed);
    try {
      return use(compiler, setPages({ compiler, template }, printed, isHybrid), isHybrid);
    } finally {
      compiler.resetShadow();
      // Keeps the results of this document for the next, which may be of the same company.
      compiler.evictCache(1);
    }
  };
  return {
    async render(printed) {
      // Node frees Typst's results of earlier documents in a turn of the event loop alone.
      await turn();
      return withPages(printed, (compiler, pages, isHybrid) =>
        withMetadata(compiler.pdf(pages, { pdfStandard: 'a-3a' }), isHybrid),
      );
    },
    linesOnPages: (printed) =>
      withPages(printed, (compiler, pages) =>
        [...compiler.svg(pages).matchAll(/class="tsel"[^>]*>([^<]*)</g)].map(([, line = '']) => line),
      ),
  };
}

function openCompiler(workspace: string): NodeCompiler {
  const load = createRequire(import.meta.url);
  const { NodeCompiler: Compiler } = load('@myriaddreamin/typst-ts-node-compiler') as {
    NodeCompiler: typeof NodeCompiler;
  };
  return Compiler.create({ workspace, fontArgs: [{ fontPaths: fontFolders() }] });
}

/** The most rows of a document that is first tried on one page, whose foot needs no other page. */
const ROWS_OF_ONE_PAGE_MAX = 12;

function setPages(
  { compiler, template }: { compiler: NodeCompiler; template: string },
  printed: PrintedDocument,
  isHybrid: boolean,
): NodeTypstDocument {
  const texts = documentTexts(printed);
  const look = lookOf(printed, texts, isHybrid);
  const add = (name: string, content: string | Uint8Array) =>
    compiler.mapShadow(join(template, name), Buffer.from(content));
  for (const [name, content] of Object.entries(filesOf(printed, texts, isHybrid))) add(name, content);
  const set = (isOnePage: boolean) => {
    add('look.json', JSON.stringify({ ...look, isOnePage }));
    return compiledOrThrow(compiler, join(template, 'document.typ'));
  };
  const short = texts.table.rows.length <= ROWS_OF_ONE_PAGE_MAX ? set(true) : undefined;
  return short?.numOfPages === 1 ? short : set(false);
}

/** @throws Error with Typst's messages, which quote the template at most. */
function compiledOrThrow(compiler: NodeCompiler, mainFilePath: string): NodeTypstDocument {
  const compiled = compiler.compile({ mainFilePath });
  if (compiled.result) return compiled.result;
  const diagnostics = compiled.takeDiagnostics();
  const problems = (diagnostics && compiler.fetchDiagnostics(diagnostics)) as { message: string }[] | null;
  throw new Error(problems?.map(({ message }) => message).join('; '));
}

/** The colours of a document whose operator has none. */
const OWN_COLOURS = { accent: '#0b5566', tint: '#eef4f5' };
/** Paper names of Typst, and margins in points; a wider page has its content, as wide as on A4, centred. */
const PAPERS = { A4: { paper: 'a4', margin: 56.7 }, Letter: { paper: 'us-letter', margin: 65.06 } };

/** Letters of scripts that are written from right to left. */
const RTL = /\p{Script=Hebrew}|\p{Script=Arabic}/u;

/** Returns what differs in looks between documents, for the template. */
function lookOf(
  { accent, logo, record, supplier, statementOn }: PrintedDocument,
  texts: DocumentTexts,
  isHybrid: boolean,
): object {
  // Uses the document's own time, so that its bytes are the same each time.
  const at = new Date(statementOn ?? record.issuedAt ?? record.updatedAt);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate()];
  const [hour, minute, second] = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()];
  return {
    ...PAPERS[supplier.pageSize ?? 'A4'],
    ...(accent === undefined ? OWN_COLOURS : { accent, tint: LIGHT_GROUND }),
    logo: logo === undefined ? null : 'logo',
    date: { year, month, day, hour, minute, second },
    hasRtl: RTL.test(JSON.stringify(texts)),
    fonts: familiesFor(record.buyer.countryCode),
    eInvoice: isHybrid ? E_INVOICE_FILE : null,
  };
}

/** The files that the template reads beside `look.json`, by their names. */
function filesOf(
  printed: PrintedDocument,
  texts: DocumentTexts,
  isHybrid: boolean,
): Record<string, string | Uint8Array> {
  const codes: Record<string, Uint8Array> = {};
  const statements = texts.statements.map((statement, index) => {
    if (!statement.code) return statement;
    const { modules, ...code } = statement.code;
    codes[`code-${index}`] = modules;
    return { ...statement, code: { ...code, file: `code-${index}` } };
  });
  return {
    'document.json': JSON.stringify({ ...texts, statements }, (name, value: unknown) =>
      typeof value === 'string' && name !== 'url' ? breakable(printable(value)) : value,
    ),
    ...codes,
    ...(printed.logo !== undefined && { logo: logoFile(printed.logo) }),
    ...(isHybrid && { [E_INVOICE_FILE]: eInvoiceText(printed, 'cii') }),
  };
}

/** Letters of scripts whose lines Typst ends between any two of them, and marks. */
const BREAKABLE = String.raw`\p{M}\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}`;
const LONG_WORD = new RegExp(String.raw`[^\s${BREAKABLE}]{24,}`, 'gu');

/** Letters longer than a syllable of any language: one of 127 letters and marks ends Typst's process. */
const SYLLABLE = /(?:\p{L}\p{M}+){20}(?=\p{L})/gu;

/** Lets a long word go on in the next line after each few letters; after more of an endless one, which takes long to set. */
function breakable(text: string): string {
  return text
    .replace(SYLLABLE, '$&\u200b')
    .replace(LONG_WORD, (word) =>
      word.replace(word.length > 5_000 ? /.{40}/gsu : /.{6}/gsu, (letters) => `${letters}\u200b`),
    );
}
