import fc from 'fast-check';
import t from 'tap';

import { addCredit, amountsTaken } from '../../src/backoffice/credit-notes.ts';
import { convertBreakdown, totals, vatBreakdown, type VatLine } from '../../src/backoffice/vat.ts';
import type { Invoice } from '../../src/contract/records.ts';

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
