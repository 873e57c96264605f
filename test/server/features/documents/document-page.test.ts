import { keyFor } from '../../../_server.ts';
import { textOf } from '../../invoice-pdf/_reading.ts';
import { COMPANY, onEachEngine, onSqlite, type TestPortal, type Visitor } from '../../portal/_portal.ts';
import { issueInvoice } from './_rich-invoice.ts';

const RECORDS = { hasRecords: true };
const PART_PAID = '01a15a0c-54c0-737e-abf7-cfe66f9292f6';
const DRAFT = '01a1ef7b-a420-7b42-8594-7b990f1a8c5f';

/** A file that the page of a document offers, as bytes. */
const fileAt = ({ http }: TestPortal, { cookie }: Visitor, path: string) =>
  http(`portal/documents/${path}`, { headers: { cookie }, responseType: 'buffer' });

onEachEngine('a document’s PDF is the one that the API serves', RECORDS, async (t, portal) => {
  const visitor = await portal.signedIn();
  t.match(await visitor.read(`/portal/documents/${PART_PAID}`), /Invoice INV-2026-0003/);
  t.match(visitor.text, /Left to pay €596\.52/);
  t.match(visitor.text, /Payments and credits Day Entry Method Amount .* Payment/);
  const key = await keyFor(portal.engine, COMPANY);
  for (const id of [PART_PAID, DRAFT]) {
    const fromApi = await portal.http(`api/v1/invoices/${id}/pdf`, {
      headers: { authorization: `Bearer ${key}` },
      responseType: 'buffer',
    });
    const fromPortal = await fileAt(portal, visitor, `${id}/pdf`);
    t.equal(fromApi.statusCode, 200);
    t.equal(fromPortal.statusCode, 200);
    t.equal(fromPortal.headers['content-type'], 'application/pdf');
    t.equal(fromPortal.headers['content-disposition'], fromApi.headers['content-disposition']);
    t.equal(fromPortal.headers['cache-control'], 'no-store');
    t.ok(Buffer.from(fromPortal.body).equals(fromApi.body), 'byte for byte');
  }
});

onSqlite('a document’s page says of its amounts what its PDF says', RECORDS, async (t, portal) => {
  const visitor = await portal.signedIn();
  const { id } = await issueInvoice(portal.engine);
  await visitor.visit(`/portal/documents/${id}`);
  const { body } = await fileAt(portal, visitor, `${id}/pdf`);
  const both = { page: visitor.text, pdf: await textOf(Buffer.from(body)) };
  for (const [where, text] of Object.entries(both))
    for (const told of [
      'Unit price (EUR incl. VAT)',
      '1 unit 80.00 23% 72.00',
      'Regular customer (10% of 80.00): -8.00',
      'Item no. PIPE-15',
      '35.5 metres 412.3456 per 100 23% 146.38',
      'Sum of lines including VAT €218.38 Goodwill -€5.00 Call-out €12.30 Total excluding VAT €183.48 Total VAT €42.20',
      'Total including VAT €225.68 Rounding €0.02 Paid on 10 November 2026, Order 7 -€100.00 Amount due €125.70',
      'Rate Net (EUR) VAT (EUR) 23% 183.48 42.20',
    ])
      t.ok(text.replaceAll('\u2212', '-').includes(told), `${where}: ${told}`);
  t.match(visitor.shown, /Boiler service<br \/>with &lt;b&gt;parts&lt;\/b&gt;/);
  t.match(visitor.text, /Can’t go by Peppol yet: the document has no buyer reference or purchase/);
  const conforming = await issueInvoice(portal.engine, { buyerReference: 'PO 7' });
  t.match(await visitor.read(`/portal/documents/${conforming.id}`), /Download its e-invoice/);
  t.notMatch(visitor.text, /Can’t go by Peppol/);
});

onSqlite('an issued invoice has a statement of account of today', RECORDS, async (t, portal) => {
  const visitor = await portal.signedIn();
  await visitor.visit(`/portal/documents/${PART_PAID}`);
  t.match(visitor.shown, `<a href="/portal/documents/${PART_PAID}/statement">`);
  const answer = await fileAt(portal, visitor, `${PART_PAID}/statement`);
  t.match(answer.headers, {
    'content-type': 'application/pdf',
    'content-disposition': 'attachment; filename="statement-INV-2026-0003-2026-11-20.pdf"',
    'cache-control': 'no-store',
  });
  t.match(
    await textOf(Buffer.from(answer.body)),
    /Statement of account for invoice INV-2026-0003 .*Balance due €596\.52/,
  );
  const { prepareStatement } = portal.documents;
  const held = Promise.withResolvers<undefined>();
  let count = 0;
  // None is made before each of the eight is under way or refused.
  const release = () => {
    count += 1;
    if (count === 8) held.resolve(undefined);
  };
  portal.documents.prepareStatement = async (...asked) => {
    release();
    await held.promise;
    return prepareStatement(...asked);
  };
  const statuses = Array.from({ length: 8 }, async () => {
    const { statusCode } = await visitor.copy().visit(`/portal/documents/${PART_PAID}/statement`);
    release();
    return statusCode;
  });
  const expected = [200, 200, 200, 200, 200, 200, 429, 429];
  t.strictSame((await Promise.all(statuses)).sort(), expected, 'six at once');
  await visitor.visit(`/portal/documents/${DRAFT}`);
  t.notMatch(visitor.shown, '/statement');
  t.equal((await visitor.visit(`/portal/documents/${DRAFT}/statement`)).statusCode, 404);
});

onSqlite('a document’s page offers its e-invoice, or says why there is none', RECORDS, async (t, portal) => {
  const visitor = await portal.signedIn();
  t.match(
    await visitor.read(`/portal/documents/${PART_PAID}`),
    /Download its e-invoice as UBL ?, for networks such as Peppol, or as CII/,
  );
  for (const [format, root] of [
    ['ubl', '<Invoice '],
    ['cii', '<rsm:CrossIndustryInvoice '],
  ] as const) {
    const { statusCode, headers, body } = await visitor.visit(
      `/portal/documents/${PART_PAID}/xml?format=${format}`,
    );
    t.equal(statusCode, 200);
    t.equal(headers['content-type'], 'application/xml; charset=utf-8');
    t.equal(headers['content-disposition'], `attachment; filename="INV-2026-0003-${format}.xml"`);
    t.ok(body.includes(root));
  }
  t.match(await visitor.read(`/portal/documents/${DRAFT}`), /A draft has no e-invoice/);
  for (const path of [`${DRAFT}/xml?format=ubl`, `${PART_PAID}/xml`, `${PART_PAID}/xml?format=pdf`])
    t.equal((await visitor.visit(`/portal/documents/${path}`)).statusCode, 404, path);
});
