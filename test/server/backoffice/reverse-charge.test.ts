import { onSqlite, type TestBackoffice } from './_backoffice.ts';
import { creditNoteOf, documentOf, invoiceDraft, issue, issued, lineIn, openIssuer } from './_documents.ts';
import { acceptedQuote, edit, exchange } from './_issued.ts';
import { britishCompany, customerIn } from './_parties.ts';

const charged = (unitPriceMinor: number) =>
  lineIn('AE', { unitPriceMinor, reverseChargeRateBasisPoints: 2000 });
const openIn = (office: TestBackoffice, currency: string) =>
  openIssuer(office, { company: britishCompany, customer: customerIn('GB', currency) });

const TO_PAY = 'Reverse charge: Customer to pay the VAT to HMRC';
const ADJUSTED =
  'Reverse charge: Customer to account for the output tax adjustment of £20.00 to HMRC (20% = £20.00)';

onSqlite('a British credit note tells nobody to pay the VAT, as its invoice did', async (t, office) => {
  const company = await openIn(office, 'GBP');
  const {
    lines: [stated],
  } = await issued(company, invoiceDraft({ lines: [charged(10_000)] }));
  t.equal(stated?.vatExemptionReason, `${TO_PAY} (20% = £20.00)`);
  const reasonCopied = async (vatExemptionReason: string) => {
    const lines = [{ ...charged(10_000), vatExemptionReason }];
    const invoice = await issued(company, invoiceDraft({ lines }));
    t.equal(invoice.lines[0]?.vatExemptionReason, vatExemptionReason, 'an invoice has its own words');
    return (await issued(company, creditNoteOf(invoice, { lines }))).lines[0]?.vatExemptionReason;
  };
  for (const words of [
    `${TO_PAY} (20% = £20.00)`,
    'Reverse charge: customer to pay the VAT to HMRC',
    'REVERSE CHARGE: CUSTOMER TO PAY THE VAT TO HMRC (20% = £100.00)',
    'Reverse charge - VAT is payable by the customer',
    'Domestic reverse charge. Customer to pay the VAT to HMRC.',
    'Reverse charge: S55A VATA 94 applies, and the customer accounts for the VAT',
  ])
    t.equal(await reasonCopied(words), ADJUSTED, words);
  const lawAlone = 'Reverse charge: S55A VATA 94 applies';
  t.equal(await reasonCopied(lawAlone), lawAlone, 'words that tell nobody to pay stay');
});

onSqlite('the British reverse charge in euro states the tax in sterling', async (t, office) => {
  const company = await openIn(office, 'EUR');
  const reasonOf = async (id: string) => (await documentOf(company, id)).lines[0]?.vatExemptionReason;
  const { id } = await company.apply(invoiceDraft({ lines: [charged(120_000)], exchange }));
  t.equal(await reasonOf(id), `${TO_PAY} (20% = €240.00 = £204.41)`);
  await company.apply(edit(id, { exchange: { ...exchange, exchangeRate: '0.9' } }));
  await company.apply(issue(id));
  t.equal(await reasonOf(id), `${TO_PAY} (20% = €240.00 = £216.00)`);

  const quote = await acceptedQuote(company, { lines: [charged(120_000)] });
  const conversion = {
    change: 'quote.convert_to_invoice',
    with: { id: quote.id, invoice: { exchange } },
  } as const;
  const { convertedInvoiceId } = await company.apply(conversion);
  t.equal(await reasonOf(convertedInvoiceId ?? ''), `${TO_PAY} (20% = €240.00 = £204.41)`, 'of a quote too');
});
