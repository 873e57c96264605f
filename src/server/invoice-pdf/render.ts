import PDFDocument from 'pdfkit';
import { drawAccount } from './account-statement.ts';
import { eInvoiceText, hasEInvoice } from '../e-invoice/e-invoice.ts';
import { drawFacts } from './facts.ts';
import { type Fonts, fontsFor, loadFonts } from '../typefaces/fonts.ts';
import { readSlices } from '../typefaces/han.ts';
import { drawLines } from './lines-table.ts';
import { type Logo, readLogo } from '../logos/logo.ts';
import { E_INVOICE_FILE, metadata } from './metadata.ts';
import { ADDRESS_TOP, COLUMN, CONTENT_WIDTH, LEFT_MARGIN, RIGHT } from './page-design.ts';
import { drawPageFeet, drawPageHead } from './page-furniture.ts';
import { drawBuyer, drawSupplier } from './parties.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import { Sheet } from './sheet.ts';
import { drawStatement } from './statement-drawing.ts';
import { accountStatementsOf, statementsOf } from './statements.ts';
import { layTotals } from './totals.ts';
import { vatSummary } from './vat-summary.ts';
import { isDraft, documentName, supplierName, titleOf } from '../printed-document/wording.ts';
import { escapeXml } from '../e-invoice/xml-text.ts';

/** A renderer of PDFs. It caches fonts and recent logos, so a process creates only one. */
export interface Renderer {
  /**
   * Renders a document as PDF/A-3a (ISO 19005-3) and PDF/UA-1 (ISO 14289-1). Identical documents give identical bytes. A
   * logo that can't be embedded is omitted; `logoFromFile` refuses such logos. With `statementOn`, renders the statement
   * of account of an issued invoice as of that day.
   */
  render: (document: PrintedDocument) => Promise<Buffer>;
}

/** The most logos cached; a renderer usually serves few companies at a time. */
const KEPT_LOGOS_MAX = 16;

/** Creates a renderer, which parses a font when a text first needs it. */
export function createRenderer(): Renderer {
  const fonts = loadFonts();
  const logos = new Map<string, Logo | undefined>();
  return {
    render: (printed) => render(printed, fonts, logoOf(printed.logo, logos)),
  };
}

function logoOf(dataUrl: string | undefined, kept: Map<string, Logo | undefined>): Logo | undefined {
  if (dataUrl === undefined) return undefined;
  if (!kept.has(dataUrl)) {
    const [oldest] = kept.keys();
    if (kept.size >= KEPT_LOGOS_MAX && oldest !== undefined) kept.delete(oldest);
    kept.set(dataUrl, readOrLeaveOut(dataUrl));
  }
  return kept.get(dataUrl);
}

/** Reads a logo; undefined for a broken one, so that the invoice can still be sent. */
function readOrLeaveOut(dataUrl: string): Logo | undefined {
  try {
    return readLogo(dataUrl);
  } catch {
    return undefined;
  }
}

async function render(printed: PrintedDocument, fonts: Fonts, logo: Logo | undefined): Promise<Buffer> {
  await readSlices(JSON.stringify({ ...printed, logo: undefined }));
  const document = openDocument(printed);
  const bytes = collect(document);
  const { accent, record, supplier } = printed;
  const sheet = new Sheet(document, fontsFor(record.buyer.countryCode, fonts), {
    pageSize: supplier.pageSize ?? 'A4',
    accent,
    pageHead: (page) => drawPageHead(page, printed),
  });
  drawHead(sheet, printed, logo);
  if (printed.statementOn === undefined) drawBody(sheet, printed);
  else drawAccount(sheet, printed);
  const statements = printed.statementOn === undefined ? statementsOf(printed) : accountStatementsOf(printed);
  for (const statement of statements) drawStatement(sheet, statement);
  drawPageFeet(sheet, printed);
  sheet.root.end();
  document.end();
  return bytes;
}

function openDocument(printed: PrintedDocument): PDFKit.PDFDocument {
  const { record, supplier, statementOn } = printed;
  // Uses the document's own time, so that its bytes are always identical.
  const at = new Date(statementOn ?? record.issuedAt ?? record.updatedAt);
  const document = new PDFDocument({
    pdfVersion: '1.7',
    subset: 'PDF/A-3a',
    tagged: true,
    lang: supplier.countryCode === 'GB' ? 'en-GB' : 'en-IE',
    displayTitle: true,
    autoFirstPage: false,
    bufferPages: true,
    // Prevents pdfkit from starting with a font that isn't embedded.
    font: null as unknown as string,
    info: {
      Title: isDraft(record) ? `${titleOf(record)} (draft)` : documentName(printed),
      Author: supplierName(printed),
      Creator: 'Fieldledger',
      Producer: 'Fieldledger',
      CreationDate: at,
      ModDate: at,
    },
  });
  escapeMetadata(document);
  const isHybrid = statementOn === undefined && hasEInvoice(printed);
  document.appendXML(metadata(isHybrid));
  // In a Factur-X document, the XML holds the contents of the pages for programs.
  const file = { ...E_INVOICE_FILE, creationDate: at, modifiedDate: at };
  if (isHybrid) document.file(Buffer.from(eInvoiceText(printed, 'cii')), file);
  return document;
}

/** Escapes the document information, which pdfkit copies into XML unescaped. */
function escapeMetadata(document: PDFKit.PDFDocument): void {
  const end = document.endMetadata.bind(document);
  document.endMetadata = () => {
    const { Title = '', Author = '' } = document.info;
    document.info = { ...document.info, Title: escapeXml(Title), Author: escapeXml(Author) };
    end();
  };
}

function collect(document: PDFKit.PDFDocument): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => chunks.push(chunk));
  document.on('end', () => resolve(Buffer.concat(chunks)));
  document.on('error', reject);
  return promise;
}

function drawHead(sheet: Sheet, printed: PrintedDocument, logo: Logo | undefined): void {
  drawSupplier(sheet, printed, logo);
  drawFacts(sheet, printed);
  const right = { page: sheet.page, y: sheet.y };
  sheet.goTo({ page: 0, y: ADDRESS_TOP });
  drawBuyer(sheet, printed);
  const isLower = right.page > sheet.page || (right.page === sheet.page && right.y > sheet.y);
  if (isLower) sheet.goTo(right);
  sheet.y += 20;
}

function drawBody(sheet: Sheet, printed: PrintedDocument): void {
  const summary = vatSummary(sheet, printed, COLUMN - LEFT_MARGIN - 34, CONTENT_WIDTH);
  const totals = layTotals(sheet, printed, { x: COLUMN, width: RIGHT - COLUMN });
  const height = summary?.isNarrow === true ? Math.max(summary.height, totals.height) : totals.height;
  drawLines(sheet, printed, TABLE_GAP + height);
  sheet.y += TABLE_GAP;
  sheet.makeRoom(height);
  const { page, y } = sheet;
  totals.draw(sheet.root);
  // Many discounts or prepayments can continue over several pages.
  const end = sheet.page === page ? { page, y: y + height } : { page: sheet.page, y: sheet.y };
  sheet.goTo(summary?.isNarrow === true ? { page, y } : end);
  if (summary?.isNarrow === false) sheet.y += TABLE_GAP;
  summary?.draw();
  if (summary?.isNarrow === true) sheet.goTo(end);
}

const TABLE_GAP = 14;
