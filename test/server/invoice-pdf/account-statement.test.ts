import type { Invoice } from '../../../src/contract/records.ts';
import { setCompany } from '../../../src/server/backoffice/companies.ts';
import { readCustomerInvoices } from '../../../src/server/features/documents/receivables.ts';
import { createDocuments } from '../../../src/server/invoice-pdf/documents.ts';
import { createPrint } from '../../../src/server/invoice-pdf/printing.ts';
import { createRenderer } from '../../../src/server/invoice-pdf/render.ts';
import { customerAccountOf } from '../../../src/server/printed-document/account.ts';
import type { TestCompany } from '../backoffice/_backoffice.ts';
import { creditNoteOf, invoiceDraft, issued, line, openIssuer } from '../backoffice/_documents.ts';
import { payment, refund } from '../backoffice/_documents.ts';
import { irishProfile } from '../backoffice/_parties.ts';
import { conformanceProblems } from './_conformance.ts';
import { onSqlite } from './_documents.ts';
import { attachmentOf, paint, textOf } from './_reading.ts';

const renderer = createRenderer();

onSqlite('a statement of account', async (t, backoffice) => {
  const { engine } = backoffice;
  const documents = createDocuments(engine, createPrint(engine, renderer, '#9c3d00'));
  const profile = { ...irishProfile, iban: 'IE29AIBK93115212345678' };
  const open = () => openIssuer(backoffice, { company: { profile } });
  const originalOf = async (company: TestCompany, id: string) => {
    const found = await documents.find(company.id, id);
    return (found && (await documents.prepare(found)))?.read();
  };
  const statementOf = async (company: TestCompany, id: string, day: string) => {
    const found = await documents.find(company.id, id);
    return found && documents.prepareStatement(found, day);
  };
  const textOn = async (company: TestCompany, id: string, day: string) => {
    const file = await statementOf(company, id, day);
    const bytes = (await file?.read()) ?? Buffer.of();
    t.strictSame(await conformanceProblems(bytes), []);
    t.equal(await attachmentOf(bytes, 'factur-x.xml'), undefined);
    await paint(bytes, `statement of account ${day}`);
    return textOf(bytes);
  };
  const credit = { lines: [line({ unitPriceMinor: 1_000 })] };

  await t.test('has the invoice, what happened since, and how to pay the rest', async (t) => {
    const company = await open();
    const invoice = await issued(company, invoiceDraft());
    const original = await originalOf(company, invoice.id);
    backoffice.setNow('2026-11-21T09:00:00.000Z');
    await company.apply(payment(invoice, { id: 'pay_1', amountMinor: 5_000 }));
    await company.apply(payment(invoice, { id: 'pay_2', amountMinor: 1 }));
    await company.apply({ change: 'payment.void', with: { invoiceId: invoice.id, id: 'pay_2' } });
    backoffice.setNow('2026-11-22T09:00:00.000Z');
    await company.apply(refund(invoice, { amountMinor: 1_000, method: 'card' }));
    backoffice.setNow('2026-11-23T09:00:00.000Z');
    const note = await issued(company, creditNoteOf(invoice, credit));
    await setCompany(engine, company.id, { profile: { iban: 'DE89370400440532013000', pageSize: 'Letter' } });
    const text = await textOn(company, invoice.id, '2026-11-24');
    const entries = [
      `Invoice ${invoice.number} 20 November 2026 123.00 123.00`,
      'Payment (bank transfer) 21 November 2026 \u221250.00 73.00',
      'Refund (card) 22 November 2026 10.00 83.00',
      `Credit note ${note.number} 23 November 2026 \u221212.30 70.70`,
    ];
    t.match(text, `Statement of account for invoice ${invoice.number} As of 24 November 2026`);
    t.match(text, entries.join(' '));
    t.match(text, 'Balance due €70.70 How to pay Please pay €70.70 by 20 December 2026');
    t.match(text, 'DE89 3704 0044 0532 0130 00', 'into the account of today');
    const late = await textOn(company, invoice.id, '2026-12-21');
    t.match(late, 'Please pay €70.70, which was due by 20 December');
    t.strictSame(await originalOf(company, invoice.id), original, 'unchanged');
    t.strictSame(await engine.run('SELECT invoice FROM documents'), [{ invoice: invoice.id }]);
  });

  await t.test('of an invoice that is paid asks for nothing, and tells what was paid too much', async (t) => {
    const company = await open();
    const invoice = await issued(company, invoiceDraft());
    await company.apply(payment(invoice, { amountMinor: 12_300 }));
    const text = await textOn(company, invoice.id, '2026-11-24');
    t.match(text, 'Balance due €0.00 Payment Nothing is due on this invoice.');
    t.notMatch(text, /IBAN|Please pay|banking app/);
    await issued(company, creditNoteOf(invoice, credit));
    t.match(await textOn(company, invoice.id, '2026-11-24'), 'Credit balance €12.30 Payment Nothing is due');
  });

  await t.test('of a customer has all that they owe, and what was paid since a day', async (t) => {
    backoffice.setNow('2026-11-20T09:00:00.000Z');
    const company = await open();
    const [late, paid, due] = [
      await issued(company, invoiceDraft({ paymentTermsDays: 0 })),
      await issued(company, invoiceDraft()),
      await issued(company, invoiceDraft()),
    ];
    await company.apply(payment(paid, { amountMinor: 12_300 }));
    await company.apply(payment(due, { id: 'pay_2', amountMinor: 2_300, method: 'card' }));
    const found = await documents.find(company.id, due.id);
    const asked = { customer: due.customer.id, currency: 'EUR', since: '2026-11-20', limit: 9 };
    const textNow = async (given?: Invoice[]) => {
      const invoices = given ?? (await readCustomerInvoices(engine, company.id, asked));
      const account = customerAccountOf(invoices, asked.since, '2026-11-24');
      const file = found && (await documents.prepareStatement(found, '2026-11-24', account));
      const bytes = (await file?.read()) ?? Buffer.of();
      t.strictSame(await conformanceProblems(bytes), []);
      await paint(bytes, 'statement of a customer');
      return textOf(bytes);
    };
    const text = await textNow();
    for (const part of [
      `Statement of account for ${due.customer.name} As of 24 November 2026`,
      'Settled since 20 November 2026 Overdue €123.00 Balance due €223.00',
      `Invoice ${late.number}, due 20 November 2026 20 November 2026 123.00 123.00`,
      'Payment (bank transfer) 20 November 2026 \u2212123.00 0.00',
      'Payment (card) 20 November 2026 \u221223.00 100.00',
      'Please pay €223.00, of which €123.00 is overdue, quoting the invoice numbers',
    ])
      t.match(text, part);
    t.notMatch(text, 'Payment reference');
    const credit = { lines: [line({ unitPriceMinor: 10_000 })] };
    await issued(company, creditNoteOf(paid, credit));
    t.match(await textNow(), 'Left to pay €223.00 In credit \u2212€123.00 Balance due €100.00');
    t.match(
      await textNow([]),
      /Nothing is open, and nothing was settled\. Balance due €0\.00 Payment Nothing is due\./,
      'of one who owes nothing',
    );
    await issued(company, creditNoteOf(late, credit));
    await issued(company, creditNoteOf(due, { lines: [line({ unitPriceMinor: 8_130 })] }));
    t.match(await textNow(), /Overdue €0\.00 Credit balance €123\.00 .*Payment Nothing is due\. /);
  });

  await t.test('is of issued invoices alone', async (t) => {
    const company = await open();
    const invoice = await issued(company, invoiceDraft());
    const others = [
      await company.apply(invoiceDraft()),
      await issued(company, invoiceDraft({ kind: 'pro_forma' })),
      await issued(company, creditNoteOf(invoice)),
    ];
    for (const { id } of others) t.equal(await statementOf(company, id, '2026-11-24'), undefined);
    t.equal(await statementOf(await open(), invoice.id, '2026-11-24'), undefined, 'of another company');
  });
});
