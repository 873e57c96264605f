import fc from 'fast-check';
import t from 'tap';

import { addCredit, amountsTaken } from '../../../src/server/backoffice/credit-notes.ts';
import { convertBreakdown, totals, vatBreakdown, type VatLine } from '../../../src/contract/vat.ts';
import type { DraftLine } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import { credit, creditNoteOf, invoiceDraft, issue, issued, line, lineIn, openIssuer } from './_documents.ts';
import { balanceOf, exchange, start } from './_issued.ts';
import { onSqlite, type TestBackoffice } from './_backoffice.ts';
import { customerIn } from './_parties.ts';

/** A line at 5 %, at which ten cents make half a cent of VAT. */
const cents = (unitPriceMinor: number) => line({ vatRateBasisPoints: 500, unitPriceMinor });

const at23 = (unitPriceMinor: number) => line({ unitPriceMinor });
const at20 = (...prices: number[]) =>
  prices.map((unitPriceMinor) => line({ unitPriceMinor, vatRateBasisPoints: 2000 }));

/** Changes what is kept of a document and isn't shown. */
async function changeUnpublished(
  { engine }: TestBackoffice,
  { id }: Invoice,
  changes: object,
): Promise<void> {
  await engine.transaction(async (transaction) => {
    const of = transaction.selectFrom('invoices').where('id', '=', id).select('unpublished');
    const { unpublished } = await of.executeTakeFirstOrThrow();
    const changed = JSON.stringify({ ...(JSON.parse(unpublished) as object), ...changes });
    await transaction.updateTable('invoices').set({ unpublished: changed }).where('id', '=', id).execute();
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
        const taken = amountsTaken(
          before,
          { conversion: given, includesVat: false },
          vatBreakdown(noteLines),
        );
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
        const credited = { record, earlier, earlierAccounted: [] };
        const { vatBreakdown: taken } = amountsTaken(credited, { conversion: null, includesVat: false }, own);
        earlier = addCredit(earlier, taken);
        const [is, alone] = [taken[0]?.vatMinor ?? -1, own[0]?.vatMinor ?? 0];
        t.ok(is >= 0 && Math.abs(is - alone) <= 1, `${is} for ${alone}`);
      }
    }),
  );
});

const at10001 = (quantity: string) => line({ unitPriceMinor: 10_001, quantity });

/** Lines that are credited one by one, and the gross of each note: all of it comes back, and no cent stays due. */
const inParts: [what: string, lines: DraftLine[], of: DraftLine[], grossMinor: number[]][] = [
  // 5 % of 30 cents are 1.5, rounded to 2; of 10 and of 20 they are 0.5 and 1.
  ['30 cents at 5 %', [cents(30)], [cents(10), cents(10), cents(10)], [11, 10, 11]],
  ['lines at 20 %', at20(6833, 6833, 5750, 8500), at20(6833, 6833, 5750, 8500), [8200, 8199, 6900, 10_200]],
  ['two lines at 23 %', [at23(4502), at23(4502)], [at23(4502), at23(4502)], [5537, 5538]],
  // Half of 100.01 is 50.01 when it is rounded, of which there aren't two.
  ['halves of a line', [at10001('1')], [at10001('0.5'), at10001('0.5')], [6151, 6150]],
  ['all thirds', [at10001('1')], Array(3).fill(at10001('0.333333')), [4101, 4099, 4101]],
  ['parts of two lines', [at10001('1'), at10001('0.5')], Array(3).fill(at10001('0.5')), [6151, 6151, 6150]],
];

onSqlite('credit notes of a part', async (t, office) => {
  for (const [what, lines, parts, grossMinor] of inParts)
    await t.test(`take the VAT on all so far, less what was taken before: ${what}`, async (t) => {
      const { company, invoice } = await start(office, lines);
      const notes: number[] = [];
      for (const part of parts) notes.push((await credit(company, invoice, [part])).totals.grossMinor);
      t.strictSame(notes, grossMinor);
      t.strictSame(await balanceOf(company, invoice), [0, 0]);
      const over = [{ ...line(), ...parts[0], quantity: '1', unitPriceMinor: 1 }];
      const { code, message } = await company.refusal(creditNoteOf(invoice, { lines: over }));
      t.equal(code, 'exceeds_invoice');
      t.match(message, /takes 1 net in category S at \d+ basis points, where 0 is left/);
    });

  await t.test('three of an invoice in dollars take its 19.85 euros, and not 19.86', async (t) => {
    const company = await openIssuer(office, { customer: customerIn('US', 'USD') });
    const lines = Array.from({ length: 3 }, () => lineIn('Z', { unitPriceMinor: 777 }));
    const draft = invoiceDraft({ lines, exchange: { ...exchange, exchangeRate: '0.85172' } });
    const takenFrom = async (invoice: Invoice, forget: () => Promise<unknown>) => {
      const euros: (number | undefined)[] = [];
      for (const one of lines) {
        euros.push((await credit(company, invoice, [one])).accountingCurrency?.totals.grossMinor);
        await forget();
      }
      return euros;
    };
    const invoice = await issued(company, draft);
    t.equal(invoice.accountingCurrency?.totals.grossMinor, 1985);
    t.strictSame(await takenFrom(invoice, () => Promise.resolve()), [662, 662, 661]);
    const old = await issued(company, draft);
    // Release 1.0.0 kept no sum of it.
    const forget = () => changeUnpublished(office, old, { creditedAccounted: undefined });
    t.strictSame(await takenFrom(old, forget), [662, 662, 661], 'of release 1.0.0 too');
  });

  await t.test('settle their VAT when they are issued, because another may come before', async (t) => {
    const { company, invoice } = await start(office, [line({ unitPriceMinor: 4502, quantity: '2' })]);
    const half = creditNoteOf(invoice, { lines: [at23(4502)] });
    const drafts = [await company.apply(half), await company.apply(half)];
    const vat: number[] = drafts.map(({ totals }) => totals.vatMinor);
    for (const { id } of drafts) vat.push((await company.apply(issue(id))).totals.vatMinor);
    t.strictSame(vat, [1035, 1035, 1035, 1036]);
  });

  await t.test('take the rest of a line, of which a note took that doesn’t say so', async (t) => {
    const { company, invoice } = await start(office, [at10001('1')]);
    // As one that was imported, or issued by release 1.1.
    await changeUnpublished(office, await credit(company, invoice, [at10001('0.5')]), { amounts: undefined });
    t.equal((await credit(company, invoice, [at10001('0.5')])).totals.grossMinor, 6150);
  });

  await t.test('of release 1.0.0 that left a cent due are made up for by a line of nothing', async (t) => {
    const { company, invoice } = await start(office, [line({ unitPriceMinor: 4502, quantity: '2' })]);
    await credit(company, invoice, [at23(4502)]);
    const other = await credit(company, invoice, [at23(4502)]);
    // It computed the VAT of each note by itself.
    const credited = [{ ...invoice.vatBreakdown[0], vatMinor: 2070 }];
    await changeUnpublished(office, invoice, { credited });
    const note = await credit(company, invoice, [line({ quantity: '0' })]);
    t.strictSame(note.totals, { netMinor: 0, vatMinor: 1, grossMinor: 1 });
    t.equal(other.totals.vatMinor, 1036);
  });

  await t.test('of release 1.0.0 that took more than their VAT are made up for by the last', async (t) => {
    const { company, invoice } = await start(office, [cents(100)]);
    for (let note = 0; note < 3; note += 1) await credit(company, invoice, [cents(10)]);
    // It rounded 5 % of 10 cents up in each note; 5 % of 40 cents are 2.
    const credited = [{ ...invoice.vatBreakdown[0], taxableMinor: 30, vatMinor: 3 }];
    await changeUnpublished(office, invoice, { credited });
    const fourth = await credit(company, invoice, [cents(10)]);
    t.strictSame(fourth.totals, { netMinor: 10, vatMinor: 0, grossMinor: 10 });
    const last = await credit(company, invoice, [cents(60)]);
    t.strictSame(last.totals, { netMinor: 60, vatMinor: 2, grossMinor: 62 });
  });

  await t.test('give back a discount that makes up a category of its own, and no more', async (t) => {
    const discount = (unitPriceMinor: number) => lineIn('Z', { quantity: '-1', unitPriceMinor });
    const { company, invoice } = await start(office, [line(), discount(3000)]);
    t.strictSame(invoice.totals, { netMinor: 7000, vatMinor: 2300, grossMinor: 9300 });
    const refused = async (left: number, ...lines: DraftLine[]) => {
      const { code, message } = await company.refusal(creditNoteOf(invoice, { lines }));
      t.match(`${code}: ${message}`, new RegExp(`exceeds_invoice: .*category Z .* ${left} is left`));
    };
    await refused(-3000, line(), discount(3001));
    await refused(-3000, line(), lineIn('Z', { unitPriceMinor: 1 }));
    await credit(company, invoice, [at23(5000), discount(1000)]);
    await refused(-2000, at23(5000), discount(2001));
    const { totals } = await credit(company, invoice, [at23(5000), discount(2000)]);
    t.strictSame(totals, { netMinor: 3000, vatMinor: 1150, grossMinor: 4150 });
    t.strictSame(await balanceOf(company, invoice), [0, 0]);
  });
});
