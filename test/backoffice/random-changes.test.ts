import { isDeepStrictEqual } from 'node:util';

import fc from 'fast-check';

import { applyChange } from '../../src/backoffice/apply.ts';
import { Refusal } from '../../src/backoffice/refusal.ts';
import { type Change, changeProblem } from '../../src/contract/feed.ts';
import { type AnyChange, anyChange } from './_random-changes.ts';
import { refusalCodes } from './_invalid-changes.ts';
import { customerSave, formSave, jobCreate, openStaffedCompany } from './_changes.ts';
import { onEachEngine, readTables, type TestCompany, type TestOffice } from './_office.ts';

/** Refusals of what keeps feed.yaml: the schema has nothing to say against it. */
const codes = refusalCodes.filter(
  (code) => !['malformed_line', 'unknown_change', 'unavailable'].includes(code),
);

const uuid = (number: number) => `019a0000-0000-7000-8000-00000000000${number}`;

const lines = [
  {
    description: 'Labour',
    quantity: '2.5',
    unitPriceMinor: 6000,
    vatCategory: 'S' as const,
    vatRateBasisPoints: 1350,
  },
];

const siteOf = (id: string) => ({
  id,
  label: 'Boiler house',
  addressLines: ['Dock Road'],
  countryCode: 'IE',
  postcode: null,
  geo: null,
});

/** A company with a record in every state, so that every move finds one that it can be made with. */
async function openBusyCompany({ openCompany }: TestOffice): Promise<TestCompany> {
  const company = await openStaffedCompany(openCompany, {
    profile: {
      legalName: 'Brennan Services Limited',
      addressLines: ['4 Dock Road', 'Limerick'],
      countryCode: 'IE',
      vatId: 'IE6388047V',
    },
  });
  const { apply } = company;
  await apply(customerSave({ id: 'cus_1', sites: ['site_1', 'site_2'].map(siteOf) }));
  await apply(customerSave({ id: 'cus_2', currency: 'GBP' }));
  await apply(jobCreate({ id: 'job_1' }));
  await apply(jobCreate({ id: 'job_2' }));
  await apply({ change: 'job.complete', with: { id: 'job_2' } });
  await apply(formSave({ id: 'frm_1' }));
  await apply({ change: 'form.publish', with: { id: 'frm_1' } });
  for (const id of [uuid(1), uuid(2)]) {
    await apply({ change: 'invoice.draft', with: { id, kind: 'invoice', customerId: 'cus_1', lines } });
    await apply({ change: 'quote.draft', with: { id, customerId: 'cus_1', title: 'Heat pump', lines } });
  }
  await apply({ change: 'invoice.issue', with: { id: uuid(1) } });
  await apply({ change: 'quote.send', with: { id: uuid(1) } });
  return company;
}

onEachEngine('a change that keeps feed.yaml', async (t, testOffice) => {
  const { office, engine } = testOffice;
  const applied: Record<string, number> = {};
  let stored = await readTables(engine);

  /** Makes a change, and says what is wrong with what became of it. */
  async function problemOf(company: string, given: AnyChange): Promise<string | undefined> {
    // The schema's values are changes.
    const change = { company, ...given } as Change;
    const problem = changeProblem(change);
    if (problem) return `doesn't keep it: ${problem.message}`;
    const error = await applyChange(office, change).then(
      () => undefined,
      (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))),
    );
    const before = stored;
    stored = await readTables(engine);
    if (!error) {
      applied[change.change] = (applied[change.change] ?? 0) + 1;
      return undefined;
    }
    if (!(error instanceof Refusal)) return `fails: ${String(error)}`;
    if (!codes.includes(error.code)) return `is refused as ${error.code}: ${error.message}`;
    if (!isDeepStrictEqual(stored, before)) return `is refused, but something changed`;
    if (error.path === '') return `is refused nowhere: ${error.message}`;
    return error.message.includes('The contract refuses') ? error.message : undefined;
  }

  await t.test('is made, or refused where it is wrong with nothing changed', async () => {
    const property = fc.asyncProperty(
      fc.array(anyChange, { minLength: 20, maxLength: 60 }),
      async (changes) => {
        const { id } = await openBusyCompany(testOffice);
        stored = await readTables(engine);
        for (const change of changes) {
          const problem = await problemOf(id, change);
          if (problem) throw new Error(`${JSON.stringify(change)} ${problem}`);
        }
      },
    );
    // On failure fast-check says from which seed it can be had again.
    await fc.assert(property, { numRuns: 12 });
  });
});
