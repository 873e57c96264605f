import { townOf } from '../../contract/addresses.ts';
import {
  classificationSchemes,
  countryCodes,
  electronicAddressSchemes,
  exemptionCodes,
  identifierSchemes,
  noteSubjectCodes,
  objectSchemes,
  paymentMeansCodes,
  vatPrefixes,
} from '../../contract/code-lists.ts';
import {
  buyerTermNames,
  type BuyerTerms,
  type StoredTerms,
  lineTermNames,
  type LineTerms,
  pickDefined,
} from '../../contract/document-terms.ts';
import type { DocumentTerms, ElectronicAddress, NewInvoice, PartyIdentifier } from '../../contract/feed.ts';
import type { Invoice } from '../../contract/records.ts';
import { quote } from '../../errors.ts';
import type { Supplier } from '../store/records/suppliers.ts';
import type { Composition } from './document-amounts.ts';
import { Refusal } from './refusal.ts';
import { refuseBackwards, refuseDayOutside } from './times.ts';
import type { CustomerUnpublished } from './unpublished.ts';

/** The terms that a credit note inherits from its invoice: what was sold, where, and under which agreement. */
const inheritedNames = [
  'projectReference',
  'contractReference',
  'salesOrderReference',
  'tenderReference',
  'invoicedObject',
  'buyerAccountingReference',
  'taxRepresentative',
  'delivery',
] as const;

const documentTermNames = [
  ...inheritedNames,
  'typeCode',
  'taxPointCode',
  'receivingAdviceReference',
  'despatchAdviceReference',
  'taxPointDate',
  'paymentTerms',
  'notes',
  'precedingInvoices',
  'payee',
  'payment',
  'supportingDocuments',
] as const;

/**
 * Returns the terms that a document shows in addition to the contract's members: its own, or else those of the invoice
 * it credits. Returns an empty object where there are none.
 * @param buyer the buyer, with the customer's terms or those that the document names.
 * @throws Refusal `invalid_change` for an unknown code, a wrong check digit, and a period that ends before it starts.
 */
export function keptTerms(
  composition: Composition,
  { kind, terms }: Pick<NewInvoice, 'kind' | 'terms'>,
  buyer: Invoice['buyer'] & CustomerUnpublished,
): { terms?: StoredTerms } {
  const { credited, path } = composition;
  if (terms) refuseBadTerms(kind, terms, `${path}/terms`);
  const inherited = pickDefined(credited?.unpublished.terms ?? {}, inheritedNames);
  const own = terms ? pickDefined(terms, documentTermNames) : inherited;
  const ofBuyer = pickDefined(derivedTerms(buyer), buyerTermNames);
  const kept: StoredTerms = {
    ...own,
    ...(Object.keys(ofBuyer).length > 0 && { buyer: ofBuyer }),
    ...lineTermsOf(composition),
    ...(buyer.peppol === true && { isPeppol: true }),
  };
  return Object.keys(kept).length > 0 ? { terms: kept } : {};
}

/** Returns a stored document's terms as a draft would give them. */
export function draftTermsOf(kept: StoredTerms | undefined): DocumentTerms {
  return pickDefined(kept ?? {}, documentTermNames);
}

/** Returns the terms of lines by line id; empty if no line has any. */
export function lineTermsOf({ lines, path }: Composition): Pick<StoredTerms, 'lines'> {
  const numbers = lines.map(({ lineNumber }, index) => lineNumber?.trim() ?? String(index + 1));
  const entries = lines.flatMap((line, index) => {
    const terms = pickDefined(line, lineTermNames);
    if (Object.keys(terms).length === 0) return [];
    const at = `${path}/lines/${index}`;
    refuseBadLineTerms(terms, line.vatCategory, at);
    if (terms.lineNumber !== undefined) refuseTwinNumber(numbers, index, at);
    return [[line.id, terms] as const];
  });
  return entries.length > 0 ? { lines: Object.fromEntries(entries) } : {};
}

/** EAS codes of VAT numbers, by the supplier's country. */
const vatSchemes: Partial<Record<string, string>> = { IE: '9935', GB: '9932' };

/**
 * Returns a party with its town and postcode, found in its address lines, and with its VAT number as electronic address
 * unless it has another.
 */
export function derivedTerms<T extends BuyerTerms & { addressLines?: string[]; vatId?: string | null }>(
  party: T,
): T {
  const place = pickDefined(townOf(party), ['town', 'region', 'postcode']);
  const scheme = vatSchemes[party.vatId?.slice(0, 2) ?? ''];
  const { electronicAddress = scheme && { scheme, id: party.vatId ?? '' } } = party;
  return { ...party, ...place, ...(electronicAddress && { electronicAddress }) };
}

interface Place {
  countryCode?: string;
}

type Party = Partial<Pick<Supplier, 'companyNumberScheme' | 'electronicAddress' | 'identifiers'>> &
  Place & { identifier?: PartyIdentifier; site?: Place | null; sites?: Place[] };

/** Returns the profile members that a change gives; null, by which a change removes a member, becomes undefined. */
export function namedProfile(named: { [Member in keyof Supplier]: Supplier[Member] | null }): Supplier {
  return Object.fromEntries(Object.entries(named).map(([member, value]) => [member, value ?? undefined]));
}

/** Refuses a party with an unknown country or scheme, or a wrong check digit. @throws Refusal `invalid_change`. */
export function refuseBadParty(party: Party, path: string): void {
  refuseBadPlace(party, path);
  refuseBadPlace(party.site ?? {}, `${path}/site`);
  party.sites?.forEach((site, index) => refuseBadPlace(site, `${path}/sites/${index}`));
  refuseUnknown(identifierSchemes, party.companyNumberScheme, 'ISO 6523', `${path}/companyNumberScheme`);
  refuseBadIdentifier(party.identifier, `${path}/identifier`);
  party.identifiers?.forEach((one, index) => refuseBadIdentifier(one, `${path}/identifiers/${index}`));
  refuseBadIdentifier(
    party.electronicAddress,
    `${path}/electronicAddress`,
    electronicAddressSchemes,
    'the EAS list',
  );
}

/** Refuses a country code that isn't valid in an e-invoice (BR-CL-14). @throws Refusal `invalid_change`. */
function refuseBadPlace({ countryCode }: Place, path: string): void {
  refuseUnknown(countryCodes, countryCode, 'ISO 3166-1', `${path}/countryCode`);
}

function refuseBadTerms(kind: Invoice['kind'], terms: DocumentTerms, path: string): void {
  const { invoicedObject, notes = [], payee, taxRepresentative, delivery, payment } = terms;
  refuseBadCodes(kind, terms, path);
  refuseDayOutside(terms.taxPointDate, `${path}/taxPointDate`);
  refuseDayOutside(delivery?.date, `${path}/delivery/date`);
  refuseBadIdentifier(invoicedObject, `${path}/invoicedObject`, objectSchemes, 'UNTDID 1153');
  for (const [index, { subjectCode }] of notes.entries())
    refuseUnknown(noteSubjectCodes, subjectCode, 'UNTDID 4451', `${path}/notes/${index}/subjectCode`);
  if (payee) refuseBadParty(payee, `${path}/payee`);
  refuseUnknown(
    vatPrefixes,
    taxRepresentative?.vatId.slice(0, 2),
    'prefixes of VAT numbers',
    `${path}/taxRepresentative/vatId`,
  );
  refuseBadPlace(taxRepresentative ?? {}, `${path}/taxRepresentative`);
  refuseBadPlace(delivery ?? {}, `${path}/delivery`);
  refuseBadIdentifier(delivery?.locationId, `${path}/delivery/locationId`);
  refuseUnknown(paymentMeansCodes, payment?.meansCode, 'UNTDID 4461', `${path}/payment/meansCode`);
}

function refuseBadCodes(kind: Invoice['kind'], terms: DocumentTerms, path: string): void {
  if (terms.typeCode !== undefined && kind !== 'invoice') {
    const message = `typeCode is ${terms.typeCode}; an invoice has one, and no other kind of document.`;
    throw new Refusal('invalid_change', message, `${path}/typeCode`);
  }
  if (terms.taxPointCode !== undefined && terms.taxPointDate !== undefined) {
    const message = 'taxPointCode and taxPointDate are both given; a document has one of them.';
    throw new Refusal('invalid_change', message, `${path}/taxPointCode`);
  }
}

/** Refuses a line number that an earlier line has (EN 16931 BT-126). */
function refuseTwinNumber(numbers: readonly string[], index: number, path: string): void {
  const twin = numbers.findIndex((number, other) => other !== index && number === numbers[index]);
  if (twin < 0) return;
  const message = `lineNumber is ${quote(numbers[index] ?? '')}, which is also that of line ${twin + 1}.`;
  throw new Refusal('invalid_change', message, `${path}/lineNumber`);
}

function refuseBadLineTerms(terms: LineTerms, vatCategory: string, path: string): void {
  const { supplyPeriod, invoicedObject, standardItemId, classifications = [], originCountryCode } = terms;
  refuseBackwards(supplyPeriod, path);
  refuseBadExemptionCode(terms.vatExemptionReasonCode, vatCategory, path);
  refuseBadIdentifier(invoicedObject, `${path}/invoicedObject`, objectSchemes, 'UNTDID 1153');
  refuseBadIdentifier(standardItemId, `${path}/standardItemId`);
  for (const [index, { scheme }] of classifications.entries())
    refuseUnknown(classificationSchemes, scheme, 'UNTDID 7143', `${path}/classifications/${index}/scheme`);
  refuseUnknown(countryCodes, originCountryCode, 'ISO 3166-1', `${path}/originCountryCode`);
}

/** Refuses a bad exemption code. Only category E has one: the codes of other categories follow from them (BT-121). */
export function refuseBadExemptionCode(code: string | undefined, vatCategory: string, path: string): void {
  const at = `${path}/vatExemptionReasonCode`;
  refuseUnknown(exemptionCodes, code, 'VATEX for category E', at);
  if (code === undefined || vatCategory === 'E') return;
  const message = `vatExemptionReasonCode is ${code}, and the category ${vatCategory}; category E has one.`;
  throw new Refusal('invalid_change', message, at);
}

function refuseUnknown(
  codes: ReadonlySet<string>,
  code: string | undefined,
  list: string,
  path: string,
): void {
  if (code === undefined || codes.has(code)) return;
  const message = `${nameAt(path)} is ${quote(code)}, which isn't a code of ${list}.`;
  throw new Refusal('invalid_change', message, path);
}

/** The ISO 6523 code of the GS1 identifier GLN and, below, of GTIN. */
const GLN = '0088';
const gs1 = {
  [GLN]: { name: 'GLN', digits: /^\d{13}$/ },
  '0160': { name: 'GTIN', digits: /^(\d{8}|\d{12,14})$/ },
};

function refuseBadIdentifier(
  identifier: PartyIdentifier | ElectronicAddress | undefined,
  path: string,
  codes = identifierSchemes,
  list = 'ISO 6523',
): void {
  if (!identifier) return;
  const { id, scheme = '' } = identifier;
  refuseUnknown(codes, identifier.scheme, list, `${path}/scheme`);
  const rule = gs1[scheme as keyof typeof gs1] as (typeof gs1)[typeof GLN] | undefined;
  if (!rule || (rule.digits.test(id) && hasCheckDigit(id))) return;
  const message = `${nameAt(path)} is ${quote(id)}, which doesn't have the digits or the check digit of a ${rule.name}.`;
  throw new Refusal('invalid_change', message, `${path}/id`);
}

/** Whether digits end in the right check digit: from the right, weights are 1 and 3 (GS1 General Specifications, 7.9). */
function hasCheckDigit(digits: string): boolean {
  const weighted = [...digits].reverse().map((digit, index) => Number(digit) * (index % 2 === 0 ? 1 : 3));
  return weighted.reduce((sum, value) => sum + value, 0) % 10 === 0;
}

/** Returns the name of the last member in a path, followed by its item's index if any. */
function nameAt(path: string): string {
  return /[^/]+(?:\/\d+)?$/.exec(path)?.[0] ?? path;
}
