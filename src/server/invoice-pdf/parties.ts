import { writtenLines } from '../../contract/addresses.ts';
import type { DocumentTerms } from '../../contract/feed.ts';
import type { Logo } from '../logos/logo.ts';
import { COLUMN, LEFT_MARGIN, RIGHT, STYLES, TOP } from './page-design.ts';
import type { PrintedDocument } from '../printed-document/printed-document.ts';
import type { Sheet, Tag } from './sheet.ts';
import { balancedBlock, type TextStyle } from './text-blocks.ts';
import { countryName, supplierName } from '../printed-document/wording.ts';

const LOGO_BOX = { width: 190, height: 62 };
/** The largest scale of a logo, 96 pixels to the inch as in browsers; a small picture would look blurred beyond it. */
const POINTS_PER_PIXEL_MAX = 0.75;
const LEFT_WIDTH = COLUMN - LEFT_MARGIN - 30;

/** Draws the supplier: the logo on the left, and the details that the law requires in the right column. */
export function drawSupplier(sheet: Sheet, printed: PrintedDocument, logo: Logo | undefined): void {
  const { supplier } = printed;
  const name = supplierName(printed);
  const wordmark = logo ? undefined : balancedBlock(name, STYLES.wordmark, LEFT_WIDTH, sheet.fonts);
  // A longer name would reach down to the customer's address.
  const isShown = wordmark !== undefined && wordmark.height <= LOGO_BOX.height + 1;
  if (logo) drawLogo(sheet, logo, name);
  else if (isShown)
    sheet.tagged(sheet.root, 'P', () => sheet.draw(wordmark, { x: LEFT_MARGIN, y: TOP, width: LEFT_WIDTH }));
  const country = supplier.countryCode === undefined ? undefined : countryName(supplier.countryCode);
  sheet.y = TOP;
  drawParagraphs(sheet, sheet.root, { x: COLUMN, width: RIGHT - COLUMN }, [
    [isShown && supplier.legalName === name ? undefined : supplier.legalName, STYLES.name],
    [tradingAs(printed), STYLES.small],
    [joined(', ', ...writtenLines(supplier), country), STYLES.small],
    [
      inLines(sheet, [
        labelled('VAT no.', supplier.vatId),
        labelled('Company no.', supplier.companyNumber),
        labelled('Tax no.', supplier.taxNumber),
      ]),
      STYLES.small,
    ],
    [
      inLines(sheet, [
        supplier.contactName,
        supplier.phone,
        supplier.email,
        supplier.website?.replace(/^https?:\/\/|\/$/g, ''),
      ]),
      STYLES.small,
    ],
    [supplier.legalText, STYLES.small],
  ]);
}

function drawLogo(sheet: Sheet, logo: Logo, name: string): void {
  const scale = Math.min(LOGO_BOX.width / logo.width, LOGO_BOX.height / logo.height, POINTS_PER_PIXEL_MAX);
  const width = logo.width * scale;
  const height = logo.height * scale;
  const box = { x: LEFT_MARGIN, y: TOP, width, height };
  sheet.figure(sheet.root, box, `Logo of ${name}`, () =>
    sheet.picture(logo, LEFT_MARGIN, TOP, { width, height }),
  );
}

function tradingAs({ supplier: { legalName, tradingName } }: PrintedDocument): string | undefined {
  return tradingName === undefined || tradingName === legalName ? undefined : `trading as ${tradingName}`;
}

const DOT = '  ·  ';

function joined(separator: string, ...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== '').join(separator);
}

/** Joins texts with dots, putting as many as fit on each line. */
function inLines(sheet: Sheet, texts: readonly (string | undefined)[]): string {
  let last = '';
  const before: string[] = [];
  for (const text of texts) {
    const together = joined(DOT, last, text);
    if (sheet.textWidth(together, STYLES.small) <= RIGHT - COLUMN) last = together;
    else {
      before.push(last);
      last = text ?? '';
    }
  }
  return joined('\n', ...before, last);
}

function labelled(label: string, value: string | null | undefined): string | undefined {
  return value === undefined || value === null ? undefined : `${label} ${value}`;
}

export function drawBuyer(sheet: Sheet, { record, supplier, terms, statementOn }: PrintedDocument): void {
  const { buyer } = record;
  const own = terms?.buyer ?? {};
  const name = buyer.legalName ?? buyer.name;
  const foreign = (code: string) => (code === supplier.countryCode ? undefined : countryName(code));
  const label = record.kind === 'credit_note' ? 'Credit to' : 'Invoice to';
  drawSection(sheet, statementOn === undefined ? label : 'Statement to', [
    [name, STYLES.strong],
    [buyer.name === name ? undefined : buyer.name, STYLES.body],
    [labelled('Attention:', buyer.contactName), STYLES.body],
    ...lines(writtenLines({ ...own, addressLines: buyer.addressLines })),
    [foreign(buyer.countryCode), STYLES.body],
    [labelled('VAT no.', buyer.vatId), STYLES.body],
    [labelled('Company no.', own.companyNumber), STYLES.body],
    [joined(DOT, own.phone, buyer.email ?? undefined), STYLES.small],
  ]);
  drawDelivery(sheet, terms?.delivery, foreign);
  drawSite(sheet, buyer.site, foreign);
}

type Foreign = (code: string) => string | undefined;

function drawDelivery(sheet: Sheet, delivery: DocumentTerms['delivery'], foreign: Foreign): void {
  if (!delivery) return;
  const { countryCode: country } = delivery;
  sheet.y += 9;
  drawSection(sheet, 'Delivered to', [
    [delivery.name, STYLES.strong],
    ...lines(writtenLines(delivery)),
    [country && foreign(country), STYLES.body],
    [labelled('Place', delivery.locationId?.id), STYLES.body],
  ]);
}

function drawSite(sheet: Sheet, site: PrintedDocument['record']['buyer']['site'], foreign: Foreign): void {
  if (site === null) return;
  sheet.y += 9;
  drawSection(sheet, 'Site', [
    [site.label, STYLES.strong],
    ...lines(site.addressLines),
    [site.postcode ?? undefined, STYLES.body],
    [foreign(site.countryCode), STYLES.body],
  ]);
}

type Paragraph = readonly [text: string | undefined, style: TextStyle];

const lines = (texts: readonly string[]): Paragraph[] => texts.map((text) => [text, STYLES.body]);

function drawSection(sheet: Sheet, label: string, paragraphs: readonly Paragraph[]): void {
  const section = sheet.group(sheet.root, 'Sect');
  const heading = sheet.text(label, STYLES.label, LEFT_WIDTH);
  sheet.makeRoom(heading.height + 2 * STYLES.body.leading);
  sheet.tagged(section, 'H2', () => sheet.drawDown(heading, { x: LEFT_MARGIN, width: LEFT_WIDTH }));
  sheet.y += 2;
  drawParagraphs(sheet, section, { x: LEFT_MARGIN, width: LEFT_WIDTH }, paragraphs);
  section.end();
}

interface Space {
  x: number;
  width: number;
}

function drawParagraphs(sheet: Sheet, parent: Tag, space: Space, paragraphs: readonly Paragraph[]): void {
  for (const [text, style] of paragraphs) {
    const block = sheet.text(text ?? '', style, space.width);
    if (block.lines.length === 0) continue;
    sheet.makeRoom(block.height);
    sheet.tagged(parent, 'P', () => sheet.drawDown(block, space));
  }
}
