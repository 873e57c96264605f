import { writtenLines } from '../../contract/addresses.ts';
import { decimalAmount } from '../../contract/currencies.ts';
import type { DocumentTerms } from '../../contract/feed.ts';
import { paymentAddress } from '../../contract/payment-links.ts';
import { payableMinor } from '../../contract/vat.ts';
import { moneyFormat } from './amounts.ts';
import { CONTENT_WIDTH, LEFT, RIGHT, STYLES } from './page-design.ts';
import { type PaymentCode, paymentCodeOf } from './payment-code.ts';
import type { PrintedDocument } from './printed-document.ts';
import { reverseChargeStatements } from './reverse-charge.ts';
import type { Sheet, Tag } from './sheet.ts';
import { layTable } from './table.ts';
import type { TextBlock } from './text-blocks.ts';
import {
  asksForPayment,
  categoryText,
  countryName,
  dateText,
  isDraft,
  isMargin,
  numberOf,
  pricesIncludeVat,
  titleOf,
} from './wording.ts';

/** A part of the document that is a heading and text under it. */
export interface Statement {
  heading: string;
  paragraphs: readonly string[];
  /** An address to which its text leads, under the paragraphs. */
  link?: { text: string; url: string } | undefined;
  /** Set as a table under both. */
  details: readonly (readonly [label: string, value: string])[];
  /** Stands beside the text, for those who don't see it as `alt`. */
  code?: (PaymentCode & { alt: string }) | undefined;
}

/** The statements of a statement of account: how to pay what is left. */
export function accountStatementsOf(printed: PrintedDocument): Statement[] {
  return [paymentStatement(printed)].filter((statement) => statement !== undefined);
}

/** The statements beside the amounts: why no VAT is charged, a note, and how to pay. */
export function statementsOf(printed: PrintedDocument): Statement[] {
  return [
    vatStatement(printed),
    noteStatement(printed),
    paymentStatement(printed),
    representativeStatement(printed),
    documentsStatement(printed),
    originStatement(printed),
  ].filter((statement) => statement !== undefined);
}

/** A document that is issued elsewhere has its original there. */
function originStatement({ record, isImported = false }: PrintedDocument): Statement | undefined {
  if (!isImported) return undefined;
  const document = titleOf(record).toLowerCase();
  const paragraph = `This PDF was made from the data of the business system that issued the ${document}.`;
  return { heading: 'About this PDF', paragraphs: [paragraph], details: [] };
}

function vatStatement(printed: PrintedDocument): Statement | undefined {
  const { lines } = printed.record;
  const reasons = new Map<string, string>();
  for (const line of lines) {
    const reason = line.vatExemptionReason;
    if (reason !== null) reasons.set(`${line.vatCategory} ${reason}`, reasonText(line, reason));
  }
  const paragraphs = [
    ...(pricesIncludeVat(printed) ? ['The prices on this document include VAT.'] : []),
    ...reasons.values(),
    ...reverseChargeStatements(printed, [...reasons.values()]),
  ];
  return paragraphs.length === 0 ? undefined : { heading: 'About VAT', paragraphs, details: [] };
}

/** The reason, with its category in front where the reason doesn't say it. */
function reasonText(line: PrintedDocument['record']['lines'][number], reason: string): string {
  if (isMargin(line) || line.vatCategory === 'O') return reason;
  const category = categoryText(line.vatCategory, line.vatRateBasisPoints).replace(/ 0%$/, '');
  return reason.toLowerCase().includes(category.toLowerCase()) ? reason : `${category}: ${reason}`;
}

function noteStatement({ record, terms }: PrintedDocument): Statement | undefined {
  const notes = (terms?.notes ?? []).map(({ text }) => text);
  const paragraphs = [record.note ?? '', ...notes].filter((text) => text.trim() !== '');
  if (paragraphs.length === 0) return undefined;
  const heading = record.kind === 'credit_note' ? 'Reason for this credit note' : 'Note';
  return { heading, paragraphs, details: [] };
}

function paymentStatement(printed: PrintedDocument): Statement | undefined {
  const { record, terms = {} } = printed;
  const { payee, payment, paymentTerms } = terms;
  const request = requestOf(printed) ?? { heading: 'Payment', paragraphs: [], details: [] };
  const paragraphs = [
    ...request.paragraphs,
    ...(paymentTerms === undefined ? [] : [paymentTerms]),
    ...(payee ? [payeeText(payee)] : []),
  ];
  const details = [...request.details, ...(payment ? statedDetails(payment, record.number) : [])];
  return paragraphs.length === 0 && details.length === 0 ? undefined : { ...request, paragraphs, details };
}

function payeeText({ name, companyNumber, identifier }: NonNullable<DocumentTerms['payee']>): string {
  const numbers = [companyNumber && `company no. ${companyNumber}`, identifier?.id]
    .filter(Boolean)
    .join(', ');
  return `The payee is ${name}${numbers === '' ? '' : ` (${numbers})`}.`;
}

/** How a document is paid that says so itself. */
function statedDetails(
  payment: NonNullable<DocumentTerms['payment']>,
  number: string | null,
): (readonly [string, string])[] {
  const { accounts = [], cardNumber, cardHolder = '', remittance = number, debitedAccount } = payment;
  const stated: readonly (readonly [string, string | null | undefined])[] = [
    ['Means of payment', payment.meansText],
    ['Card', cardNumber && `ending in ${cardNumber} ${cardHolder}`.trim()],
    ['Mandate', payment.mandateReference],
    ['Creditor identifier', payment.creditorId],
    ['Debited account', debitedAccount],
    ['Payment reference', remittance],
  ];
  return [
    ...accounts.flatMap(({ id, name, bic }) =>
      bankDetails({ iban: id, ...(name && { bankAccountName: name }), ...(bic && { bic }) }),
    ),
    ...stated.flatMap(([label, value]) => (value ? [[label, value] as const] : [])),
  ];
}

function representativeStatement({ terms }: PrintedDocument): Statement | undefined {
  const { taxRepresentative: agent } = terms ?? {};
  if (!agent) return undefined;
  const place = [agent.name, ...writtenLines(agent), countryName(agent.countryCode)].join(', ');
  return { heading: 'Tax representative', paragraphs: [`${place}. VAT no. ${agent.vatId}`], details: [] };
}

function documentsStatement({ terms }: PrintedDocument): Statement | undefined {
  const { supportingDocuments = [] } = terms ?? {};
  if (supportingDocuments.length === 0) return undefined;
  const details = supportingDocuments.map(
    ({ reference, description, url }) => [reference, [description, url].filter(Boolean).join(', ')] as const,
  );
  return { heading: 'Documents that go with this one', paragraphs: [], details };
}

/** What a document asks to be paid. Where it says itself how, no account, link or code of the supplier's may lead elsewhere. */
function requestOf(printed: PrintedDocument): Statement | undefined {
  const { record, supplier, terms = {}, statementOn, amounts } = printed;
  if (record.kind === 'credit_note') return undefined;
  const asked = asksForPayment(printed) ? payableMinor(record.totals, amounts) : 0;
  const amountMinor = statementOn === undefined ? asked : (record.amountDueMinor ?? 0);
  if (amountMinor === 0) return nothingDue(record);
  const account = terms.payment ? [] : bankDetails(supplier);
  const isToSupplier = !terms.payment && !terms.payee;
  const reference = [['Payment reference', numberOf(record)] as const];
  const link = isToSupplier ? linkOf(printed, amountMinor) : undefined;
  const late = [supplier.latePaymentTerms].filter((text) => text !== undefined);
  return {
    heading: account.length === 0 && link === undefined ? 'Payment' : 'How to pay',
    paragraphs: [...askedFor(printed, amountMinor), ...late],
    link,
    details: [...account, ...(account.length === 0 || record.number === null ? [] : reference)],
    code: isToSupplier ? codeOf(printed, amountMinor) : undefined,
  };
}

/** What is asked for, and until when. */
function askedFor({ record, statementOn }: PrintedDocument, amountMinor: number): string[] {
  const { dueDate, paymentTermsDays, currency } = record;
  const amount = moneyFormat(currency).withSymbol(amountMinor);
  if (statementOn !== undefined && dueDate !== null && dueDate < statementOn)
    return [`Please pay ${amount}, which was due by ${dateText(dueDate)}.`];
  const days = paymentTermsDays === 1 ? '1 day' : `${paymentTermsDays} days`;
  const terms = paymentTermsDays === 0 ? 'on receipt' : `within ${days} of the date of issue`;
  const by = dueDate === null ? terms : `by ${dateText(dueDate)}`;
  const suffix = dueDate === null || paymentTermsDays === 0 ? '' : ` (payment terms: ${days})`;
  return isDraft(record)
    ? ['There is nothing to pay on this draft.', `Once it is issued, ${amount} will be due ${by}${suffix}.`]
    : [`Please pay ${amount} ${by}${suffix}.`];
}

function linkOf({ record, supplier }: PrintedDocument, amountMinor: number): Statement['link'] {
  const { number, currency } = record;
  if (supplier.paymentLink === undefined || number === null) return undefined;
  const amount = decimalAmount(amountMinor, currency);
  const url = paymentAddress(supplier.paymentLink, { number, amount });
  return { text: `Pay online: ${url}`, url };
}

function codeOf(printed: PrintedDocument, amountMinor: number): Statement['code'] {
  const code = paymentCodeOf(printed, amountMinor);
  const amount = moneyFormat(printed.record.currency).withSymbol(amountMinor);
  const alt = `QR code for banking apps: a SEPA credit transfer of ${amount} to this account, with this reference`;
  return code && { ...code, alt };
}

function nothingDue(record: PrintedDocument['record']): Statement {
  const verb = isDraft(record) ? 'will be' : 'is';
  const paragraphs = [`Nothing ${verb} due on this ${titleOf(record).toLowerCase()}.`];
  return { heading: 'Payment', paragraphs, details: [] };
}

/** An account as people of its country write it: with sort code and number where a British IBAN holds them. */
function bankDetails({
  bankAccountName,
  iban,
  bic,
}: PrintedDocument['supplier']): (readonly [string, string])[] {
  if (iban === undefined) return [];
  const compact = iban.replace(/\s/g, '').toUpperCase();
  const [, sortCode, account] = /^GB\d\d[A-Z]{4}(\d{6})(\d{8})$/.exec(compact) ?? [];
  const isBritish = sortCode !== undefined && account !== undefined;
  return [
    ...(bankAccountName === undefined ? [] : [['Account name', bankAccountName] as const]),
    ...(isBritish ? [['Sort code', sortCode.replace(/(..)(?=.)/g, '$1-')] as const] : []),
    ...(isBritish ? [['Account number', account] as const] : []),
    [/^[A-Z]{2}\d\d/.test(compact) ? 'IBAN' : 'Account', compact.replace(/(.{4})(?=.)/g, '$1 ')],
    ...(bic === undefined ? [] : [['BIC', bic] as const]),
  ];
}

const GAP = 16;

/** As wide as is read with ease. */
const TEXT_WIDTH = CONTENT_WIDTH * 0.82;
const LABEL_WIDTH = 92;
/** A statement up to this height is kept on one page. */
const KEPT_HEIGHT = 200;
/** What the text leaves for a code. Even the largest one has modules of 0.4 mm there, which telephones read. */
const CODE_WIDTH = CONTENT_WIDTH - TEXT_WIDTH;
/** Modules that stay light around a code (ISO/IEC 18004); on the other sides are the margin and the gap above. */
const LIGHT_MODULES = 4;

/** Draws a statement; one that doesn't fit on the page begins on the next, and goes on from page to page. */
export function drawStatement(sheet: Sheet, statement: Statement): void {
  const { heading, paragraphs, link, details, code } = statement;
  const title = sheet.text(heading, STYLES.label, CONTENT_WIDTH);
  const blocks = paragraphs.map((paragraph) => sheet.text(paragraph, STYLES.body, TEXT_WIDTH));
  const address = sheet.text(link?.text ?? '', STYLES.link, TEXT_WIDTH);
  const caption = sheet.text(code ? 'Scan in a banking app' : '', STYLES.fine, CODE_WIDTH);
  const codeHeight = code ? CODE_WIDTH + caption.height : 0;
  const begun = Math.max(title.height + 3 + 3 * STYLES.body.leading, codeHeight);
  const height = [...blocks, address].reduce((sum, block) => sum + block.height, title.height + 3);
  const whole = Math.max(height + details.length * STYLES.body.leading, codeHeight);
  sheet.y += GAP;
  sheet.makeRoom(whole <= KEPT_HEIGHT ? whole : begun);
  const { page, y } = sheet;
  const section = sheet.group(sheet.root, 'Sect');
  sheet.tagged(section, 'H2', () => sheet.drawDown(title, { x: LEFT, width: CONTENT_WIDTH }));
  sheet.y += 3;
  for (const block of blocks) drawFlowing(sheet, section, block);
  if (link) {
    sheet.makeRoom(address.height);
    sheet.link(section, address, { x: LEFT, width: TEXT_WIDTH }, link.url);
  }
  if (details.length > 0) drawDetails(sheet, section, details);
  const end = { page: sheet.page, y: sheet.y };
  if (code) {
    sheet.goTo({ page, y });
    drawCode(sheet, section, code, caption);
    if (end.page > page || end.y > sheet.y) sheet.goTo(end);
  }
  section.end();
}

/** Draws a code to the right of the text, with its caption. */
function drawCode(sheet: Sheet, section: Tag, code: PaymentCode & { alt: string }, caption: TextBlock): void {
  const width = (CODE_WIDTH * code.size) / (code.size + LIGHT_MODULES);
  const box = { x: RIGHT - width, y: sheet.y, width };
  sheet.figure(section, { ...box, height: width }, code.alt, () => sheet.code(code, box));
  sheet.y += CODE_WIDTH;
  const below = { x: RIGHT - CODE_WIDTH, y: sheet.y, width: CODE_WIDTH };
  sheet.tagged(section, 'P', () => sheet.draw(caption, below, 'right'));
  sheet.y += caption.height;
}

function drawDetails(sheet: Sheet, section: Tag, details: Statement['details']): void {
  sheet.y += 3;
  layTable(sheet, {
    columns: [
      { x: LEFT, width: LABEL_WIDTH, style: STYLES.bodyGrey },
      { x: LEFT + LABEL_WIDTH, width: TEXT_WIDTH - LABEL_WIDTH },
    ],
    rows: details.map((texts) => ({ texts, style: STYLES.body, padding: 0 })),
    hasRowHeads: true,
  }).draw(section);
}

function drawFlowing(sheet: Sheet, section: Tag, { lines, style }: TextBlock): void {
  const paragraph = sheet.group(section, 'P');
  let rest = lines;
  while (rest.length > 0) {
    sheet.makeRoom(style.leading);
    const page = rest.slice(0, sheet.linesLeft(style));
    rest = rest.slice(page.length);
    sheet.content(paragraph, 'P', () => {
      for (const line of page) {
        sheet.drawLine(line, style, LEFT, sheet.y);
        sheet.y += style.leading;
      }
    });
  }
  paragraph.end();
}
