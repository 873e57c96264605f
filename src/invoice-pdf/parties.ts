import type { Logo } from './logo.ts';
import { ADDRESS_TOP, COLUMN, LEFT, RIGHT, STYLES, TOP } from './page-design.ts';
import type { PrintedDocument } from './printed-document.ts';
import type { Sheet, Tag } from './sheet.ts';
import type { TextStyle } from './text-blocks.ts';
import { countryName, supplierName } from './wording.ts';

const LOGO_BOX = { width: 190, height: 62 };
const LEFT_WIDTH = COLUMN - LEFT - 30;
const RIGHT_WIDTH = RIGHT - COLUMN;

/** Draws who issues the document, and answers with where that ends. */
export function drawSupplier(sheet: Sheet, printed: PrintedDocument, logo: Logo | undefined): number {
  const { supplier } = printed;
  const name = supplierName(printed);
  if (logo) drawLogo(sheet, logo, name);
  else {
    const block = sheet.text(name, STYLES.wordmark, LEFT_WIDTH);
    sheet.tagged(sheet.root, 'P', () => sheet.draw(block, { x: LEFT, y: TOP, width: LEFT_WIDTH }));
  }
  const tag = sheet.group(sheet.root, 'Sect');
  const isNamed = !logo && supplier.legalName === name;
  const column = { x: COLUMN, y: TOP, width: RIGHT_WIDTH };
  const ends = drawParagraphs(sheet, tag, column, [
    [isNamed ? undefined : supplier.legalName, STYLES.name],
    [tradingAs(printed), STYLES.small],
    [[...(supplier.addressLines ?? []), supplier.postcode].filter(Boolean).join(', '), STYLES.small],
    [countryOf(supplier.countryCode), STYLES.small],
    [labelled('VAT no.', supplier.vatId), STYLES.small],
    [labelled('Company no.', supplier.companyNumber), STYLES.small],
    [supplier.phone, STYLES.small],
    [supplier.email, STYLES.small],
    [supplier.website, STYLES.small],
  ]);
  tag.end();
  return ends;
}

function drawLogo(sheet: Sheet, logo: Logo, name: string): void {
  const scale = Math.min(LOGO_BOX.width / logo.width, LOGO_BOX.height / logo.height);
  const width = logo.width * scale;
  const height = logo.height * scale;
  const options = {
    alt: `Logo of ${name}`,
    bbox: [LEFT, TOP, LEFT + width, TOP + height] as [number, number, number, number],
  };
  sheet.tagged(sheet.root, 'Figure', () => sheet.picture(logo, LEFT, TOP, { width, height }), options);
}

function tradingAs({ supplier: { legalName, tradingName } }: PrintedDocument): string | undefined {
  return tradingName === undefined || tradingName === legalName ? undefined : `trading as ${tradingName}`;
}

function countryOf(code: string | undefined): string | undefined {
  return code === undefined ? undefined : countryName(code);
}

function labelled(label: string, value: string | null | undefined): string | undefined {
  return value === undefined || value === null ? undefined : `${label} ${value}`;
}

/** Draws whom the document is for and where the work was, and answers with where that ends. */
export function drawBuyer(sheet: Sheet, { record, supplier }: PrintedDocument, top: number): number {
  const { buyer } = record;
  const name = buyer.legalName ?? buyer.name;
  const foreign = buyer.countryCode === supplier.countryCode ? undefined : countryName(buyer.countryCode);
  const label = record.kind === 'credit_note' ? 'Credit to' : 'Invoice to';
  const box = { x: LEFT, y: Math.max(top, ADDRESS_TOP), width: LEFT_WIDTH };
  const end = drawSection(sheet, label, box, [
    [name, STYLES.strong],
    [buyer.name === name ? undefined : buyer.name, STYLES.body],
    [labelled('Attention:', buyer.contactName), STYLES.body],
    ...lines(buyer.addressLines),
    [foreign, STYLES.body],
    [labelled('VAT no.', buyer.vatId), STYLES.body],
    [buyer.email ?? undefined, STYLES.small],
  ]);
  const { site } = buyer;
  if (site === null) return end;
  return drawSection(sheet, 'Site', { ...box, y: end + 9 }, [
    [site.label, STYLES.strong],
    ...lines(site.addressLines),
    [site.postcode ?? undefined, STYLES.body],
    [site.countryCode === supplier.countryCode ? undefined : countryName(site.countryCode), STYLES.body],
  ]);
}

type Paragraph = readonly [text: string | undefined, style: TextStyle];

const lines = (texts: readonly string[]): Paragraph[] => texts.map((text) => [text, STYLES.body]);

interface Box {
  x: number;
  y: number;
  width: number;
}

function drawSection(sheet: Sheet, label: string, box: Box, paragraphs: readonly Paragraph[]): number {
  const section = sheet.group(sheet.root, 'Sect');
  const heading = sheet.text(label, STYLES.label, box.width);
  sheet.tagged(section, 'H2', () => sheet.draw(heading, box));
  const end = drawParagraphs(sheet, section, { ...box, y: box.y + heading.height + 2 }, paragraphs);
  section.end();
  return end;
}

function drawParagraphs(sheet: Sheet, parent: Tag, box: Box, paragraphs: readonly Paragraph[]): number {
  let { y } = box;
  for (const [text, style] of paragraphs) {
    if (text === undefined || text === '') continue;
    const block = sheet.text(text, style, box.width);
    sheet.tagged(parent, 'P', () => sheet.draw(block, { ...box, y }));
    y += block.height;
  }
  return y;
}
