import { openBackoffice } from '../../../src/server/backoffice/backoffice.ts';
import { applyChange } from '../../../src/server/backoffice/apply.ts';
import type { Change } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { keyFor, STORY_NOW } from '../../_server.ts';
import { attachmentOf, textOf } from '../invoice-pdf/_reading.ts';
import { COMPANY, onEachEngine as onPortal } from '../portal/_portal.ts';
import { onSqlite, recordIn } from './_backoffice.ts';
import { customerSave } from './_changes.ts';
import { invoiceImport, openImporter } from './_imports.ts';

const HEAD = '%PDF-1.7\n1 0 obj <</Type /Catalog>> endobj\n';
const TAIL = 'startxref\n9\n%%EOF\n';
const ROOT = 'trailer <</Root 1 0 R>>\n';
const pdf = (trailer = ROOT, { head = HEAD, tail = TAIL } = {}) =>
  Buffer.from(`${head}${trailer}${tail}`, 'latin1').toString('base64');

/** With one letter behind the last whole group of four, which stands for no byte. */
function withLetterLeft(base64: string): string {
  const letters = base64.replace(/=+$/, '');
  return letters.padEnd(letters.length + ((5 - (letters.length % 4)) % 4), 'A');
}

const wrongs: [name: string, given: string, says: RegExp][] = [
  ['what is no PDF', pdf('', { head: '<html>' }), /doesn't begin with %PDF/],
  ['one that is cut off', pdf('', { tail: 'startxr' }), /doesn't end with startxref and %%EOF/],
  ['an encrypted one', pdf('trailer <</Root 1 0 R /Encrypt 5 0 R>>\n'), /is encrypted/],
  ['one that is too large', pdf('%'.repeat(5 * 1024 * 1024)), /has 52\d+ bytes|characters/],
  ['what is not in base64', 'JVBERi0*', /it must be base64/],
  ['base64 with a letter too many', withLetterLeft(pdf()), /is not in base64/],
  ['one without objects', pdf('', { head: '%PDF-1.4\n' }), /no objects or no root/],
  ['one without a root', pdf(''), /no objects or no root/],
  [
    'one whose middle is missing',
    pdf(ROOT, { tail: 'startxref\n91000\n%%EOF' }),
    /part of it may be missing/,
  ],
];

onSqlite('a document comes in with a PDF, or not at all', async (t, testBackoffice) => {
  const company = await openImporter(testBackoffice);
  for (const [name, given, says] of wrongs) {
    const refusal = await company.refusal(invoiceImport({ pdf: given }));
    t.match(refusal, { code: 'invalid_change', path: '/with/pdf', message: says }, name);
  }
  const largest = pdf(ROOT.padEnd(5 * 1024 * 1024 - HEAD.length - TAIL.length, '%'));
  t.ok(await company.apply(invoiceImport({ pdf: largest })), 'it may have 5 MiB');
});

onPortal('the PDF of an imported document came with it, or says that none did', async (t, portal) => {
  const { engine } = portal;
  const backoffice = openBackoffice(engine, { now: () => STORY_NOW });
  const apply = async (change: object): Promise<Invoice> =>
    recordIn(await applyChange(backoffice, { company: COMPANY, ...change } as Change));
  await apply(customerSave({ id: 'cus_1' }));
  await apply({ change: 'company.switch', with: { issuedElsewhere: ['invoice'] } });
  const given = pdf();
  const { id } = await apply(invoiceImport({ number: 'RE/1', pdf: given }));
  const authorization = `Bearer ${await keyFor(engine, COMPANY)}`;
  const get = (path: string, headers: Record<string, string>) =>
    portal.http(path, { headers, responseType: 'buffer' });
  const own = await get(`api/v1/invoices/${id}/pdf`, { authorization });
  t.match(own, { statusCode: 200, headers: { 'content-type': 'application/pdf' } });
  t.match(own.headers['content-disposition'], `filename="RE-1.pdf"; filename*=UTF-8''RE%2F1.pdf`);
  t.equal(Buffer.from(own.body).toString('base64'), given);
  const visitor = await portal.signedIn();
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const fromPortal = await get(`portal/documents/${id}/pdf`, { cookie });
  t.equal(Buffer.from(fromPortal.body).toString('base64'), given, 'in the portal too');

  const other = await apply(invoiceImport({ number: 'RE-2' }));
  const { body } = await get(`api/v1/invoices/${other.id}/pdf`, { authorization });
  const text = await textOf(Buffer.from(body));
  t.match(text, 'This PDF was made from the data of the business system that issued the invoice.');
  t.equal(await attachmentOf(Buffer.from(body), 'factur-x.xml'), undefined, 'it is no e-invoice');
});
