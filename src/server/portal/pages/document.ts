import { companyDay } from '../../../contract/company-time.ts';
import { amountText } from '../../../contract/currencies.ts';
import type { Invoice } from '../../../contract/records.ts';
import { handOverAgain } from '../../hand-over/again.ts';
import { entriesOf } from '../../invoice-pdf/account-statement.ts';
import type { Documents } from '../../invoice-pdf/documents.ts';
import { contentDisposition } from '../../invoice-pdf/file-name.ts';
import { findEInvoice, type StoredEInvoice } from '../../invoice-pdf/stored-e-invoice.ts';
import { unitText } from '../../invoice-pdf/units.ts';
import { hasStatement } from '../../invoice-pdf/wording.ts';
import type { Engine } from '../../store/engines/engine.ts';
import { findInvoice } from '../../store/records/invoices.ts';
import { notFound, refusalOf } from '../page-error.ts';
import { dayText, time } from '../views/formats.ts';
import { type Content, type Html, html } from '../views/html.ts';
import { amount, facts, table } from '../views/table.ts';
import { type FileReply, page, type Page, type PageReply, redirect, type Visit } from '../visit.ts';
import { kindNames, refuseWithoutDocuments, stateBadge } from './documents.ts';
import { handOverPart } from './hand-overs.ts';

export const showDocument: Page = async (visit, { engine }) => {
  refuseWithoutDocuments(visit);
  return documentPage(visit, engine);
};

/** Hands the document over to the access point again. */
export const handOneOver: Page = async (visit, { engine }) => {
  refuseWithoutDocuments(visit);
  const { company, params, signedIn: by, now } = visit;
  const id = params.id ?? '';
  try {
    await handOverAgain(engine, { company: company.id, id, now, by });
    return redirect(`/portal/documents/${id}`, 'The document is handed over again.');
  } catch (error) {
    return documentPage(visit, engine, refusalOf(error));
  }
};

async function documentPage(visit: Visit, engine: Engine, problem?: string): Promise<PageReply> {
  const found = await findInvoice(engine.db, visit.company.id, visit.params.id ?? '');
  if (!found) throw notFound();
  const document = JSON.parse(found.body) as Invoice;
  const { kind, number, id, note } = document;
  return page(
    `${kindNames[kind]} ${number ?? '(draft)'}`,
    html`<p>
        <a class="button" href="/portal/documents/${id}/pdf">Download the PDF</a>
        ${
          hasStatement(document) &&
          html`<a href="/portal/documents/${id}/statement">Download a statement of account of today</a>`
        }
      </p>
      ${eInvoiceLinks(id, await findEInvoice(engine, visit.company.id, id))}
      ${facts(factsOf(visit, document))} ${note !== null && html`<p class="note">${note}</p>`}
      <h2>Lines</h2>
      ${linesOf(document)}
      <h2>VAT and totals</h2>
      ${totalsOf(document)} ${settlementOf(document)} ${await handOverPart(visit, engine, { id, problem })}
      <p><a href="/portal/documents">Back to the search</a></p>`,
    { section: 'documents', isRefused: problem !== undefined },
  );
}

function eInvoiceLinks(id: string, found: StoredEInvoice | undefined): Html {
  if (found?.absence !== undefined) return html`<p>${found.absence}</p>`;
  return html`<p>
    Download its e-invoice as <a href="/portal/documents/${id}/xml?format=ubl">UBL</a>, for networks such as
    Peppol, or as <a href="/portal/documents/${id}/xml?format=cii">CII</a>, which the PDF has inside.
  </p>`;
}

/** The e-invoice of a document, in the syntax that the address asks for. */
export const downloadEInvoice: Page = async (visit, { engine }) => {
  refuseWithoutDocuments(visit);
  const found = await findEInvoice(engine, visit.company.id, visit.params.id ?? '');
  const format = visit.query.get('format');
  if (!found || found.absence !== undefined || (format !== 'cii' && format !== 'ubl')) throw notFound();
  return {
    kind: 'file',
    headers: {
      'Content-Type': 'application/xml; charset=utf-8',
      'Content-Disposition': contentDisposition(`${found.name}-${format}`, 'xml'),
    },
    body: Buffer.from(found.text(format)),
  };
};

/** The PDF that the API serves, under the same name. */
export const downloadDocument: Page = async (visit, { documents }) =>
  download(visit, documents, documents.prepare);

/** The invoice's payments, credits and balance as of today. */
export const downloadStatement: Page = async (visit, { documents }) =>
  download(visit, documents, (found) =>
    documents.prepareStatement(found, companyDay(visit.company.timeZone, visit.now)),
  );

async function download(
  visit: Visit,
  { find }: Documents,
  prepare: Documents['prepare'],
): Promise<FileReply> {
  refuseWithoutDocuments(visit);
  const found = await find(visit.company.id, visit.params.id ?? '');
  const file = found && (await prepare(found));
  if (!file) throw notFound();
  return {
    kind: 'file',
    headers: { 'Content-Type': 'application/pdf', 'Content-Disposition': contentDisposition(file.name) },
    body: await file.read(),
  };
}

function factsOf(visit: Visit, document: Invoice): [string, Content][] {
  const { customer, buyer, currency, creditedInvoice, amountDueMinor, creditBalanceMinor } = document;
  return [
    ['State', stateBadge(document, companyDay(visit.company.timeZone, visit.now))],
    [
      'Customer',
      html`<a href="/portal/documents?customer=${encodeURIComponent(customer.id)}">${customer.name}</a>`,
    ],
    ['Billed to', [buyer.legalName ?? buyer.name, ...buyer.addressLines].join(', ')],
    ['Issued', document.issuedAt === null ? 'Not yet' : time(visit, document.issuedAt)],
    ['Date', dayText(document.issueDate)],
    ['Due', dayText(document.dueDate)],
    ['Supplied', dayText(document.supplyDate)],
    ['Total', amountText(document.totals.grossMinor, currency)],
    ['Left to pay', amountDueMinor === undefined ? undefined : amountText(amountDueMinor, currency)],
    ['Paid too much', creditBalanceMinor ? amountText(creditBalanceMinor, currency) : undefined],
    ['Corrects', creditedInvoice && documentLink(creditedInvoice)],
    ['Id', html`<code>${document.id}</code>`],
  ];
}

function documentLink({ id, number }: { id: string; number: string | null }): Html {
  return html`<a href="/portal/documents/${id}">${number ?? 'a draft'}</a>`;
}

function linesOf({ lines, currency }: Invoice): Html {
  return table({
    caption: 'Lines',
    columns: ['Description', amount('Quantity'), amount('Price'), amount('VAT'), amount('Amount')],
    rows: lines.map((line) => [
      line.description,
      `${line.quantity.replace(/^-(?=[0.]+$)/, '')} ${unitText(line.unitCode, line.quantity)}`,
      amountText(line.unitPriceMinor, currency),
      rateText(line.vatRateBasisPoints, line.vatCategory),
      amountText(line.amountMinor, currency),
    ]),
  });
}

function rateText(basisPoints: number, category: string): string {
  return category === 'S' ? `${basisPoints / 100} %` : `${basisPoints / 100} % (${category})`;
}

function totalsOf({ vatBreakdown, totals, currency }: Invoice): Html {
  return html`${table({
    caption: 'VAT',
    columns: ['Rate', amount('Taxable'), amount('VAT')],
    rows: vatBreakdown.map(({ rateBasisPoints, category, taxableMinor, vatMinor }) => [
      rateText(rateBasisPoints, category),
      amountText(taxableMinor, currency),
      amountText(vatMinor, currency),
    ]),
  })}
  ${facts([
    ['Net', amountText(totals.netMinor, currency)],
    ['VAT', amountText(totals.vatMinor, currency)],
    ['Total', amountText(totals.grossMinor, currency)],
  ])}`;
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
        amountText(settledMinor, document.currency),
      ]),
    })}`;
}
