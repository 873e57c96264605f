import type { EInvoice, Line, PaymentInstructions } from './model.ts';
import { peppolProblems } from './peppol.ts';
import { groupPerItem, type TermGroup, type Rows, groupOf, xmlText } from './rows.ts';
import { accountingParty, ublAllowanceCharge, creditor, ublAddress, VAT_SCHEME } from './ubl-groups.ts';

/** Specification identifiers (BT-24) of EN 16931 and of Peppol BIS Billing 3, and Peppol's business process (BT-23). */
const CUSTOMIZATION = 'urn:cen.eu:en16931:2017';
const PEPPOL_CUSTOMIZATION = `${CUSTOMIZATION}#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0`;
const PEPPOL_PROFILE = 'urn:fdc:peppol.eu:2017:poacc:billing:01:1.0';

/** The invoice type code (BT-3) of a credit note. */
const CREDIT_NOTE = '381';

/** Document type codes of the documents that an invoice can refer to, from UNTDID 1001. */
const OBJECT = '130';
const PROJECT = '50';

const SCHEMAS = 'urn:oasis:names:specification:ubl:schema:xsd:';

/**
 * Returns the XML text of an e-invoice as UBL 2.1 in the syntax binding of EN 16931 (CEN/TS 16931-3-2), and as Peppol BIS
 * Billing 3 where it meets Peppol's rules. A credit note has its own schema.
 */
export function ublText(invoice: EInvoice): string {
  const isCreditNote = invoice.typeCode === CREDIT_NOTE;
  const root = isCreditNote ? 'CreditNote' : 'Invoice';
  const namespaces = {
    xmlns: `${SCHEMAS}${root}-2`,
    'xmlns:cac': `${SCHEMAS}CommonAggregateComponents-2`,
    'xmlns:cbc': `${SCHEMAS}CommonBasicComponents-2`,
  };
  const rows = [
    ...heading(invoice, isCreditNote),
    ...references(invoice, isCreditNote),
    ...parties(invoice),
    ...settlement(invoice),
    groupPerItem(`cac:${root}Line`, invoice.lines, (line) => lineItem(line, isCreditNote)),
  ];
  const inCurrency = { currencyID: invoice.currency };
  return xmlText(root, namespaces, rows, (name) => (name.endsWith('Amount') ? inCurrency : {}));
}

function heading(invoice: EInvoice, isCreditNote: boolean): Rows {
  const { vatPointDate } = invoice;
  const isPeppol = peppolProblems(invoice).length === 0;
  const notes = invoice.notes.map(({ subjectCode, text }) =>
    subjectCode === undefined ? text : `#${subjectCode}#${text}`,
  );
  return [
    ['BT-24', 'cbc:CustomizationID', isPeppol ? PEPPOL_CUSTOMIZATION : CUSTOMIZATION],
    ['BT-23', 'cbc:ProfileID', isPeppol ? PEPPOL_PROFILE : undefined],
    ['BT-1', 'cbc:ID', invoice.number],
    ['BT-2', 'cbc:IssueDate', invoice.issueDate],
    ['BT-7', 'cbc:TaxPointDate', isCreditNote ? vatPointDate : undefined],
    ['BT-9', 'cbc:DueDate', isCreditNote ? undefined : invoice.paymentDueDate],
    ['BT-3', isCreditNote ? 'cbc:CreditNoteTypeCode' : 'cbc:InvoiceTypeCode', invoice.typeCode],
    // Peppol allows only one note (PEPPOL-EN16931-R002).
    ['BT-21, 22', 'cbc:Note', isPeppol && notes.length > 0 ? notes.join('\n') : notes],
    ['BT-7', 'cbc:TaxPointDate', isCreditNote ? undefined : vatPointDate],
    ['BT-5', 'cbc:DocumentCurrencyCode', invoice.currency],
    ['BT-6', 'cbc:TaxCurrencyCode', invoice.vatAccounting?.currency],
    ['BT-19', 'cbc:AccountingCost', invoice.buyerAccountingReference],
    ['BT-10', 'cbc:BuyerReference', invoice.buyerReference],
    groupOf('cac:InvoicePeriod', [
      ['BT-73', 'cbc:StartDate', invoice.invoicingPeriod?.startDate],
      ['BT-74', 'cbc:EndDate', invoice.invoicingPeriod?.endDate],
      ['BT-8', 'cbc:DescriptionCode', invoice.vatPointDateCode],
    ]),
  ];
}

/** Returns the XML rows of references to other documents, in the schema's order. A credit note's project is one of them. */
function references(invoice: EInvoice, isCreditNote: boolean): Rows {
  const { purchaseOrderReference: order, tenderReference: tender, projectReference: project } = invoice;
  return [
    groupOf('cac:OrderReference', [
      ['BT-13', 'cbc:ID', order],
      // UBL requires the buyer's order where there is a seller's order.
      ['-', 'cbc:ID', order === undefined ? 'NA' : undefined],
      ['BT-14', 'cbc:SalesOrderID', invoice.salesOrderReference],
    ]),
    groupPerItem(
      'cac:BillingReference/cac:InvoiceDocumentReference',
      invoice.precedingInvoices,
      (preceding) => [
        ['BT-25', 'cbc:ID', preceding.number],
        ['BT-26', 'cbc:IssueDate', preceding.issueDate],
      ],
    ),
    ['BT-16', 'cac:DespatchDocumentReference/cbc:ID', invoice.despatchAdviceReference],
    ['BT-15', 'cac:ReceiptDocumentReference/cbc:ID', invoice.receivingAdviceReference],
    ['BT-17', 'cac:OriginatorDocumentReference/cbc:ID', isCreditNote ? undefined : tender],
    ['BT-12', 'cac:ContractDocumentReference/cbc:ID', invoice.contractReference],
    groupOf('cac:AdditionalDocumentReference', [
      ['BT-18', 'cbc:ID', invoice.invoicedObject],
      ['-', 'cbc:DocumentTypeCode', OBJECT],
    ]),
    groupOf('cac:AdditionalDocumentReference', [
      ['BT-11', 'cbc:ID', isCreditNote ? project : undefined],
      ['-', 'cbc:DocumentTypeCode', PROJECT],
    ]),
    groupPerItem('cac:AdditionalDocumentReference', invoice.supportingDocuments, (supporting) => [
      ['BT-122', 'cbc:ID', supporting.reference],
      ['BT-123', 'cbc:DocumentDescription', supporting.description],
      ['BT-124', 'cac:Attachment/cac:ExternalReference/cbc:URI', supporting.url],
    ]),
    ['BT-11', 'cac:ProjectReference/cbc:ID', isCreditNote ? undefined : project],
    ['BT-17', 'cac:OriginatorDocumentReference/cbc:ID', isCreditNote ? tender : undefined],
  ];
}

function parties({ seller, buyer, payee, taxRepresentative, payment, delivery }: EInvoice): Rows {
  const creditorId = payment?.directDebit?.creditorId;
  return [
    groupOf('cac:AccountingSupplierParty/cac:Party', accountingParty(seller, payee ? undefined : creditorId)),
    groupOf('cac:AccountingCustomerParty/cac:Party', accountingParty(buyer)),
    groupOf('cac:PayeeParty', [
      ['BT-60', 'cac:PartyIdentification/cbc:ID', payee?.identifier],
      ['BT-90', 'cac:PartyIdentification/cbc:ID', payee && creditor(creditorId)],
      ['BT-59', 'cac:PartyName/cbc:Name', payee?.name],
      ['BT-61', 'cac:PartyLegalEntity/cbc:CompanyID', payee?.registration],
    ]),
    groupOf('cac:TaxRepresentativeParty', [
      ['BT-62', 'cac:PartyName/cbc:Name', taxRepresentative?.name],
      groupOf('cac:PostalAddress', taxRepresentative && ublAddress(taxRepresentative.address)),
      groupOf('cac:PartyTaxScheme', [['BT-63', 'cbc:CompanyID', taxRepresentative?.vatId], VAT_SCHEME]),
    ]),
    groupOf('cac:Delivery', [
      ['BT-72', 'cbc:ActualDeliveryDate', delivery.date],
      groupOf('cac:DeliveryLocation', [
        ['BT-71', 'cbc:ID', delivery.locationId],
        groupOf('cac:Address', delivery.address && ublAddress(delivery.address)),
      ]),
      ['BT-70', 'cac:DeliveryParty/cac:PartyName/cbc:Name', delivery.name],
    ]),
  ];
}

/** Returns the XML rows of the amounts due and the payment details. */
function settlement(invoice: EInvoice): Rows {
  const { payment, totals } = invoice;
  const { totalVat, currency: currencyID } = invoice.vatAccounting ?? {};
  return [
    ...(payment ? [paymentMeans(payment)] : []),
    ['BT-20', 'cac:PaymentTerms/cbc:Note', invoice.paymentTerms],
    groupPerItem('cac:AllowanceCharge', invoice.allowanceCharges, ublAllowanceCharge),
    groupOf('cac:TaxTotal', [
      ['BT-110', 'cbc:TaxAmount', totals.vat],
      groupPerItem('cac:TaxSubtotal', invoice.vatBreakdown, (item) => [
        ['BT-116', 'cbc:TaxableAmount', item.taxable],
        ['BT-117', 'cbc:TaxAmount', item.vat],
        groupOf('cac:TaxCategory', [
          ['BT-118', 'cbc:ID', item.category],
          ['BT-119', 'cbc:Percent', item.rate],
          ['BT-121', 'cbc:TaxExemptionReasonCode', item.exemptionReasonCode],
          ['BT-120', 'cbc:TaxExemptionReason', item.exemptionReason],
          VAT_SCHEME,
        ]),
      ]),
    ]),
    ['BT-111', 'cac:TaxTotal/cbc:TaxAmount', totalVat, { currencyID }],
    groupOf('cac:LegalMonetaryTotal', [
      ['BT-106', 'cbc:LineExtensionAmount', totals.lines],
      ['BT-109', 'cbc:TaxExclusiveAmount', totals.withoutVat],
      ['BT-112', 'cbc:TaxInclusiveAmount', totals.withVat],
      ['BT-107', 'cbc:AllowanceTotalAmount', totals.allowances],
      ['BT-108', 'cbc:ChargeTotalAmount', totals.charges],
      ['BT-113', 'cbc:PrepaidAmount', totals.prepaid],
      ['BT-114', 'cbc:PayableRoundingAmount', totals.rounding],
      ['BT-115', 'cbc:PayableAmount', totals.due],
    ]),
  ];
}

/** Returns a group for each account (BG-17); the first also has text, card (BG-18) and direct debit (BG-19, UBL-SR-55). */
function paymentMeans(payment: PaymentInstructions): TermGroup {
  const accounts = payment.accounts.length > 0 ? payment.accounts : [undefined];
  return groupPerItem('cac:PaymentMeans', accounts, (account, index) => {
    const { meansText, card, directDebit } = index === 0 ? payment : {};
    return [
      ['BT-81, 82', 'cbc:PaymentMeansCode', payment.meansCode, { name: meansText }],
      ['BT-83', 'cbc:PaymentID', payment.remittance],
      groupOf('cac:CardAccount', [
        ['BT-87', 'cbc:PrimaryAccountNumberID', card?.number],
        // The schema requires it, but the standard has no term for it.
        ['-', 'cbc:NetworkID', 'NA'],
        ['BT-88', 'cbc:HolderName', card?.holder],
      ]),
      groupOf('cac:PayeeFinancialAccount', [
        ['BT-84', 'cbc:ID', account?.id],
        ['BT-85', 'cbc:Name', account?.name],
        ['BT-86', 'cac:FinancialInstitutionBranch/cbc:ID', account?.serviceProvider],
      ]),
      groupOf('cac:PaymentMandate', [
        ['BT-89', 'cbc:ID', directDebit?.mandate],
        ['BT-91', 'cac:PayerFinancialAccount/cbc:ID', directDebit?.account],
      ]),
    ];
  });
}

/** Returns the XML rows of an invoice line (BG-25) with its item (BG-31). */
function lineItem(line: Line, isCreditNote: boolean): Rows {
  const { unitCode, priceDiscount } = line;
  return [
    ['BT-126', 'cbc:ID', line.id],
    ['BT-127', 'cbc:Note', line.note],
    ['BT-129, 130', `cbc:${isCreditNote ? 'Credited' : 'Invoiced'}Quantity`, line.quantity, { unitCode }],
    ['BT-131', 'cbc:LineExtensionAmount', line.net],
    ['BT-133', 'cbc:AccountingCost', line.buyerAccountingReference],
    groupOf('cac:InvoicePeriod', [
      ['BT-134', 'cbc:StartDate', line.period?.startDate],
      ['BT-135', 'cbc:EndDate', line.period?.endDate],
    ]),
    ['BT-132', 'cac:OrderLineReference/cbc:LineID', line.orderLineReference],
    groupOf('cac:DocumentReference', [
      ['BT-128', 'cbc:ID', line.invoicedObject],
      ['-', 'cbc:DocumentTypeCode', OBJECT],
    ]),
    groupPerItem('cac:AllowanceCharge', line.allowanceCharges, ublAllowanceCharge),
    groupOf('cac:Item', [
      ['BT-154', 'cbc:Description', line.itemDescription],
      ['BT-153', 'cbc:Name', line.itemName],
      ['BT-156', 'cac:BuyersItemIdentification/cbc:ID', line.buyerItemId],
      ['BT-155', 'cac:SellersItemIdentification/cbc:ID', line.sellerItemId],
      ['BT-157', 'cac:StandardItemIdentification/cbc:ID', line.standardItemId],
      ['BT-159', 'cac:OriginCountry/cbc:IdentificationCode', line.originCountryCode],
      groupPerItem('cac:CommodityClassification', line.classifications, ({ code, scheme, version }) => [
        ['BT-158', 'cbc:ItemClassificationCode', code, { listID: scheme, listVersionID: version }],
      ]),
      groupOf('cac:ClassifiedTaxCategory', [
        ['BT-151', 'cbc:ID', line.category],
        ['BT-152', 'cbc:Percent', line.rate],
        VAT_SCHEME,
      ]),
      groupPerItem('cac:AdditionalItemProperty', line.attributes, ({ name, value }) => [
        ['BT-160', 'cbc:Name', name],
        ['BT-161', 'cbc:Value', value],
      ]),
    ]),
    groupOf('cac:Price', [
      ['BT-146', 'cbc:PriceAmount', line.netPrice],
      ['BT-149, 150', 'cbc:BaseQuantity', line.priceBaseQuantity, { unitCode }],
      groupOf('cac:AllowanceCharge', [
        ['-', 'cbc:ChargeIndicator', 'false'],
        ['BT-147', 'cbc:Amount', priceDiscount?.amount],
        ['BT-148', 'cbc:BaseAmount', priceDiscount?.grossPrice],
      ]),
    ]),
  ];
}
