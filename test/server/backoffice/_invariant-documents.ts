/** Random documents, drafted and issued on a real database. */
import fc from 'fast-check';

import type { Supplier } from '../../../src/server/store/records/suppliers.ts';
import type { DraftLine, NewInvoice } from '../../../src/contract/feed.ts';
import type { Invoice } from '../../../src/contract/records.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { addDays } from './_days.ts';
import { customerSave } from './_changes.ts';
import type { Shown } from './_invariants.ts';
import type { Given, TestCompany, TestBackoffice } from './_backoffice.ts';
import { type Situation, situations } from './_vat-situations.ts';

/** A line before it is known in which situation it stands. */
export interface LineDraw {
  category: number;
  rate: number;
  quantity: string;
  unitPriceMinor: number;
  isDiscount: boolean;
}

export interface DocumentDraw {
  situation: number;
  kind: Invoice['kind'];
  lines: LineDraw[];
  terms: number;
  dueIn: number | undefined;
  supply: 'none' | 'day' | 'period';
}

const RATES = [2300, 2000, 1350, 900, 500, 480, 10_000, 1];

/** A decimal with up to six digits behind the point. */
const decimal = fc
  .tuple(fc.integer({ min: 1, max: 999_999_999 }), fc.integer({ min: 0, max: 6 }))
  .map(([parts, digits]) => {
    const text = String(parts).padStart(digits + 1, '0');
    return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  });

/** Small prices, where a half is rounded, ordinary ones, and such as a number just holds. */
const price = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 0, max: 99 }) },
  { weight: 40, arbitrary: fc.integer({ min: 0, max: 1_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }) },
);

export const lineDraw: fc.Arbitrary<LineDraw> = fc.record({
  category: fc.nat(5),
  rate: fc.nat(RATES.length - 1),
  quantity: fc.oneof(fc.constantFrom('1', '2', '0.5', '1.005'), decimal),
  unitPriceMinor: price,
  isDiscount: fc.nat(9).map((draw) => draw === 0),
});

export const documentDraw: fc.Arbitrary<DocumentDraw> = fc.record({
  situation: fc.nat(situations.length - 1),
  kind: fc.constantFrom('invoice', 'invoice', 'pro_forma'),
  lines: fc.oneof(
    { weight: 6, arbitrary: fc.array(lineDraw, { minLength: 1, maxLength: 8 }) },
    { weight: 1, arbitrary: fc.array(lineDraw, { minLength: 20, maxLength: 40 }) },
  ),
  terms: fc.nat(90),
  dueIn: fc.option(fc.nat(60), { nil: undefined }),
  supply: fc.constantFrom('none', 'day', 'period'),
});

/** The lines of a draft in a situation. */
export function linesOf({ categories, company }: Situation, draws: readonly LineDraw[]): DraftLine[] {
  return draws.map(({ category, rate, quantity, unitPriceMinor, isDiscount }) => {
    const vatCategory = categories[category % categories.length] ?? 'S';
    const isBritish = company.profile?.countryCode === 'GB';
    return {
      description: isDiscount ? 'Discount' : 'Labour',
      quantity: isDiscount ? '-0.5' : quantity,
      unitPriceMinor,
      vatCategory,
      vatRateBasisPoints: vatCategory === 'S' ? (RATES[rate] ?? 0) : 0,
      ...(vatCategory === 'E' ? { vatExemptionReason: 'Exempt: VATCA 2010 Sch 1 para 7' } : {}),
      ...(vatCategory === 'AE' && isBritish ? { reverseChargeRateBasisPoints: 2000 } : {}),
    };
  });
}

/** One company for each situation, with one customer, for all documents of a test. */
export type Desk = (situation: Situation) => Promise<TestCompany>;

export function openDesk({ openCompany }: TestBackoffice): Desk {
  const companies = new Map<Situation, TestCompany>();
  return async (situation) => {
    const known = companies.get(situation);
    if (known) return known;
    const company = await openCompany(situation.company);
    companies.set(situation, company);
    await company.apply(customerSave({ id: 'cus_1', ...situation.customer, paymentTermsDays: 30 }));
    return company;
  };
}

const exchange = { exchangeRate: '0.85172', exchangeRateDate: '2026-11-19', exchangeRateSource: 'ECB' };

/** The exchange rate that a document in a foreign currency states. */
export function exchangeIn({ company, customer }: Situation): Pick<NewInvoice, 'exchange'> {
  return customer.currency === (company.currency ?? 'EUR') ? {} : { exchange };
}

export function draftOf(situation: Situation, draw: DocumentDraw, today: string): Given<'invoice.draft'> {
  const period = { startDate: addDays(today, -40), endDate: addDays(today, -10) };
  return {
    change: 'invoice.draft',
    with: {
      kind: draw.kind,
      customerId: 'cus_1',
      lines: linesOf(situation, draw.lines),
      paymentTermsDays: draw.terms,
      ...exchangeIn(situation),
      ...(draw.dueIn === undefined ? {} : { dueDate: addDays(today, draw.dueIn) }),
      ...(draw.supply === 'day' ? { supplyDate: addDays(today, -3) } : {}),
      ...(draw.supply === 'period' ? { supplyPeriod: period } : {}),
    },
  };
}

/** A document with what an invariant has to know beside it. */
export async function shownBy(
  engine: Engine,
  { id: company }: TestCompany,
  situation: Situation,
  { document, dueDate }: { document: Invoice; dueDate: string | null },
): Promise<Shown> {
  const row = await engine.db
    .selectFrom('invoices')
    .select('unpublished')
    .where('company', '=', company)
    .where('id', '=', document.id)
    .executeTakeFirstOrThrow();
  const { supplier } = JSON.parse(row.unpublished) as { supplier: Supplier | null };
  return { document, supplier, home: situation.company.currency ?? 'EUR', dueDate };
}
