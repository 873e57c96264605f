import { createHash } from 'node:crypto';

import type { Test } from 'tap';

import { setCompany } from '../../../src/server/backoffice/companies.ts';
import { createDocuments } from '../../../src/server/invoice-pdf/documents.ts';
import { asOfIssue, createPrint } from '../../../src/server/invoice-pdf/printing.ts';
import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import { until } from '../../_command.ts';
import { creditNoteOf, documentOf, invoiceDraft, issue, issued } from '../backoffice/_documents.ts';
import { line, lineIn, openIssuer, payment, refund } from '../backoffice/_documents.ts';
import { onEachEngine, type TestCompany, type TestBackoffice } from '../backoffice/_backoffice.ts';
import { irishProfile } from '../backoffice/_parties.ts';
import { onSqlite } from './_documents.ts';
import { LOGO } from './_sales.ts';
import { keyFor, startTestServer, type TestServer } from '../../_server.ts';

/** A server of the back office's database, and how a company asks it for a PDF. */
async function serving(t: Test, { engine, url: databaseUrl }: TestBackoffice) {
  const server: TestServer = await startTestServer({ engine, databaseUrl });
  t.teardown(() => server[Symbol.asyncDispose]());
  const keys = new Map<string, string>();
  const ask = async (
    company: TestCompany,
    id: string,
    headers: Record<string, string> = {},
    method = 'GET',
  ) => {
    const key = keys.get(company.id) ?? (await keyFor(engine, company.id));
    keys.set(company.id, key);
    return server.http(`api/v1/invoices/${id}/pdf`, {
      method: method as 'GET',
      headers: { authorization: `Bearer ${key}`, ...headers },
      responseType: 'buffer',
    });
  };
  return { server, ask };
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

onSqlite('the PDF of a document', async (t, backoffice) => {
  const { engine } = backoffice;
  const { ask } = await serving(t, backoffice);
  const company = await openIssuer(backoffice);
  const storedCount = async () => Number((await engine.run('SELECT COUNT(*) AS n FROM documents'))[0]?.n);

  await t.test('is the same each time, with its hash as its tag', async (t) => {
    const invoice = await issued(company, invoiceDraft());
    const [first, second] = [await ask(company, invoice.id), await ask(company, invoice.id)];
    t.equal(first.statusCode, 200);
    t.match(Buffer.from(first.body).toString('latin1'), /^%PDF-1\.7\n/);
    t.match(first.headers, {
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="${invoice.number}.pdf"`,
      'content-length': String(first.body.length),
      etag: `"${sha256(first.body)}"`,
    });
    t.strictSame(second.body, first.body);
    t.equal(second.headers.etag, first.headers.etag);
  });

  await t.test('answers 304 to its tag and headers to HEAD, before it was ever read', async (t) => {
    const invoice = await issued(company, invoiceDraft());
    const head = await ask(company, invoice.id, {}, 'HEAD');
    const unchanged = await ask(company, invoice.id, { 'if-none-match': head.headers.etag ?? '' });
    const get = await ask(company, invoice.id);
    t.equal(head.statusCode, 200);
    t.equal(head.body.length, 0);
    t.equal(head.headers['content-length'], String(get.body.length));
    t.equal(head.headers.etag, get.headers.etag);
    t.equal(unchanged.statusCode, 304);
    t.equal(unchanged.body.length, 0);
    t.equal(unchanged.headers.etag, get.headers.etag);
  });

  await t.test('stays what it was when the invoice is paid, and the company changes', async (t) => {
    const invoice = await issued(company, invoiceDraft({ lines: [line(), lineIn('Z')] }));
    const before = await ask(company, invoice.id);
    backoffice.setNow('2026-11-21T09:00:00.000Z');
    await company.apply(payment(invoice, { id: 'pay_1', amountMinor: 5_000 }));
    await company.apply(payment(invoice, { id: 'pay_2', amountMinor: 50_000 }));
    await company.apply({ change: 'payment.void', with: { invoiceId: invoice.id, id: 'pay_1' } });
    await company.apply(refund(invoice, { amountMinor: 1_000 }));
    await issued(company, creditNoteOf(invoice, { lines: [lineIn('Z')] }));
    const settled = { payments: { length: 1 }, refunds: { length: 1 }, creditNotes: { length: 1 } };
    t.match(await documentOf(company, invoice.id), settled);
    await setCompany(engine, company.id, {
      profile: { legalName: 'Another Limited', logo: LOGO },
    });
    const after = await ask(company, invoice.id);
    t.equal(after.headers.etag, before.headers.etag);
    t.strictSame(after.body, before.body);
    // Made anew from what is stored now, it is still the same: so it is for who asks for the first time after all that.
    await engine.run('DELETE FROM documents');
    const anew = await ask(company, invoice.id);
    t.equal(anew.headers.etag, before.headers.etag);
    t.strictSame(anew.body, before.body);
  });

  await t.test('of a draft is made anew after each change, and stored not at all', async (t) => {
    const { id } = await company.apply(invoiceDraft());
    const stored = await storedCount();
    const [first, same] = [await ask(company, id), await ask(company, id)];
    t.equal(first.headers['content-disposition'], `attachment; filename="draft-${id}.pdf"`);
    t.equal(first.headers.etag, `"${sha256(first.body)}"`);
    t.equal(same.headers.etag, first.headers.etag);
    const asked = await ask(company, id, { 'if-none-match': first.headers.etag ?? '' });
    t.equal(asked.statusCode, 304);
    await company.apply({ change: 'invoice.edit', with: { id, note: 'Thank you.' } });
    const edited = await ask(company, id, { 'if-none-match': first.headers.etag ?? '' });
    t.equal(edited.statusCode, 200);
    t.not(edited.headers.etag, first.headers.etag);
    await setCompany(engine, company.id, { profile: { ...irishProfile, phone: '+353 1 555 0199' } });
    const ofChangedCompany = await ask(company, id);
    t.not(ofChangedCompany.headers.etag, edited.headers.etag);
    t.equal(await storedCount(), stored);
    await company.apply(issue(id));
    const final = await ask(company, id);
    t.not(final.headers.etag, edited.headers.etag);
    t.equal(await storedCount(), stored + 1);
  });

  await t.test('is nobody’s but the company’s, and gone with a draft', async (t) => {
    const invoice = await issued(company, invoiceDraft());
    const draft = await company.apply(invoiceDraft());
    const other = await backoffice.openCompany();
    await ask(company, invoice.id);
    for (const { id } of [invoice, draft]) t.equal((await ask(other, id)).statusCode, 404);
    await company.apply({ change: 'invoice.discard', with: { id: draft.id } });
    t.equal((await ask(company, draft.id)).statusCode, 404);
  });
});

onEachEngine('a PDF that many ask for at once', async (t, backoffice) => {
  const servers = [await serving(t, backoffice), await serving(t, backoffice)];
  const company = await openIssuer(backoffice);
  const invoice = await issued(company, invoiceDraft());
  const answers = await Promise.all(
    [...servers, ...servers, ...servers].map(({ ask }) => ask(company, invoice.id)),
  );
  t.strictSame(
    answers.map(({ statusCode }) => statusCode),
    [200, 200, 200, 200, 200, 200],
  );
  t.equal(new Set(answers.map(({ body }) => sha256(body))).size, 1);
  const rows = await backoffice.engine.run('SELECT sha256 FROM documents');
  t.strictSame(rows, [{ sha256: sha256(answers[0]?.body ?? Buffer.alloc(0)) }]);
});

onSqlite('a draft that many ask for', async (t, backoffice) => {
  const company = await openIssuer(backoffice);
  const { id } = await company.apply(invoiceDraft());
  const print = createPrint(backoffice.engine, createRenderer());
  let count = 0;
  let isBroken = false;
  const documents = createDocuments(backoffice.engine, async (...key) => {
    count += 1;
    if (isBroken) throw new Error('It is broken.');
    return print(...key);
  });
  const ask = async () => {
    const found = await documents.find(company.id, id);
    return found && (await documents.prepare(found))?.sha256;
  };

  await t.test('is printed once while it stays the same', async (t) => {
    const tags = await Promise.all(Array.from({ length: 50 }, ask));
    t.strictSame([...new Set([...tags, await ask()])].length, 1);
    t.equal(count, 1);
  });

  await t.test('is printed anew for who asks after an edit, even meanwhile', async (t) => {
    await company.apply({ change: 'invoice.edit', with: { id, note: 'One' } });
    const first = ask();
    await until(() => count === 2);
    await company.apply({ change: 'invoice.edit', with: { id, note: 'Two' } });
    const second = await ask();
    await first;
    t.equal(count, 3);
    t.equal(await ask(), second);
    t.equal(count, 3);
  });

  await t.test('is tried again by the next who asks after a failure', async (t) => {
    await company.apply({ change: 'invoice.edit', with: { id, note: 'Three' } });
    isBroken = true;
    await t.rejects(ask());
    isBroken = false;
    t.ok(await ask());
  });
});

onSqlite('a document as it was issued has nothing that it did not have', async (t, backoffice) => {
  const company = await openIssuer(backoffice);
  const invoice = await issued(company, invoiceDraft());
  for (const draft of [invoiceDraft({ kind: 'pro_forma' }), creditNoteOf(invoice)]) {
    const document = await issued(company, draft);
    t.strictSame(asOfIssue(document, undefined), { ...document, updatedAt: document.issuedAt });
  }
  t.strictSame(asOfIssue(invoice, undefined), { ...invoice, updatedAt: invoice.issuedAt });
});
