import { writtenLines } from '../../contract/addresses.ts';
import type { DocumentTerms } from '../../contract/feed.ts';
import type { PrintedDocument } from './printed-document.ts';
import { countryName, supplierName } from './wording.ts';

/** A paragraph of a party: its style, and its text or several short texts that share lines. */
export type Paragraph = readonly [
  weight: 'name' | 'strong' | 'body' | 'small',
  text: string | readonly string[],
];

/** A party to a document, or a place of delivery, with its label. */
export interface PrintedParty {
  label: string;
  paragraphs: Paragraph[];
}

/** Returns the supplier's best-known name, and all details that the law requires. */
export function supplierTexts(printed: PrintedDocument): { name: string; paragraphs: Paragraph[] } {
  const { supplier } = printed;
  const country = supplier.countryCode === undefined ? undefined : countryName(supplier.countryCode);
  const paragraphs = said([
    ['name', supplier.legalName],
    ['small', tradingAs(printed)],
    ['small', joined(', ', ...writtenLines(supplier), country)],
    [
      'small',
      [
        labelled('VAT no.', supplier.vatId),
        labelled('Company no.', supplier.companyNumber),
        labelled('Tax no.', supplier.taxNumber),
      ],
    ],
    [
      'small',
      [
        supplier.contactName,
        supplier.phone,
        supplier.email,
        supplier.website?.replace(/^https?:\/\/|\/$/g, ''),
      ],
    ],
    ['small', supplier.legalText],
  ]);
  return { name: supplierName(printed), paragraphs };
}

/** Returns the customer, the place of delivery and the site, as far as the document states them. */
export function partyTexts(printed: PrintedDocument): PrintedParty[] {
  const { record, supplier, terms, statementOn, account } = printed;
  const { buyer } = record;
  const own = terms?.buyer ?? {};
  const name = buyer.legalName ?? buyer.name;
  const foreign: Foreign = (code) => (code === supplier.countryCode ? undefined : countryName(code));
  const label = record.kind === 'credit_note' ? 'Credit to' : 'Invoice to';
  const customer = said([
    ['strong', name],
    ['body', buyer.name === name ? undefined : buyer.name],
    ['body', labelled('Attention:', buyer.contactName)],
    ...lines(writtenLines({ ...own, addressLines: buyer.addressLines })),
    ['body', foreign(buyer.countryCode)],
    ['body', labelled('VAT no.', buyer.vatId)],
    ['body', labelled('Company no.', own.companyNumber)],
    ['small', [own.phone, buyer.email ?? undefined]],
  ]);
  return [
    { label: statementOn === undefined ? label : 'Statement to', paragraphs: customer },
    ...(account ? [] : [...deliveryTexts(terms?.delivery, foreign), ...siteTexts(buyer.site, foreign)]),
  ];
}

type Foreign = (code: string) => string | undefined;

function deliveryTexts(delivery: DocumentTerms['delivery'], foreign: Foreign): PrintedParty[] {
  if (!delivery) return [];
  const { countryCode: country } = delivery;
  const paragraphs = said([
    ['strong', delivery.name],
    ...lines(writtenLines(delivery)),
    ['body', country && foreign(country)],
    ['body', labelled('Place', delivery.locationId?.id)],
  ]);
  return [{ label: 'Delivered to', paragraphs }];
}

function siteTexts(site: PrintedDocument['record']['buyer']['site'], foreign: Foreign): PrintedParty[] {
  if (site === null) return [];
  const paragraphs = said([
    ['strong', site.label],
    ...lines(site.addressLines),
    ['body', site.postcode ?? undefined],
    ['body', foreign(site.countryCode)],
  ]);
  return [{ label: 'Site', paragraphs }];
}

type Given = string | undefined;

/** Returns the paragraphs without empty ones. */
function said(given: readonly (readonly [Paragraph[0], Given | readonly Given[]])[]): Paragraph[] {
  return given.flatMap(([weight, text]): Paragraph[] => {
    if (text === undefined || text === '') return [];
    if (typeof text === 'string') return [[weight, text]];
    const texts = text.flatMap((one) => one || []);
    return texts.length === 0 ? [] : [[weight, texts]];
  });
}

const lines = (texts: readonly string[]) => texts.map((text) => ['body', text] as const);

function tradingAs({ supplier: { legalName, tradingName } }: PrintedDocument): string | undefined {
  return tradingName === undefined || tradingName === legalName ? undefined : `trading as ${tradingName}`;
}

function joined(separator: string, ...texts: readonly Given[]): string {
  return texts.filter((text) => text !== undefined && text !== '').join(separator);
}

function labelled(label: string, value: string | null | undefined): string | undefined {
  return value === undefined || value === null ? undefined : `${label} ${value}`;
}
