/**
 * The semantic model of an electronic invoice, EN 16931-1: its business groups (BG) and terms (BT), named as in the standard.
 * Texts are one line unless a term says otherwise, and never blank: an absent term is undefined. Days are `YYYY-MM-DD`.
 * Amounts, quantities and rates are decimal texts; amounts have as many decimals as their currency.
 */
export interface EInvoice {
  /** BT-1. */
  number: string;
  /** BT-2. */
  issueDate: string;
  /** BT-3, from UNTDID 1001. */
  typeCode: string;
  /** BT-5. */
  currency: string;
  /** BT-6, which differs from BT-5 (BR-53), with its VAT (BT-111). */
  vatAccounting?: { currency: string; totalVat: string } | undefined;
  /** BT-7: the day on which VAT becomes chargeable. Excludes BT-8 (BR-CO-03). */
  vatPointDate?: string | undefined;
  /** BT-8, from UNTDID 2005: the code of the date on which VAT becomes chargeable. */
  vatPointDateCode?: string | undefined;
  /** BT-9. */
  paymentDueDate?: string | undefined;
  /** BT-10. */
  buyerReference?: string | undefined;
  /** BT-11. */
  projectReference?: string | undefined;
  /** BT-12. */
  contractReference?: string | undefined;
  /** BT-13. */
  purchaseOrderReference?: string | undefined;
  /** BT-14. */
  salesOrderReference?: string | undefined;
  /** BT-15. */
  receivingAdviceReference?: string | undefined;
  /** BT-16. */
  despatchAdviceReference?: string | undefined;
  /** BT-17. */
  tenderReference?: string | undefined;
  /** BT-18, with a scheme from UNTDID 1153. */
  invoicedObject?: Identifier | undefined;
  /** BT-19. */
  buyerAccountingReference?: string | undefined;
  /** BT-20, of any number of lines. */
  paymentTerms?: string | undefined;
  /** BG-1. */
  notes: readonly Note[];
  /** BG-3. */
  precedingInvoices: readonly PrecedingInvoice[];
  /** BG-4. */
  seller: Party;
  /** BG-7. */
  buyer: Party;
  /** BG-10. */
  payee?: Payee | undefined;
  /** BG-11. */
  taxRepresentative?: Pick<Party, 'name' | 'vatId' | 'address'> | undefined;
  /** BG-13. */
  delivery: Delivery;
  /** BG-14. */
  invoicingPeriod?: Period | undefined;
  /** BG-16. */
  payment?: PaymentInstructions | undefined;
  /** BG-20 and BG-21. */
  allowanceCharges: readonly DocumentAllowanceCharge[];
  /** BG-22. */
  totals: Totals;
  /** BG-23. */
  vatBreakdown: readonly VatBreakdown[];
  /** BG-24. */
  supportingDocuments: readonly SupportingDocument[];
  /** BG-25. */
  lines: readonly Line[];
}

/** An identifier, with its scheme: an ISO 6523 code unless its term says otherwise. */
export interface Identifier {
  id: string;
  scheme?: string | undefined;
}

export interface Note {
  /** BT-21, from UNTDID 4451. */
  subjectCode?: string | undefined;
  /** BT-22, of any number of lines. */
  text: string;
}

export interface PrecedingInvoice {
  /** BT-25. */
  number: string;
  /** BT-26. */
  issueDate?: string | undefined;
}

export interface SupportingDocument {
  /** BT-122. */
  reference: string;
  /** BT-123. */
  description?: string | undefined;
  /** BT-124. */
  url?: string | undefined;
}

/** BG-4 or BG-7; members give their term for the seller first, then for the buyer. */
export interface Party {
  /** BT-27, BT-44. */
  name: string;
  /** BT-28, BT-45. */
  tradingName?: string | undefined;
  /** BT-29, BT-46; a buyer has one at most. */
  identifiers: readonly Identifier[];
  /** BT-30, BT-47. */
  registration?: Identifier | undefined;
  /** BT-31, BT-48. */
  vatId?: string | undefined;
  /** BT-32, of a seller. */
  taxNumber?: string | undefined;
  /** BT-33, of a seller. */
  legalText?: string | undefined;
  /** BT-34, BT-49, with a scheme from the EAS list. */
  electronicAddress?: Identifier | undefined;
  /** BG-5, BG-8. */
  address: PostalAddress;
  /** BG-6, BG-9: BT-41 to 43, BT-56 to 58. */
  contact: { name?: string | undefined; phone?: string | undefined; email?: string | undefined };
}

export interface Payee {
  /** BT-59. */
  name: string;
  /** BT-60. */
  identifier?: Identifier | undefined;
  /** BT-61. */
  registration?: Identifier | undefined;
}

/** BG-5, BG-8, BG-12 or BG-15. */
export interface PostalAddress {
  /** BT-35, BT-50, BT-64, BT-75. */
  line1?: string | undefined;
  /** BT-36, BT-51, BT-65, BT-76. */
  line2?: string | undefined;
  /** BT-162 to BT-165. */
  line3?: string | undefined;
  /** BT-37, BT-52, BT-66, BT-77. */
  town?: string | undefined;
  /** BT-38, BT-53, BT-67, BT-78. */
  postcode?: string | undefined;
  /** BT-39, BT-54, BT-68, BT-79. */
  region?: string | undefined;
  /** BT-40, BT-55, BT-69, BT-80. */
  countryCode: string;
}

export interface Delivery {
  /** BT-70. */
  name?: string | undefined;
  /** BT-71. */
  locationId?: Identifier | undefined;
  /** BT-72. */
  date?: string | undefined;
  /** BG-15. */
  address?: PostalAddress | undefined;
}

/** BG-14 (BT-73 and BT-74) or BG-26 (BT-134 and BT-135). */
export interface Period {
  startDate?: string | undefined;
  endDate?: string | undefined;
}

export interface PaymentInstructions {
  /** BT-81, from UNTDID 4461. */
  meansCode: string;
  /** BT-82. */
  meansText?: string | undefined;
  /** BT-83. */
  remittance?: string | undefined;
  /** BG-17. */
  accounts: readonly CreditTransfer[];
  /** BG-18: BT-87, BT-88. */
  card?: { number: string; holder?: string | undefined } | undefined;
  /** BG-19: BT-89 to BT-91. */
  directDebit?:
    | { mandate?: string | undefined; creditorId?: string | undefined; account?: string | undefined }
    | undefined;
}

export interface CreditTransfer {
  /** BT-84, without spaces. */
  id: string;
  /** Whether `id` is an IBAN. */
  isIban: boolean;
  /** BT-85. */
  name?: string | undefined;
  /** BT-86. */
  serviceProvider?: string | undefined;
}

/** BG-20 or BG-27 for a discount, BG-21 or BG-28 for a charge. */
export interface AllowanceCharge {
  isCharge: boolean;
  /** BT-92, BT-99, BT-136, BT-141. */
  amount: string;
  /** BT-93, BT-100, BT-137, BT-142. */
  base?: string | undefined;
  /** BT-94, BT-101, BT-138, BT-143. */
  percent?: string | undefined;
  /** BT-97, BT-104, BT-139, BT-144. */
  reason?: string | undefined;
  /** BT-98, BT-140 from UNTDID 5189; BT-105, BT-145 from UNTDID 7161. */
  reasonCode?: string | undefined;
}

/** A document's discount or charge with its VAT: BT-95 and BT-96, BT-102 and BT-103. */
export interface DocumentAllowanceCharge extends AllowanceCharge, VatRate {}

export interface Totals {
  /** BT-106. */
  lines: string;
  /** BT-107. */
  allowances?: string | undefined;
  /** BT-108. */
  charges?: string | undefined;
  /** BT-109. */
  withoutVat: string;
  /** BT-110. */
  vat: string;
  /** BT-112. */
  withVat: string;
  /** BT-113. */
  prepaid?: string | undefined;
  /** BT-114. */
  rounding?: string | undefined;
  /** BT-115. */
  due: string;
}

export interface VatBreakdown extends VatRate {
  /** BT-116. */
  taxable: string;
  /** BT-117. */
  vat: string;
  /** BT-120. */
  exemptionReason?: string | undefined;
  /** BT-121, from the VATEX list. */
  exemptionReasonCode?: string | undefined;
}

interface VatRate {
  /** BT-95, BT-102, BT-118, BT-151, from UNCL 5305. */
  category: string;
  /** BT-96, BT-103, BT-119, BT-152, in per cent. A supply outside the scope of VAT has none, not even zero (BR-O-05). */
  rate?: string | undefined;
}

export interface Line extends VatRate {
  /** BT-126. */
  id: string;
  /** BT-127, of any number of lines. */
  note?: string | undefined;
  /** BT-128, with a scheme from UNTDID 1153. */
  invoicedObject?: Identifier | undefined;
  /** BT-129. */
  quantity: string;
  /** BT-130, from UN/ECE Recommendations 20 and 21. */
  unitCode: string;
  /** BT-131. */
  net: string;
  /** BT-132. */
  orderLineReference?: string | undefined;
  /** BT-133. */
  buyerAccountingReference?: string | undefined;
  /** BG-26. */
  period?: Period | undefined;
  /** BG-27 and BG-28. */
  allowanceCharges: readonly AllowanceCharge[];
  /** BT-146, with as many decimals as it takes. */
  netPrice: string;
  /** BT-147, and the price before it, BT-148. */
  priceDiscount?: { amount: string; grossPrice: string } | undefined;
  /** BT-149, in the unit of the quantity (BT-150). */
  priceBaseQuantity?: string | undefined;
  /** BT-153. */
  itemName: string;
  /** BT-154, of any number of lines. */
  itemDescription?: string | undefined;
  /** BT-155. */
  sellerItemId?: string | undefined;
  /** BT-156. */
  buyerItemId?: string | undefined;
  /** BT-157. */
  standardItemId?: Identifier | undefined;
  /** BT-158, with a scheme from UNTDID 7143. */
  classifications: readonly { code: string; scheme: string; version?: string | undefined }[];
  /** BT-159. */
  originCountryCode?: string | undefined;
  /** BG-32. */
  attributes: readonly { name: string; value: string }[];
}
