import type { EInvoice, Identifier, PrecedingInvoice, SupportingDocument } from './model.ts';
import { element, leaf, optionalElement, optionalLeaf } from './xml-text.ts';

/** BT-13 and BT-14. UBL has no order of the seller's without one of the buyer's, which says NA then. */
export function orderReference({
  purchaseOrderReference,
  salesOrderReference,
}: EInvoice): string | undefined {
  if (purchaseOrderReference === undefined && salesOrderReference === undefined) return undefined;
  return element(
    'cac:OrderReference',
    leaf('cbc:ID', purchaseOrderReference ?? 'NA'),
    optionalLeaf('cbc:SalesOrderID', salesOrderReference),
  );
}

/** Kinds of referenced documents, from UNTDID 1001. */
const OBJECT = '130';
const PROJECT = '50';

/** References to documents in the order of each schema. A credit note has the project as one of them. */
export function references(invoice: EInvoice, isCreditNote: boolean): (string | undefined)[] {
  const tender = reference('cac:OriginatorDocumentReference', invoice.tenderReference);
  const { projectReference: project } = invoice;
  return [
    reference('cac:DespatchDocumentReference', invoice.despatchAdviceReference),
    reference('cac:ReceiptDocumentReference', invoice.receivingAdviceReference),
    isCreditNote ? undefined : tender,
    reference('cac:ContractDocumentReference', invoice.contractReference),
    objectReference('cac:AdditionalDocumentReference', invoice.invoicedObject),
    isCreditNote && project
      ? element(
          'cac:AdditionalDocumentReference',
          leaf('cbc:ID', project),
          leaf('cbc:DocumentTypeCode', PROJECT),
        )
      : undefined,
    ...invoice.supportingDocuments.map(supportingDocument),
    isCreditNote ? tender : reference('cac:ProjectReference', project),
  ];
}

function reference(name: string, id: string | undefined): string | undefined {
  return optionalElement(name, optionalLeaf('cbc:ID', id));
}

/** BT-18, BT-128. */
export function objectReference(name: string, object: Identifier | undefined): string | undefined {
  return (
    object &&
    element(
      name,
      leaf('cbc:ID', object.id, { schemeID: object.scheme }),
      leaf('cbc:DocumentTypeCode', OBJECT),
    )
  );
}

function supportingDocument({ reference: id, description, url }: SupportingDocument): string {
  return element(
    'cac:AdditionalDocumentReference',
    leaf('cbc:ID', id),
    optionalLeaf('cbc:DocumentDescription', description),
    url && element('cac:Attachment', element('cac:ExternalReference', leaf('cbc:URI', url))),
  );
}

export function billingReference({ number, issueDate }: PrecedingInvoice): string {
  return element(
    'cac:BillingReference',
    element('cac:InvoiceDocumentReference', leaf('cbc:ID', number), optionalLeaf('cbc:IssueDate', issueDate)),
  );
}
