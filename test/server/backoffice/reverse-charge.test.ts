import t from 'tap';

import { openTestDatabase } from '../../_server.ts';
import { creditNoteOf, documentOf, invoiceDraft, issue, issued, lineIn, openIssuer } from './_documents.ts';
import { createTestBackoffice } from './_backoffice.ts';
import { britishCompany, customerIn } from './_parties.ts';

const charged = (unitPriceMinor: number) =>
  lineIn('AE', { unitPriceMinor, reverseChargeRateBasisPoints: 2000 });
const exchange = { exchangeRate: '0.8517', exchangeRateDate: '2026-11-19', exchangeRateSource: 'ECB' };

t.test('a credit note with lines copied from its invoice states its own adjustment', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const company = await openIssuer(createTestBackoffice(database), {
    company: britishCompany,
    customer: customerIn('GB', 'GBP'),
  });
  const invoice = await issued(company, invoiceDraft({ lines: [charged(120_000)] }));
  const [{ vatExemptionReason } = { vatExemptionReason: null }] = invoice.lines;
  t.equal(vatExemptionReason, 'Reverse charge: Customer to pay the VAT to HMRC (20% = £240.00)');
  const note = await issued(
    company,
    creditNoteOf(invoice, { lines: [{ ...charged(10_000), vatExemptionReason }] }),
  );
  t.equal(
    note.lines[0]?.vatExemptionReason,
    'Reverse charge: Customer to account for the output tax adjustment of £20.00 to HMRC (20% = £20.00)',
  );
});

t.test('a British credit note tells nobody to pay the VAT, in whatever words its invoice did', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const company = await openIssuer(createTestBackoffice(database), {
    company: britishCompany,
    customer: customerIn('GB', 'GBP'),
  });
  const reasonCopied = async (vatExemptionReason: string) => {
    const lines = [{ ...charged(10_000), vatExemptionReason }];
    const invoice = await issued(company, invoiceDraft({ lines }));
    t.equal(invoice.lines[0]?.vatExemptionReason, vatExemptionReason, 'an invoice has its own words');
    return (await issued(company, creditNoteOf(invoice, { lines }))).lines[0]?.vatExemptionReason;
  };
  for (const words of [
    'Reverse charge: customer to pay the VAT to HMRC',
    'REVERSE CHARGE: CUSTOMER TO PAY THE VAT TO HMRC (20% = £100.00)',
    'Reverse charge - VAT is payable by the customer',
    'Domestic reverse charge. Customer to pay the VAT to HMRC.',
    'Reverse charge: S55A VATA 94 applies, and the customer accounts for the VAT',
  ]) {
    t.equal(
      await reasonCopied(words),
      'Reverse charge: Customer to account for the output tax adjustment of £20.00 to HMRC (20% = £20.00)',
      words,
    );
  }
  const lawAlone = 'Reverse charge: S55A VATA 94 applies';
  t.equal(await reasonCopied(lawAlone), lawAlone, 'words that tell nobody to pay stay');
});

t.test('the British reverse charge in euro states the tax in sterling, also after an edit', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const company = await openIssuer(createTestBackoffice(database), {
    company: britishCompany,
    customer: customerIn('GB', 'EUR'),
  });
  const { id } = await company.apply(invoiceDraft({ lines: [charged(120_000)], exchange }));
  const reasonOf = async () => (await documentOf(company, id)).lines[0]?.vatExemptionReason;
  t.equal(await reasonOf(), 'Reverse charge: Customer to pay the VAT to HMRC (20% = €240.00 = £204.41)');
  await company.apply({
    change: 'invoice.edit',
    with: { id, exchange: { ...exchange, exchangeRate: '0.9' } },
  });
  await company.apply(issue(id));
  t.equal(await reasonOf(), 'Reverse charge: Customer to pay the VAT to HMRC (20% = €240.00 = £216.00)');
});

t.test('an invoice made of a quote in euro states the tax in sterling', async (t) => {
  await using database = await openTestDatabase('sqlite');
  const company = await openIssuer(createTestBackoffice(database), {
    company: britishCompany,
    customer: customerIn('GB', 'EUR'),
  });
  const { id } = await company.apply({
    change: 'quote.draft',
    with: { customerId: 'cus_1', title: 'Wing B', lines: [charged(120_000)] },
  });
  await company.apply({ change: 'quote.send', with: { id } });
  await company.apply({ change: 'quote.accept', with: { id } });
  const quote = await company.apply({
    change: 'quote.convert_to_invoice',
    with: { id, invoice: { exchange } },
  });
  const invoice = await documentOf(company, quote.convertedInvoiceId ?? '');
  t.equal(
    invoice.lines[0]?.vatExemptionReason,
    'Reverse charge: Customer to pay the VAT to HMRC (20% = €240.00 = £204.41)',
  );
});
