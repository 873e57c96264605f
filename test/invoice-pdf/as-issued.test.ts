import { asIssued } from '../../src/invoice-pdf/as-issued.ts';
import {
  creditNoteOf,
  documentOf,
  invoiceDraft,
  issued,
  lineIn,
  openIssuer,
  payment,
  refund,
} from '../backoffice/_documents.ts';
import { onEachEngine, type TestCompany } from '../backoffice/_office.ts';

onEachEngine('a document as it was issued', async (t, office) => {
  const start = () => openIssuer(office);
  const lines = [lineIn('S', { unitPriceMinor: 10_000, vatRateBasisPoints: 2300 }), lineIn('Z')];
  const settle = async (company: TestCompany, id: string) => {
    const invoice = await documentOf(company, id);
    office.setNow('2026-11-21T09:00:00.000Z');
    await company.apply(payment(invoice, { id: 'pay_1', amountMinor: 5_000 }));
    await company.apply(payment(invoice, { id: 'pay_2', amountMinor: 50_000 }));
    await company.apply({ change: 'payment.void', with: { invoiceId: id, id: 'pay_1' } });
    await company.apply(refund(invoice, { amountMinor: 1_000 }));
    await issued(company, creditNoteOf(invoice, { lines: [lineIn('Z')] }));
  };

  await t.test('is what it was, whatever was paid, refunded and credited since', async (t) => {
    const company = await start();
    const invoice = await issued(company, invoiceDraft({ lines }));
    await settle(company, invoice.id);
    const later = await documentOf(company, invoice.id);
    t.equal(later.payments?.length, 1);
    t.equal(later.refunds?.length, 1);
    t.equal(later.creditNotes.length, 1);
    t.not(later.creditBalanceMinor, 0);
    t.not(later.updatedAt, invoice.updatedAt);
    t.strictSame(asIssued(later), asIssued(invoice));
    t.strictSame(asIssued(invoice), { ...invoice, updatedAt: invoice.issuedAt });
  });

  for (const kind of ['credit_note', 'pro_forma'] as const) {
    await t.test(`has nothing that it did not have: ${kind}`, async (t) => {
      const company = await start();
      const draft =
        kind === 'pro_forma'
          ? invoiceDraft({ kind })
          : creditNoteOf(await issued(company, invoiceDraft({ lines })));
      const document = await issued(company, draft);
      t.strictSame(asIssued(document), { ...document, updatedAt: document.issuedAt });
    });
  }
});
