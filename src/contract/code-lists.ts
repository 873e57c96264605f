import lists from './code-lists.json' with { type: 'json' };

/* Code lists of EN 16931 that limit the codes in a document (BR-CL-04, 14, 19, 20 and 23, BR-CO-09). */

/** Currency codes of ISO 4217, except those withdrawn or about to be. */
export const currencyCodes: ReadonlySet<string> = new Set(lists.currencyCodes);

/** Country codes of ISO 3166-1 alpha-2, plus XI for Northern Ireland. */
export const countryCodes: ReadonlySet<string> = new Set(lists.countryCodes);

/** VAT number prefixes: the country codes, plus EL for Greece. */
export const vatPrefixes: ReadonlySet<string> = new Set([...lists.countryCodes, 'EL']);

/** Names of the reasons for an allowance, by code: the part of UNTDID 5189 that EN 16931 accepts. */
export const allowanceReasons: ReadonlyMap<string, string> = new Map(Object.entries(lists.allowanceReasons));

/** Names of the reasons for a charge, by code of UNTDID 7161. Codes for obscure reasons are left out. */
export const chargeReasons: ReadonlyMap<string, string> = new Map(Object.entries(lists.chargeReasons));

/** VATEX codes of the EU for exemptions (BR-CL-22), except those of categories AE, K, G and O, which have one code each. */
export const exemptionCodes: ReadonlySet<string> = new Set(lists.exemptionCodes);

/** Units of measure (UN/ECE Recommendation 20, revision 11e) and packages (Recommendation 21, codes beginning with X). */
export const unitCodes: ReadonlySet<string> = new Set(lists.unitCodes);

/** ISO 6523 identifier schemes for parties, places and items (BR-CL-10, BR-CL-11, BR-CL-21, BR-CL-26). */
export const identifierSchemes: ReadonlySet<string> = new Set(lists.identifierSchemes);

/** Electronic address schemes: the EAS code list (BR-CL-25). */
export const electronicAddressSchemes: ReadonlySet<string> = new Set(lists.electronicAddressSchemes);

/** Identifier schemes for invoiced objects: UNTDID 1153 (BR-CL-07). */
export const objectSchemes: ReadonlySet<string> = new Set(lists.objectSchemes);

/** Item classification schemes: UNTDID 7143 (BR-CL-13). */
export const classificationSchemes: ReadonlySet<string> = new Set(lists.classificationSchemes);

/** Codes for means of payment: UNTDID 4461 (BR-CL-16). */
export const paymentMeansCodes: ReadonlySet<string> = new Set(lists.paymentMeansCodes);

/** Codes for the subjects of notes: UNTDID 4451 (BR-CL-08). */
export const noteSubjectCodes: ReadonlySet<string> = new Set(lists.noteSubjectCodes);
