import { setNumbering } from '../../../src/server/backoffice/numbering.ts';
import { UsageError } from '../../../src/errors.ts';
import { STORY_NOW } from '../../_server.ts';
import { invoiceDraft, issue, issued, line, openIssuer } from './_documents.ts';
import { quoteDraft } from './_issued.ts';
import { type Given, onEachEngine, type TestCompany } from './_backoffice.ts';
import { irishCompany } from './_parties.ts';

async function numbersOf(company: TestCompany, count: number): Promise<(string | null)[]> {
  const numbers: (string | null)[] = [];
  for (let index = 0; index < count; index += 1) numbers.push((await issued(company, invoiceDraft())).number);
  return numbers;
}

/*
 * The model says that each kind and year has a series, that drafts take no number and that versions share one (test/model), and
 * that several processes leave no gap and no twin the store's (test/server/store/records/number-series.test.ts).
 */
onEachEngine('a number', async (t, office) => {
  const { engine, setNow } = office;
  const format = (company: TestCompany, kind: string, given: { format?: string; last?: number }) =>
    setNumbering(engine, company.id, { kind, ...given, now: STORY_NOW });

  await t.test('is of the year of the company’s own calendar', async (t) => {
    const company = await openIssuer(office, { company: { ...irishCompany, timeZone: 'Pacific/Auckland' } });
    setNow('2026-12-31T11:00:00.000Z');
    t.match(await issued(company, invoiceDraft()), { number: 'INV-2027-0001' });
    t.match(await company.apply(quoteDraft()), { number: 'Q-2027-0001' });
    setNow(STORY_NOW);
  });

  await t.test('isn’t given out by a clock that was set back', async (t) => {
    const company = await openIssuer(office);
    setNow('2027-01-02T12:00:00.000Z');
    const drafts = [await company.apply(invoiceDraft()), await company.apply(invoiceDraft())];
    setNow('2025-12-01T12:00:00.000Z');
    const refused = [issue(drafts[0]?.id ?? ''), quoteDraft()];
    for (const change of refused) {
      const refusal = await company.refusal(change);
      t.match(refusal, { code: 'wrong_state', message: /2025-12-01, .* 2027-01-02/ });
    }
    t.match(await company.apply({ ...refused[0], at: '2025-12-01T12:00:00.000Z' } as Given), {
      number: 'INV-2025-0001',
    });
    setNow('2027-01-02T11:55:00.000Z');
    t.match(await company.apply(issue(drafts[1]?.id ?? '')), { number: 'INV-2027-0001' });
    setNow(STORY_NOW);
  });

  await t.test('has the company’s own format, and goes on from an earlier system’s', async (t) => {
    const company = await openIssuer(office);
    await format(company, 'invoice', { format: '{year}/R{number:6}', last: 417 });
    t.strictSame(await numbersOf(company, 2), ['2026/R000418', '2026/R000419']);
    await format(company, 'invoice', { format: 'No {number}' });
    t.strictSame(await numbersOf(company, 2), ['No 1', 'No 2'], 'another format is another series');
    setNow('2027-02-01T12:00:00.000Z');
    t.strictSame(await numbersOf(company, 1), ['No 3'], 'without a year it goes on in the next one');
    setNow(STORY_NOW);
    await t.rejects(format(company, 'invoice', { last: 2 }), /No 3/, 'a series doesn’t go back');
  });

  await t.test('is longer than its format when there are so many', async (t) => {
    const company = await openIssuer(office);
    await format(company, 'invoice', { last: 9998 });
    t.strictSame(await numbersOf(company, 2), ['INV-2026-9999', 'INV-2026-10000']);
  });

  await t.test('ends with the last that there is', async (t) => {
    const company = await openIssuer(office);
    await format(company, 'invoice', { format: 'A{number}', last: 999_999_998 });
    t.strictSame(await numbersOf(company, 1), ['A999999999']);
    const { id } = await company.apply(invoiceDraft());
    t.match(await company.refusal(issue(id)), {
      code: 'limit_reached',
      path: '/with/id',
      message: /A\{number\}/,
    });
    await format(company, 'invoice', { format: 'B{number}' });
    t.equal((await company.apply(issue(id))).number, 'B1');
  });

  await t.test('is never given out twice, though two formats come to it', async (t) => {
    const company = await openIssuer(office);
    await format(company, 'invoice', { format: 'A{number}' });
    await format(company, 'pro_forma', { format: 'A{number:1}' });
    await issued(company, invoiceDraft());
    const { id } = await company.apply(invoiceDraft({ kind: 'pro_forma' }));
    t.equal((await company.apply(issue(id))).number, 'A2');
  });

  await t.test('set by mistake is taken back, down to the highest of a document', async (t) => {
    const company = await openIssuer(office);
    for (const kind of ['invoice', 'pro_forma'])
      await format(company, kind, { format: 'A_{number:2}./{year}', last: 98 });
    const numbers = await numbersOf(company, 2);
    t.strictSame(numbers, ['A_99./2026', 'A_100./2026'], 'ten times as long as the ones before');
    // Others that look alike: of another series, without digits, and too long.
    for (const other of ['AX{number}./{year}', 'A_{number}./x{year}', 'A_9999999999999{number}./{year}']) {
      await format(company, 'pro_forma', { format: other });
      await issued(company, invoiceDraft({ kind: 'pro_forma' }));
    }
    await format(company, 'invoice', { last: 9_999_999 });
    const message = `The number A_100./2026 is already used, so the last one can't be 99.`;
    const error = new UsageError(message, { field: 'last' });
    await t.rejects(format(company, 'invoice', { last: 99 }), error);
    await format(company, 'invoice', { last: 100 });
    t.strictSame(await numbersOf(company, 1), ['A_101./2026']);
    // Another company's quotes hold up no series.
    await (await openIssuer(office)).apply(quoteDraft());
    await format(company, 'quote', { last: 500 });
    await format(company, 'quote', { last: 0 });
    const quote = await company.apply(quoteDraft({ lines: [line()] }));
    await company.apply({ change: 'quote.send', with: { id: quote.id } });
    await t.rejects(format(company, 'quote', { last: 0 }), UsageError);
  });
});
