/**
 * The semantic model of an electronic invoice, EN 16931-1: its business groups (BG) and terms (BT), named as in the standard.
 * Texts are one line unless a term says otherwise, and never blank: an absent term is undefined. Days are `YYYY-MM-DD`.
 * Amounts, quantities and rates are decimal texts; amounts have as many decimals as their currency.
 */
export interface EInvoice {
  /** Invoice number (BT-1). */
  number: string;
  /** Invoice issue date (BT-2). */
  issueDate: string;
  /** Invoice type code (BT-3), from UNTDID 1001. */
  typeCode: string;
  /** Invoice currency code (BT-5). */
  currency: string;
  /** VAT accounting currency (BT-6), which differs from BT-5 (BR-53), with its VAT (BT-111). */
  vatAccounting?: { currency: string; totalVat: string } | undefined;
  /** Day on which VAT becomes chargeable (BT-7). Excludes BT-8 (BR-CO-03). */
  vatPointDate?: string | undefined;
  /** Code of the date on which VAT becomes chargeable (BT-8), from UNTDID 2005. */
  vatPointDateCode?: string | undefined;
  /** Payment due date (BT-9). */
  paymentDueDate?: string | undefined;
  /** Buyer reference (BT-10). */
  buyerReference?: string | undefined;
  /** Project reference (BT-11). */
  projectReference?: string | undefined;
  /** Contract reference (BT-12). */
  contractReference?: string | undefined;
  /** Purchase order reference (BT-13). */
  purchaseOrderReference?: string | undefined;
  /** Sales order reference (BT-14). */
  salesOrderReference?: string | undefined;
  /** Receiving advice reference (BT-15). */
  receivingAdviceReference?: string | undefined;
  /** Despatch advice reference (BT-16). */
  despatchAdviceReference?: string | undefined;
  /** Tender or lot reference (BT-17). */
  tenderReference?: string | undefined;
  /** Invoiced object identifier (BT-18), with a scheme from UNTDID 1153. */
  invoicedObject?: Identifier | undefined;
  /** Buyer accounting reference (BT-19). */
  buyerAccountingReference?: string | undefined;
  /** Payment terms (BT-20), of any number of lines. */
  paymentTerms?: string | undefined;
  /** Invoice notes (BG-1). */
  notes: readonly Note[];
  /** Preceding invoice references (BG-3). */
  precedingInvoices: readonly PrecedingInvoice[];
  /** Seller (BG-4). */
  seller: Party;
  /** Buyer (BG-7). */
  buyer: Party;
  /** Payee (BG-10), if it isn't the seller. */
  payee?: Payee | undefined;
  /** Seller's tax representative (BG-11). */
  taxRepresentative?: Pick<Party, 'name' | 'vatId' | 'address'> | undefined;
  /** Delivery information (BG-13). */
  delivery: Delivery;
  /** Invoicing period (BG-14). */
  invoicingPeriod?: Period | undefined;
  /** Payment instructions (BG-16); absent if there is nothing to pay by them. */
  payment?: PaymentInstructions | undefined;
  /** Document-level allowances (BG-20) and charges (BG-21). */
  allowanceCharges: readonly DocumentAllowanceCharge[];
  /** Document totals (BG-22). */
  totals: Totals;
  /** VAT breakdown (BG-23). */
  vatBreakdown: readonly VatBreakdown[];
  /** Additional supporting documents (BG-24). */
  supportingDocuments: readonly SupportingDocument[];
  /** Invoice lines (BG-25). */
  lines: readonly Line[];
}

/** An identifier with its scheme, an ISO 6523 code unless the term says otherwise. */
export interface Identifier {
  id: string;
  scheme?: string | undefined;
}

export interface Note {
  /** Subject code of the note (BT-21), from UNTDID 4451. */
  subjectCode?: string | undefined;
  /** Text of the note (BT-22), of any number of lines. */
  text: string;
}

export interface PrecedingInvoice {
  /** Preceding invoice number (BT-25). */
  number: string;
  /** Preceding invoice issue date (BT-26). */
  issueDate?: string | undefined;
}

export interface SupportingDocument {
  /** Supporting document reference (BT-122). */
  reference: string;
  /** Supporting document description (BT-123). */
  description?: string | undefined;
  /** External document location (BT-124). */
  url?: string | undefined;
}

/** Seller (BG-4) or buyer (BG-7); members give their term for the seller first, then for the buyer. */
export interface Party {
  /** Legal name (BT-27, BT-44). */
  name: string;
  /** Trading name (BT-28, BT-45). */
  tradingName?: string | undefined;
  /** Identifiers (BT-29, BT-46); a buyer has one at most. */
  identifiers: readonly Identifier[];
  /** Legal registration identifier (BT-30, BT-47). */
  registration?: Identifier | undefined;
  /** VAT identifier (BT-31, BT-48). */
  vatId?: string | undefined;
  /** Tax registration identifier of a seller (BT-32). */
  taxNumber?: string | undefined;
  /** Additional legal information of a seller (BT-33). */
  legalText?: string | undefined;
  /** Electronic address (BT-34, BT-49), with a scheme from the EAS list. */
  electronicAddress?: Identifier | undefined;
  /** Postal address (BG-5, BG-8). */
  address: PostalAddress;
  /** Contact details (BG-6, BG-9: BT-41 to 43, BT-56 to 58). */
  contact: { name?: string | undefined; phone?: string | undefined; email?: string | undefined };
}

export interface Payee {
  /** Payee name (BT-59). */
  name: string;
  /** Payee identifier (BT-60). */
  identifier?: Identifier | undefined;
  /** Payee legal registration identifier (BT-61). */
  registration?: Identifier | undefined;
}

/** Postal address of a party or of the delivery (BG-5, BG-8, BG-12 or BG-15). */
export interface PostalAddress {
  /** First address line (BT-35, BT-50, BT-64, BT-75). */
  line1?: string | undefined;
  /** Second address line (BT-36, BT-51, BT-65, BT-76). */
  line2?: string | undefined;
  /** Third address line (BT-162 to BT-165). */
  line3?: string | undefined;
  /** City (BT-37, BT-52, BT-66, BT-77). */
  town?: string | undefined;
  /** Post code (BT-38, BT-53, BT-67, BT-78). */
  postcode?: string | undefined;
  /** Country subdivision, such as a county (BT-39, BT-54, BT-68, BT-79). */
  region?: string | undefined;
  /** Country code (BT-40, BT-55, BT-69, BT-80). */
  countryCode: string;
}

export interface Delivery {
  /** Deliver-to party name (BT-70). */
  name?: string | undefined;
  /** Deliver-to location identifier (BT-71). */
  locationId?: Identifier | undefined;
  /** Actual delivery date (BT-72). */
  date?: string | undefined;
  /** Deliver-to address (BG-15). */
  address?: PostalAddress | undefined;
}

/** Period of the invoice (BG-14: BT-73 and BT-74) or of a line (BG-26: BT-134 and BT-135). */
export interface Period {
  startDate?: string | undefined;
  endDate?: string | undefined;
}

export interface PaymentInstructions {
  /** Payment means type code (BT-81), from UNTDID 4461. */
  meansCode: string;
  /** Payment means text (BT-82). */
  meansText?: string | undefined;
  /** Remittance information (BT-83). */
  remittance?: string | undefined;
  /** Accounts to transfer the payment to (BG-17). */
  accounts: readonly CreditTransfer[];
  /** Payment card (BG-18): its primary account number (BT-87) and holder (BT-88). */
  card?: { number: string; holder?: string | undefined } | undefined;
  /** Direct debit (BG-19: BT-89 to BT-91). */
  directDebit?:
    | { mandate?: string | undefined; creditorId?: string | undefined; account?: string | undefined }
    | undefined;
}

export interface CreditTransfer {
  /** Payment account identifier (BT-84), without spaces. */
  id: string;
  /** Whether `id` is an IBAN. */
  isIban: boolean;
  /** Payment account name (BT-85). */
  name?: string | undefined;
  /** Payment service provider identifier (BT-86). */
  serviceProvider?: string | undefined;
}

/** Discount (BG-20 or BG-27) or charge (BG-21 or BG-28). */
export interface AllowanceCharge {
  isCharge: boolean;
  /** Amount without VAT (BT-92, BT-99, BT-136, BT-141). */
  amount: string;
  /** Base amount, to which the percentage applies (BT-93, BT-100, BT-137, BT-142). */
  base?: string | undefined;
  /** Percentage (BT-94, BT-101, BT-138, BT-143). */
  percent?: string | undefined;
  /** Reason in words (BT-97, BT-104, BT-139, BT-144). */
  reason?: string | undefined;
  /** Reason code (BT-98, BT-140 from UNTDID 5189; BT-105, BT-145 from UNTDID 7161). */
  reasonCode?: string | undefined;
}

/** Document-level discount or charge with its VAT (BT-95 and BT-96, BT-102 and BT-103). */
export interface DocumentAllowanceCharge extends AllowanceCharge, VatRate {}

export interface Totals {
  /** Sum of the lines' net amounts (BT-106). */
  lines: string;
  /** Sum of document-level allowances (BT-107). */
  allowances?: string | undefined;
  /** Sum of document-level charges (BT-108). */
  charges?: string | undefined;
  /** Total without VAT (BT-109). */
  withoutVat: string;
  /** Total VAT (BT-110). */
  vat: string;
  /** Total with VAT (BT-112). */
  withVat: string;
  /** Amount already paid (BT-113). */
  prepaid?: string | undefined;
  /** Rounding amount (BT-114). */
  rounding?: string | undefined;
  /** Amount due for payment (BT-115). */
  due: string;
}

export interface VatBreakdown extends VatRate {
  /** Taxable amount of the category (BT-116). */
  taxable: string;
  /** VAT of the category (BT-117). */
  vat: string;
  /** VAT exemption reason text (BT-120). */
  exemptionReason?: string | undefined;
  /** VAT exemption reason code (BT-121), from the VATEX list. */
  exemptionReasonCode?: string | undefined;
}

interface VatRate {
  /** VAT category code (BT-95, BT-102, BT-118, BT-151), from UNCL 5305. */
  category: string;
  /** VAT rate in per cent (BT-96, BT-103, BT-119, BT-152); none, not even zero, outside the scope of VAT (BR-O-05). */
  rate?: string | undefined;
}

export interface Line extends VatRate {
  /** Invoice line identifier (BT-126). */
  id: string;
  /** Note on the line (BT-127), of any number of lines of text. */
  note?: string | undefined;
  /** Object identifier of the line (BT-128), with a scheme from UNTDID 1153. */
  invoicedObject?: Identifier | undefined;
  /** Invoiced quantity (BT-129). */
  quantity: string;
  /** Unit of measure code (BT-130), from UN/ECE Recommendations 20 and 21. */
  unitCode: string;
  /** Net amount of the line (BT-131). */
  net: string;
  /** Purchase order line reference (BT-132). */
  orderLineReference?: string | undefined;
  /** Buyer accounting reference of the line (BT-133). */
  buyerAccountingReference?: string | undefined;
  /** Invoice line period (BG-26). */
  period?: Period | undefined;
  /** Allowances (BG-27) and charges (BG-28) of the line. */
  allowanceCharges: readonly AllowanceCharge[];
  /** Item net price (BT-146), with as many decimals as it takes. */
  netPrice: string;
  /** Item price discount (BT-147), and the price before it (BT-148). */
  priceDiscount?: { amount: string; grossPrice: string } | undefined;
  /** Quantity that the price is for (BT-149), in the unit of the invoiced quantity (BT-150). */
  priceBaseQuantity?: string | undefined;
  /** Item name (BT-153). */
  itemName: string;
  /** Item description (BT-154), of any number of lines. */
  itemDescription?: string | undefined;
  /** Seller's item identifier (BT-155). */
  sellerItemId?: string | undefined;
  /** Buyer's item identifier (BT-156). */
  buyerItemId?: string | undefined;
  /** Standard item identifier (BT-157). */
  standardItemId?: Identifier | undefined;
  /** Item classification codes (BT-158), with a scheme from UNTDID 7143. */
  classifications: readonly { code: string; scheme: string; version?: string | undefined }[];
  /** Country of origin of the item (BT-159). */
  originCountryCode?: string | undefined;
  /** Item attributes (BG-32). */
  attributes: readonly { name: string; value: string }[];
}
