import lists from './code-lists.json' with { type: 'json' };

/* The code lists of EN 16931 that a document's own codes have to be in (BR-CL-04, 14, 19, 20 and 23, BR-CO-09). */

/** ISO 4217, without codes that have been withdrawn or soon will be. */
export const currencyCodes: ReadonlySet<string> = new Set(lists.currencyCodes);

/** ISO 3166-1 alpha-2, with XI for Northern Ireland. */
export const countryCodes: ReadonlySet<string> = new Set(lists.countryCodes);

/** The prefixes of VAT numbers; Greece writes EL. */
export const vatPrefixes: ReadonlySet<string> = new Set([...lists.countryCodes, 'EL']);

/** Reasons of allowances with their names: the codes of UNTDID 5189 that EN 16931 takes. */
export const allowanceReasons: ReadonlyMap<string, string> = new Map(Object.entries(lists.allowanceReasons));

/** Reasons of charges: UNTDID 7161. Those that few have heard of have no name here. */
export const chargeReasons: ReadonlyMap<string, string> = new Map(Object.entries(lists.chargeReasons));

/** VATEX of the Union, reasons of exemptions (BR-CL-22). The codes of categories AE, K, G and O follow from these. */
export const exemptionCodes: ReadonlySet<string> = new Set(lists.exemptionCodes);

/** UN/ECE Recommendation 20, revision 11e, and 21: the packages, which begin with X. */
export const unitCodes: ReadonlySet<string> = new Set(lists.unitCodes);

/** ISO 6523: schemes of identifiers of parties, places and articles (BR-CL-10, BR-CL-11, BR-CL-21, BR-CL-26). */
export const identifierSchemes: ReadonlySet<string> = new Set(lists.identifierSchemes);

/** The EAS list: schemes of electronic addresses (BR-CL-25). */
export const electronicAddressSchemes: ReadonlySet<string> = new Set(lists.electronicAddressSchemes);

/** UNTDID 1153: schemes of the identifier of an object that is invoiced (BR-CL-07). */
export const objectSchemes: ReadonlySet<string> = new Set(lists.objectSchemes);

/** UNTDID 7143: schemes by which articles are classified (BR-CL-13). */
export const classificationSchemes: ReadonlySet<string> = new Set(lists.classificationSchemes);

/** UNTDID 4461: means of payment (BR-CL-16). */
export const paymentMeansCodes: ReadonlySet<string> = new Set(lists.paymentMeansCodes);

/** UNTDID 4451: subjects of notes (BR-CL-08). */
export const noteSubjectCodes: ReadonlySet<string> = new Set(lists.noteSubjectCodes);
