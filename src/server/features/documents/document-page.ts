import { companyDay } from '../../../contract/company-time.ts';
import { amountText } from '../../../contract/currencies.ts';
import type { Invoice } from '../../../contract/records.ts';
import { handOverAgain } from '../hand-over/again.ts';
import { entriesOf } from '../../printed-document/account.ts';
import { moneyFormat } from '../../printed-document/amounts.ts';
import type { Documents } from '../../invoice-pdf/documents.ts';
import { contentDisposition } from '../../invoice-pdf/file-name.ts';
import { linesOf } from '../../printed-document/lines.ts';
import type { PrintedDocument } from '../../printed-document/printed-document.ts';
import { findPrinted } from '../../invoice-pdf/printing.ts';
import { eInvoiceOf, findEInvoice, type StoredEInvoice } from '../../invoice-pdf/stored-e-invoice.ts';
import type { TextTable } from '../../printed-document/text-table.ts';
import { sumsOf } from '../../printed-document/sums.ts';
import { type VatTable, vatTablesOf } from '../../printed-document/vat-tables.ts';
import { hasStatement } from '../../printed-document/wording.ts';
import { action } from '../../views/action.ts';
import { withQuery } from '../../views/form.ts';
import { notFound } from '../../views/page-error.ts';
import { stateBadge } from './document-state.ts';
import { dayText, time, kindNames } from '../../views/formats.ts';
import { refuseWithoutDocuments } from '../../views/availability.ts';
import { type Content, type Html, html } from '../../views/html.ts';
import { amount, facts, named, table } from '../../views/table.ts';
import { type DownloadReply, file, page, type PortalPage, redirect, type Visit } from '../../views/visit.ts';
import { STATEMENT_PATH } from './customer-statement-page.ts';
import { searchBehind } from './documents-page.ts';
import { handOverPart } from '../hand-over/hand-overs-page.ts';

export const showDocument: PortalPage = async (visit, { engine }, problems = {}) => {
  refuseWithoutDocuments(visit);
  const found = await findPrinted(engine.db, visit.company.id, visit.params.id ?? '');
  if (!found) throw notFound();
  const { current: document, printed } = found;
  const { kind, number, id, note, customer, currency } = document;
  return page(
    `${kindNames[kind]} ${number ?? '(draft)'}`,
    html`<p>
        <a class="button" href="/portal/documents/${id}/pdf">Download the PDF</a>
        ${
          hasStatement(document) &&
          html`Statement as of today: <a href="/portal/documents/${id}/statement">this invoice</a>, or
            <a href="${withQuery(STATEMENT_PATH, { customer: customer.id, currency, format: 'pdf' })}"
              >all of ${customer.name}</a
            >`
        }
      </p>
      ${eInvoiceLinks(id, eInvoiceOf(printed))} ${facts(factsOf(visit, document))}
      ${note !== null && html`<p class="note">${note}</p>`}
      <h2>Lines</h2>
      ${textTable('Lines', linesOf(printed))}
      <h2>Totals</h2>
      ${totalsTable(printed)} ${vatTablesOf(printed).map(vatPart)} ${settlementOf(document)}
      ${await handOverPart(visit, engine, { id, problem: problems.form })}
      <p><a href="${searchBehind(visit)}">Back to the search</a></p>`,
    { section: 'documents' },
  );
};

/** Hands the document over to the access point again. */
export const handOneOver = action(showDocument, async (visit, { engine }) => {
  refuseWithoutDocuments(visit);
  const id = visit.params.id ?? '';
  await handOverAgain(engine, { ...visit.act, id });
  return redirect(`/portal/documents/${id}`, 'The document is being handed over again.');
});

function eInvoiceLinks(id: string, { absence, peppolProblems }: StoredEInvoice): Html {
  if (absence !== undefined) return html`<p>${absence}</p>`;
  const problems = peppolProblems();
  return html`<p>
    Download its e-invoice as <a href="/portal/documents/${id}/xml?format=ubl">UBL</a>, for networks such as
    Peppol, or as <a href="/portal/documents/${id}/xml?format=cii">CII</a>, as in the PDF.
    ${problems.length > 0 && `Can’t go by Peppol yet: ${problems.join(', ')}.`}
  </p>`;
}

/** Serves a document's e-invoice in the syntax that the URL names. */
export const downloadEInvoice: PortalPage = async (visit, { engine }) => {
  refuseWithoutDocuments(visit);
  const found = await findEInvoice(engine, visit.company.id, visit.params.id ?? '');
  const format = visit.query.get('format');
  if (!found || found.absence !== undefined || (format !== 'cii' && format !== 'ubl')) throw notFound();
  const disposition = contentDisposition(`${found.name}-${format}`, 'xml');
  return file('application/xml; charset=utf-8', disposition, Buffer.from(found.text(format)));
};

/** Serves the same PDF as the API, under the same name. */
export const downloadDocument: PortalPage = async (visit, { documents }) =>
  download(visit, documents, documents.prepare);

/** Serves a PDF of the invoice's payments, credits and balance as of today. */
export const downloadStatement: PortalPage = async (visit, { documents }) =>
  download(visit, documents, (found) =>
    documents.prepareStatement(found, companyDay(visit.company.timeZone, visit.now)),
  );

async function download(
  visit: Visit,
  { find }: Documents,
  prepare: Documents['prepare'],
): Promise<DownloadReply> {
  refuseWithoutDocuments(visit);
  const found = await find(visit.company.id, visit.params.id ?? '');
  const pdf = found && (await prepare(found));
  if (!pdf) throw notFound();
  return file('application/pdf', contentDisposition(pdf.name), await pdf.read());
}

function factsOf(visit: Visit, document: Invoice): [string, Content][] {
  const { customer, buyer, currency, creditedInvoice, amountDueMinor, creditBalanceMinor } = document;
  return [
    ['State', stateBadge(document, companyDay(visit.company.timeZone, visit.now))],
    [
      'Customer',
      html`<a href="/portal/documents?customer=${encodeURIComponent(customer.id)}">${customer.name}</a>
        <code>${customer.id}</code>`,
    ],
    ['Billed to', [buyer.legalName ?? buyer.name, ...buyer.addressLines].join(', ')],
    ['Issued', time(visit, document.issuedAt, 'Not yet')],
    ['Date', dayText(document.issueDate)],
    ['Due', dayText(document.dueDate)],
    ['Supplied', dayText(document.supplyDate)],
    ['Total', amountText(document.totals.grossMinor, currency)],
    ['Left to pay', amountDueMinor === undefined ? undefined : amountText(amountDueMinor, currency)],
    ['In credit', creditBalanceMinor ? amountText(creditBalanceMinor, currency) : undefined],
    ['Corrects', creditedInvoice && documentLink(creditedInvoice)],
    ['Id', html`<code>${document.id}</code>`],
  ];
}

function documentLink({ id, number }: { id: string; number: string | null }): Html {
  return html`<a href="/portal/documents/${id}">${number ?? 'a draft'}</a>`;
}

/** Renders a table of the PDF as HTML. */
function textTable(caption: string, { columns, rows }: TextTable): Html {
  return table({
    caption,
    columns: columns.map(({ head, align }, index) => {
      if (align === 'right') return amount(head);
      return index === 0 ? head : named(head);
    }),
    rows: rows.map((cells) => cells.map(inLines)),
  });
}

function inLines(text: string): Html {
  return html`${text.split('\n').map((line, index) => html`${index > 0 && html`<br />`}${line}`)}`;
}

function totalsTable(printed: PrintedDocument): Html {
  const { withSymbol } = moneyFormat(printed.record.currency);
  return table({
    caption: 'Totals',
    columns: ['Sum', amount('Amount')],
    rows: sumsOf(printed).map(([label, amountMinor]) => [label, withSymbol(amountMinor)]),
  });
}

function vatPart({ title, caption, ...texts }: VatTable): Html {
  return html`<h2>${title}</h2>
    ${caption !== '' && html`<p>${caption}</p>`} ${textTable(title, texts)}`;
}

function settlementOf(document: Invoice): Html {
  const rows = entriesOf(document);
  if (rows.length === 0) return html``;
  return html`<h2>Payments and credits</h2>
    ${table({
      caption: 'Payments and credits',
      columns: ['Day', 'Entry', 'Method', amount('Amount')],
      rows: rows.map(({ day, kind, method, creditNote, settledMinor }) => [
        dayText(day),
        kind,
        creditNote ? documentLink(creditNote) : method,
        moneyFormat(document.currency).withSymbol(settledMinor),
      ]),
    })}`;
}
