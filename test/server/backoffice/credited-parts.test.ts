import fc from 'fast-check';
import t from 'tap';

import { addCredit, amountsTaken } from '../../../src/server/backoffice/credit-notes.ts';
import { convertBreakdown, totals, vatBreakdown, type VatLine } from '../../../src/contract/vat.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import {
  credit,
  creditNoteOf,
  documentOf,
  invoiceDraft,
  issue,
  issued,
  line,
  lineIn,
  openIssuer,
  start,
} from './_documents.ts';
import { onEachEngine, type TestCompany, type TestBackoffice } from './_backoffice.ts';
import { customerIn } from './_parties.ts';

/** A line at 5 %, at which ten cents make half a cent of VAT. */
const cents = (unitPriceMinor: number) => line({ vatRateBasisPoints: 500, unitPriceMinor });

/** Changes what is kept of a document and isn't shown. */
async function changeUnpublished(
  { engine }: TestBackoffice,
  company: TestCompany,
  id: string,
  changes: object,
): Promise<void> {
  await engine.transaction(async (transaction) => {
    const of = transaction.selectFrom('invoices').where('company', '=', company.id).where('id', '=', id);
    const { unpublished } = await of.select('unpublished').executeTakeFirstOrThrow();
    const changed = JSON.stringify({ ...(JSON.parse(unpublished) as object), ...changes });
    const table = transaction.updateTable('invoices').where('company', '=', company.id).where('id', '=', id);
    await table.set({ unpublished: changed }).execute();
  });
}

/** A line that is credited in that many parts, each in the note of its number. */
interface Credited {
  line: VatLine;
  notes: number[];
}

const rate = fc.oneof(
  fc.integer({ min: 0, max: 10_000 }),
  fc.constantFrom(2300, 2000, 1350, 900, 500, 480, 0),
);

const credited: fc.Arbitrary<Credited> = fc.record({
  line: fc.record({
    vatCategory: fc.constantFrom('S', 'S', 'S', 'Z', 'E', 'AE', 'O'),
    vatRateBasisPoints: rate,
    amountMinor: fc.oneof(fc.integer({ min: -300, max: 300 }), fc.integer({ min: 0, max: 10_000_000 })),
  }),
  notes: fc.array(fc.nat(7), { minLength: 1, maxLength: 4 }),
});

const conversion = fc.record({
  from: fc.constantFrom('USD', 'JPY', 'KWD', 'HUF'),
  to: fc.constantFrom('EUR', 'GBP'),
  exchangeRate: fc
    .integer({ min: 1, max: 99_999_999 })
    .map((parts) => `${Math.trunc(parts / 1e6)}.${String(parts % 1e6).padStart(6, '0')}`),
});

/** Splits an amount into whole parts of about the same size. */
function partsOf(amount: number, count: number): number[] {
  const part = Math.trunc(amount / count);
  return Array.from({ length: count }, (_, index) => (index === 0 ? amount - part * (count - 1) : part));
}

t.test('all parts of an invoice, credited in any order, give back what it charged', async (t) => {
  fc.assert(
    fc.property(fc.array(credited, { minLength: 1, maxLength: 8 }), conversion, (lines, given) => {
      const items = vatBreakdown(lines.map(({ line }) => line));
      const accounted = convertBreakdown(items, given);
      // All that is asked of the invoice.
      const record = { vatBreakdown: items, accountingCurrency: { vatBreakdown: accounted } } as Invoice;
      let [earlier, earlierAccounted]: Invoice['vatBreakdown'][] = [[], []];
      for (let note = 0; note <= 7; note += 1) {
        const noteLines = lines.flatMap(({ line, notes }) =>
          partsOf(line.amountMinor, notes.length)
            .filter((_, index) => notes[index] === note)
            .map((amountMinor) => ({ ...line, amountMinor })),
        );
        if (noteLines.length === 0) continue;
        const before = { record, earlier: earlier ?? [], earlierAccounted: earlierAccounted ?? [] };
        const taken = amountsTaken(before, vatBreakdown(noteLines), given);
        earlier = addCredit(before.earlier, taken.vatBreakdown);
        earlierAccounted = addCredit(before.earlierAccounted, taken.accounted);
      }
      t.strictSame(totals(earlier ?? []), totals(items));
      t.strictSame(totals(earlierAccounted ?? []), totals(accounted));
    }),
    { numRuns: 1000 },
  );
});

t.test('a part of what is taxed takes VAT of its own sign, within a minor unit of its own', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.nat(20_000), { minLength: 1, maxLength: 12 }), rate, (parts, basisPoints) => {
      const asLine = (amountMinor: number): VatLine => ({
        vatCategory: 'S',
        vatRateBasisPoints: basisPoints,
        amountMinor,
      });
      const record = { vatBreakdown: vatBreakdown(parts.map(asLine)) } as Invoice;
      let earlier: Invoice['vatBreakdown'] = [];
      for (const part of parts) {
        const own = vatBreakdown([asLine(part)]);
        const { vatBreakdown: taken } = amountsTaken({ record, earlier, earlierAccounted: [] }, own, null);
        earlier = addCredit(earlier, taken);
        const [is, alone] = [taken[0]?.vatMinor ?? -1, own[0]?.vatMinor ?? 0];
        t.ok(is >= 0 && Math.abs(is - alone) <= 1, `${is} for ${alone}`);
      }
    }),
  );
});

onEachEngine('credit notes of a part', async (t, testBackoffice) => {
  await t.test('take the VAT on all that is credited so far, less what was taken before', async (t) => {
    // 5 % of 30 cents are 1.5, rounded to 2; of 10 and of 20 they are 0.5 and 1.
    const { company, invoice } = await start(testBackoffice, [cents(30)]);
    t.strictSame(invoice.totals, { netMinor: 30, vatMinor: 2, grossMinor: 32 });
    for (const vatMinor of [1, 0, 1]) {
      const { totals } = await credit(company, invoice, [cents(10)]);
      t.strictSame(totals, { netMinor: 10, vatMinor, grossMinor: 10 + vatMinor });
    }
    t.match(await documentOf(company, invoice.id), { amountDueMinor: 0, creditBalanceMinor: 0 });
    const { code, message } = await company.refusal(creditNoteOf(invoice, { lines: [cents(1)] }));
    t.equal(code, 'exceeds_invoice');
    t.match(message, /takes 1 net in category S at 500 basis points, where 0 is left/);
  });

  await t.test(
    'one for each line of 68.33, 68.33, 57.50 and 85.00 at 20 % give back all of it',
    async (t) => {
      const lines = [6833, 6833, 5750, 8500].map((unitPriceMinor) =>
        line({ unitPriceMinor, vatRateBasisPoints: 2000 }),
      );
      const { company, invoice } = await start(testBackoffice, lines);
      const grossOfNotes: number[] = [];
      for (const one of lines) grossOfNotes.push((await credit(company, invoice, [one])).totals.grossMinor);
      t.strictSame(grossOfNotes, [8200, 8199, 6900, 10_200]);
      t.match(await documentOf(company, invoice.id), { amountDueMinor: 0, creditBalanceMinor: 0 });
    },
  );

  await t.test('one for each of two lines of 45.02 at 23 % leave no cent due', async (t) => {
    const lines = [line({ unitPriceMinor: 4502 }), line({ unitPriceMinor: 4502 })];
    const { company, invoice } = await start(testBackoffice, lines);
    for (const one of lines) await credit(company, invoice, [one]);
    t.match(await documentOf(company, invoice.id), { amountDueMinor: 0, creditBalanceMinor: 0 });
  });

  await t.test('three of an invoice in dollars take its 19.85 euros, and not 19.86', async (t) => {
    const exchange = { exchangeRate: '0.85172', exchangeRateDate: '2026-11-19', exchangeRateSource: 'ECB' };
    const company = await openIssuer(testBackoffice, { customer: { ...customerIn('US', 'USD') } });
    const lines = Array.from({ length: 3 }, () => lineIn('Z', { unitPriceMinor: 777 }));
    const takenFrom = async (invoice: Invoice, forget: () => Promise<unknown>) => {
      const euros: (number | undefined)[] = [];
      for (const one of lines) {
        const { accountingCurrency } = await credit(company, invoice, [one]);
        euros.push(accountingCurrency?.totals.grossMinor);
        await forget();
      }
      return euros;
    };
    const invoice = await issued(company, invoiceDraft({ lines, exchange }));
    t.equal(invoice.accountingCurrency?.totals.grossMinor, 1985);
    t.strictSame(await takenFrom(invoice, () => Promise.resolve()), [662, 662, 661]);
    const old = await issued(company, invoiceDraft({ lines, exchange }));
    // Release 1.0.0 kept no sum of it.
    const forget = () => changeUnpublished(testBackoffice, company, old.id, { creditedAccounted: undefined });
    t.strictSame(await takenFrom(old, forget), [662, 662, 661], 'of release 1.0.0 too');
  });

  await t.test('settle their VAT when they are issued, because another may come before', async (t) => {
    const { company, invoice } = await start(testBackoffice, [line({ unitPriceMinor: 4502, quantity: '2' })]);
    const half = creditNoteOf(invoice, { lines: [line({ unitPriceMinor: 4502 })] });
    const drafts = [await company.apply(half), await company.apply(half)];
    t.strictSame(
      drafts.map(({ totals }) => totals.vatMinor),
      [1035, 1035],
    );
    const notes: Invoice[] = [];
    for (const { id } of drafts) notes.push(await company.apply(issue(id)));
    t.strictSame(
      notes.map(({ totals }) => totals.vatMinor),
      [1035, 1036],
    );
  });

  await t.test('of release 1.0.0 that left a cent due are made up for by a line of nothing', async (t) => {
    const { company, invoice } = await start(testBackoffice, [line({ unitPriceMinor: 4502, quantity: '2' })]);
    await credit(company, invoice, [line({ unitPriceMinor: 4502 })]);
    const other = await credit(company, invoice, [line({ unitPriceMinor: 4502 })]);
    // It computed the VAT of each note by itself.
    const credited = [{ ...invoice.vatBreakdown[0], vatMinor: 2070 }];
    await changeUnpublished(testBackoffice, company, invoice.id, { credited });
    const note = await credit(company, invoice, [line({ quantity: '0' })]);
    t.strictSame(note.totals, { netMinor: 0, vatMinor: 1, grossMinor: 1 });
    t.equal(other.totals.vatMinor, 1036);
  });

  await t.test('of release 1.0.0 that took more than their VAT are made up for by the last', async (t) => {
    const { company, invoice } = await start(testBackoffice, [cents(100)]);
    for (let note = 0; note < 3; note += 1) await credit(company, invoice, [cents(10)]);
    // It rounded 5 % of 10 cents up in each note; 5 % of 40 cents are 2.
    const credited = [{ ...invoice.vatBreakdown[0], taxableMinor: 30, vatMinor: 3 }];
    await changeUnpublished(testBackoffice, company, invoice.id, { credited });
    const fourth = await credit(company, invoice, [cents(10)]);
    t.strictSame(fourth.totals, { netMinor: 10, vatMinor: 0, grossMinor: 10 });
    const last = await credit(company, invoice, [cents(60)]);
    t.strictSame(last.totals, { netMinor: 60, vatMinor: 2, grossMinor: 62 });
  });

  await t.test('of an invoice with a discount take what the discount left', async (t) => {
    const discount = line({ description: 'Discount', quantity: '-1', unitPriceMinor: 3000 });
    const { company, invoice } = await start(testBackoffice, [line(), discount]);
    const whole = creditNoteOf(invoice, { lines: [line()] });
    t.match(await company.refusal(whole), {
      code: 'exceeds_invoice',
      message: /takes 10000 net .* 7000 is left/,
    });
    const { totals } = await credit(company, invoice, [line(), discount]);
    t.strictSame(totals, invoice.totals);
  });

  await t.test('give back a discount that makes up a category of its own, and no more', async (t) => {
    const discount = (unitPriceMinor: number) => lineIn('Z', { quantity: '-1', unitPriceMinor });
    const { company, invoice } = await start(testBackoffice, [line(), discount(3000)]);
    t.strictSame(invoice.totals, { netMinor: 7000, vatMinor: 2300, grossMinor: 9300 });
    for (const wrong of [discount(3001), lineIn('Z', { unitPriceMinor: 1 })]) {
      const refused = creditNoteOf(invoice, { lines: [line(), wrong] });
      t.match(await company.refusal(refused), {
        code: 'exceeds_invoice',
        message: /category Z .* -3000 is left/,
      });
    }
    await credit(company, invoice, [line({ unitPriceMinor: 5000 }), discount(1000)]);
    const refused = creditNoteOf(invoice, { lines: [line({ unitPriceMinor: 5000 }), discount(2001)] });
    t.match(await company.refusal(refused), {
      code: 'exceeds_invoice',
      message: /category Z .* -2000 is left/,
    });
    const { totals } = await credit(company, invoice, [line({ unitPriceMinor: 5000 }), discount(2000)]);
    t.strictSame(totals, { netMinor: 3000, vatMinor: 1150, grossMinor: 4150 });
    t.match(await documentOf(company, invoice.id), { amountDueMinor: 0, creditBalanceMinor: 0 });
  });
});
