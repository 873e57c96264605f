/**
 * Invoices that CEN (tc434, CII), KoSIT, OpenPEPPOL and ZUGFeRD publish as samples, by their amounts alone: what was sold, and
 * the totals that the sample states. A line is a quantity times a price, for a number of units behind a stroke, with its
 * own discount and charge in brackets, and its VAT; discounts and charges of the document follow with their sign. All are
 * taken to be in EUR.
 */
import type { DraftLine, NewInvoice } from '../../../src/contract/feed.ts';
import { onSqlite } from './_backoffice.ts';
import { invoiceDraft, issued, openIssuer } from './_documents.ts';

const samples = `
CII 3: 1 × 800.00 S25; +100.00 S25 = 900.00 + 225.00 = 1125.00
CII 4: 1000 × 1.00 S25; 100 × 5.00 S25; 500 × 5.00 S12 = 4000.00 + 675.00 = 4675.00
CII 5: 1000 × 1.00 [-100.00 +100.00] S25; 100 × 5.00 S25; 500 × 5.00 S12; -150.00 S25; +150.00 S25; paid 2337.50 = 4000.00 + 675.00 = 4675.00, due 2337.50
BIS 3: 1 × 625743.54 S25 = 625743.54 + 156435.89 = 782179.43
issue 116: 1 × 100.00 S6; 1 × 50.00 S12; 1 × 150.00 S12; 1 × 400.00 S25; -0.00 S6; -1.00 E0; +1.00 E0; +0.00 E0 = 700.00 + 130.00 = 830.00
discount price: 100 × 0.1212 S25 = 12.12 + 3.03 = 15.15
tc434 8: 16000 × 0.0088 S21; 16000 × 0.00101 S21; 132 × 15.24/12 S21; 58 × 1.53 S21; 1 × 441.00/12 S21; 1 × 678.00/12 S21; 1 × 83.34 S21; 1 × 190.31 S21; 1 × 64.21 S21; 1 × 64.46 S21 = 908.91 + 190.87 = 1099.78
KoSIT 01.01a: 1 × 288.79 S7; 1 × 26.07 S7 = 314.86 + 22.04 = 336.90
KoSIT 01.02a: 1 × 11.78 S7 = 11.78 + 0.82 = 12.60
KoSIT 01.05a: 5 × 1340.00 S19; 5 × 300.00 S19; 5 × 90.00 S19; 11 × 20.00 S19 = 8870.00 + 1685.30 = 10555.30
KoSIT 02.03a: 33 × 143.75 S19; 42 × 143.75 S19; -0.00 E0; +0.00 E0; paid 12829.69 = 10781.25 + 2048.44 = 12829.69, due 0.00
KoSIT 03.06a: 1 × 1000.00 S19; 1 × 100.00 S19; -1 × 100.00 Z0; 1 × 500.00 S19 = 1500.00 + 304.00 = 1804.00
Peppol allowance: 10 × 410.00 [-101.00 +1.00] S25; 10 × 200.00/2 E0; 10 × 100.00 [-101.00 +1.00] S25; -200.00 S25; +200.00 S25; paid 1000.00 = 5900.00 + 1225.00 = 7125.00, due 6125.00
Peppol base: 7 × 400.00 S25; -3 × 500.00 S25; +25.00 S25 = 1325.00 + 331.25 = 1656.25
Peppol E: 10 × 120.00 E0 = 1200.00 + 0.00 = 1200.00
ZUGFeRD 2. Teilrechnung: 4 × 5.50 S7 = 22.00 + 1.54 = 23.54
ZUGFeRD Rabatte: 3 × 3.3333 S19; 5 × 5.50 S7; 20 × 5.49 S7; 20 × 2.77 S19; -1.00 S19; -13.73 S7; +5.80 S7; paid 50.00 = 193.77 + 21.30 = 215.07, due 165.07
ZUGFeRD Elektron: 3 × 43.20 S19; 1 × 122.50 S19 = 252.10 + 47.90 = 300.00
ZUGFeRD Miete: 2 × 86.55 S19; 2 × 5.04 S19; 2 × 23.10 S19; 2 × 15.55 S19; 2 × 7.98 S19; 2 × 5.04 S19 = 286.52 + 54.44 = 340.96
ZUGFeRD Reisekosten: 1 × 158.88 S7; 1 × 11.76 S19; 1 × 23.36 S7; 1 × 20.09 S7 = 214.09 + 16.39 = 230.48
Mustang allowances: 1 × 3.00 S19; 1 × 3.00 S19; 1 × 3.00 S19; -0.20 S19; +0.50 S19 = 9.30 + 1.77 = 11.07
Mustang Abschlag: 2.77 × 20.00 S19; -1.00 S19; paid 50.00 = 54.40 + 10.34 = 64.74, due 14.74`;

const cents = (text = '') => Math.round(Number(text) * 100);
const vatOf = (category: string | undefined, rate: string | undefined) => ({
  vatCategory: category as DraftLine['vatCategory'],
  vatRateBasisPoints: cents(rate),
  ...(category === 'E' && { vatExemptionReason: 'Exempt' }),
});
const adjustmentOf = (amount: string) => [{ amountMinor: cents(amount), reason: 'As agreed' }];

function linesIn(sold: string): DraftLine[] {
  const found = sold.matchAll(/(-?[\d.]+) × ([\d.]+)(?:\/(\d+))?(?: \[-(\S+) \+(\S+)\])? ([SZE])(\d+)/g);
  return [...found].map(([description, quantity = '', unitPrice = '', base, less, more, ...vat]) => ({
    ...{ description, quantity, unitPrice, ...vatOf(vat[0], vat[1]) },
    ...(base && { priceBaseQuantity: base }),
    ...(less && more && { allowances: adjustmentOf(less), charges: adjustmentOf(more) }),
  }));
}

function read(sample: string): { name: string; draft: Partial<NewInvoice>; stated: (number | undefined)[] } {
  const [, name = '', sold = '', sums = ''] = /^(.+?): (.+?) = (.+)$/.exec(sample) ?? [];
  const [net, vat, gross, due = gross] = [...sums.matchAll(/[\d.]+/g)].map(([text]) => cents(text));
  const adjustments = (sign: string) =>
    [...sold.matchAll(/; ([-+])([\d.]+) ([SZE])(\d+)/g)]
      .filter(([, own]) => own === sign)
      .flatMap(([, , amount = '', ...at]) =>
        adjustmentOf(amount).map((one) => ({ ...one, ...vatOf(at[0], at[1]) })),
      );
  const paid = [...sold.matchAll(/paid ([\d.]+)/g)].map(([, amount]) => {
    return { amountMinor: cents(amount), paidOn: '2026-11-02', method: 'bank_transfer' };
  });
  const allowances = adjustments('-').map(({ vatExemptionReason: _reason, ...one }) => one);
  const draft = { lines: linesIn(sold), allowances, charges: adjustments('+'), prepayments: paid };
  return { name, draft, stated: [net, vat, gross, due] };
}

onSqlite('samples of others come to the totals and the amount to pay that they state', async (t, office) => {
  const company = await openIssuer(office);
  for (const { name, draft, stated } of samples.trim().split('\n').map(read)) {
    const { totals, amountDueMinor } = await issued(company, invoiceDraft(draft));
    t.strictSame([totals.netMinor, totals.vatMinor, totals.grossMinor, amountDueMinor], stated, name);
  }
});
