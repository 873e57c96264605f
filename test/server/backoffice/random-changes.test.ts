import { isDeepStrictEqual } from 'node:util';

import fc from 'fast-check';

import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { Refusal } from '../../../src/server/backoffice/refusal.ts';
import { type Change, changeProblem } from '../../../src/contract/feed.ts';
import { webAddress } from '../../_characters.ts';
import type { Schema } from '../../contract/_contract.ts';
import { customerSave, formSave, jobCreate, openStaffedCompany, siteOf } from './_changes.ts';
import { invoiceDraft, issue, line } from './_documents.ts';
import { quoteDraft } from './_issued.ts';
import { changeSchemas, refusalCodes } from './_invalid-changes.ts';
import { onEachEngine, readTables, type TestCompany, type TestBackoffice } from './_backoffice.ts';
import { irishCompany } from './_parties.ts';

/** Few of each, so that a change often means a record that is there. */
const pools: Record<string, readonly string[]> = {
  person: ['per_1', 'per_2', 'per_3'],
  customer: ['cus_1', 'cus_2'],
  form: ['frm_1', 'frm_2'],
  job: ['job_1', 'job_2', 'job_3'],
  submission: ['sub_1', 'sub_2', 'sub_3'],
  site: ['site_1', 'site_2'],
  document: [1, 2, 3, 4].map((number) => `019a0000-0000-7000-8000-00000000000${number}`),
  other: ['A', 'b:1', 'x'.repeat(64)],
};

/** The kind of record that each member names. */
const subjects: Record<string, string> = {
  ...{ customerId: 'customer', createdBy: 'person', submittedBy: 'person', assignedTo: 'person' },
  ...{ formId: 'form', jobId: 'job', job: 'job', siteId: 'site', sites: 'site' },
};

const ID_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._:-]*$';

/** Texts of which most are alike, as they are between the documents of one company. */
const byPattern: Record<string, fc.Arbitrary<string>> = {
  '^[A-Z]{3}$': fc.constantFrom('EUR', 'EUR', 'EUR', 'EUR', 'GBP', 'JPY', 'XXQ'),
  '^[A-Z]{2}$': fc.constantFrom('IE', 'GB', 'DE', 'US', 'QQ'),
};

const anyText = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 12 })
  .map((text) => text.replaceAll('\u0000', '0'));
const anyDay = fc
  .oneof(fc.constantFrom(-1, 0, 1, 30), fc.integer({ min: -700_000, max: 2_000_000 }))
  .map((days) => new Date(Date.UTC(2026, 10, 20) + days * 86_400_000).toISOString().slice(0, 10));
const anyTime = fc
  .tuple(anyDay, fc.constantFrom('00:00:00Z', '12:00:00.25+14:00', '23:59:59.9999-01:00', '11:59:59.999z'))
  .map(([day, time]) => `${day}T${time}`);

const byFormat: Record<string, fc.Arbitrary<string>> = {
  date: anyDay,
  'date-time': anyTime,
  uuid: fc.constantFrom(...(pools['document'] ?? [])),
  email: fc.emailAddress({ size: 'small' }),
  uri: webAddress,
};

function valueOf(schema: Schema, subject: string): fc.Arbitrary<unknown> {
  const types = [schema.type ?? []].flat();
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valueOf(one, subject)));
  const [first, ...others] = types.flatMap((type) => ofType[type]?.(schema, subject) ?? []);
  if (!first) throw new Error(`There are no values of ${JSON.stringify(schema)}.`);
  return fc.oneof(first, ...others);
}

const ofType: Record<string, (schema: Schema, subject: string) => fc.Arbitrary<unknown>> = {
  null: () => fc.constant(null),
  boolean: () => fc.boolean(),
  integer: ({ minimum = 0, maximum = 100 }) =>
    fc.oneof(
      fc.integer({ min: minimum, max: Math.min(maximum, minimum + 20_000) }),
      fc.constantFrom(minimum, maximum),
    ),
  number: ({ minimum: min = -1e300, maximum: max = 1e300 }) => fc.double({ min, max, noNaN: true }),
  string: textOf,
  array: ({ items = {}, minItems = 0, maxItems, uniqueItems }, subject) => {
    const lengths = { minLength: minItems, maxLength: Math.min(maxItems ?? 3, 3) };
    const item = valueOf(items, subject);
    return uniqueItems === true ? fc.uniqueArray(item, lengths) : fc.array(item, lengths);
  },
  object: objectOf,
};

function textOf(schema: Schema, subject: string): fc.Arbitrary<string> {
  const { pattern = '^[^\\u0000]*$', format = '', minLength = 0, maxLength } = schema;
  if (pattern === ID_PATTERN) return fc.constantFrom(...(pools[subject] ?? pools['other'] ?? []));
  const known = byFormat[format] ?? byPattern[pattern];
  if (known) return known;
  if (pattern === '^[^\\u0000]*$') return minLength === 0 ? fc.oneof(anyText, fc.constant('')) : anyText;
  // fast-check knows no look-ahead; what the pattern itself refuses is filtered out.
  return fc
    .stringMatching(
      new RegExp(pattern.replace('(?=.*[1-9])', ''), 'u'),
      maxLength === undefined ? {} : { maxLength },
    )
    .filter((text) => new RegExp(pattern, 'u').test(text) && [...text].length >= minLength);
}

function objectOf(
  { properties, required = [], minProperties = 0, additionalProperties, dependentRequired = {} }: Schema,
  subject: string,
): fc.Arbitrary<object> {
  if (typeof additionalProperties === 'object') {
    return fc.dictionary(anyText, valueOf(additionalProperties, subject), { maxKeys: 3 });
  }
  const members = Object.entries(properties ?? {}).map(([name, member]) => [
    name,
    valueOf(member, name === 'id' ? subject : (subjects[name] ?? 'other')),
  ]);
  const values = Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>;
  return fc
    .record(values, { requiredKeys: required })
    .filter((value) => Object.keys(value).length >= minProperties)
    .filter((value) =>
      Object.entries(dependentRequired).every(
        ([name, needed]) => !(name in value) || needed.every((other) => other in value),
      ),
    );
}

interface AnyChange {
  change: string;
  with: unknown;
}

/** Changes that keep feed.yaml, whether they can be made or not. */
const anyChange: fc.Arbitrary<AnyChange> = fc.oneof(
  ...[...changeSchemas].map(([change, schema]) => {
    const given = valueOf(schema.properties?.['with'] ?? {}, change.split('.')[0] ?? '');
    return fc.record({ change: fc.constant(change), with: given });
  }),
);

/** Refusals of what keeps feed.yaml: the schema has nothing to say against it. */
const codes = refusalCodes.filter(
  (code) => !['malformed_line', 'unknown_change', 'unavailable'].includes(code),
);

const uuid = (number: number) => `019a0000-0000-7000-8000-00000000000${number}`;

const lines = [line({ quantity: '2.5', unitPriceMinor: 6000, vatRateBasisPoints: 1350 })];

/** A company with a record in every state, so that every move finds one that it can be made with. */
async function openBusyCompany({ openCompany }: TestBackoffice): Promise<TestCompany> {
  const company = await openStaffedCompany(openCompany, irishCompany);
  const { apply } = company;
  await apply(customerSave({ id: 'cus_1', sites: ['site_1', 'site_2'].map(siteOf) }));
  await apply(customerSave({ id: 'cus_2', currency: 'GBP' }));
  await apply(jobCreate({ id: 'job_1' }));
  await apply(jobCreate({ id: 'job_2' }));
  await apply({ change: 'job.complete', with: { id: 'job_2' } });
  await apply(formSave({ id: 'frm_1' }));
  await apply({ change: 'form.publish', with: { id: 'frm_1' } });
  for (const id of [uuid(1), uuid(2)]) {
    await apply(invoiceDraft({ id, lines }));
    await apply(quoteDraft({ id, lines }));
  }
  await apply(issue(uuid(1)));
  await apply({ change: 'quote.send', with: { id: uuid(1) } });
  return company;
}

onEachEngine('a change that keeps feed.yaml is made, or refused where it is wrong', async (t, office) => {
  const { backoffice, engine } = office;
  let stored = await readTables(engine);

  /** Makes a change, and says what is wrong with what became of it. */
  async function problemOf(company: string, given: AnyChange): Promise<string | undefined> {
    // The schema's values are changes.
    const change = { company, ...given } as Change;
    const problem = changeProblem(change);
    if (problem) return `doesn't keep it: ${problem.message}`;
    const error = await applyChange(backoffice, change).then(
      () => undefined,
      (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))),
    );
    const before = stored;
    stored = await readTables(engine);
    if (!error) return undefined;
    if (!(error instanceof Refusal)) return `fails: ${String(error)}`;
    if (!codes.includes(error.code)) return `is refused as ${error.code}: ${error.message}`;
    if (!isDeepStrictEqual(stored, before)) return `is refused, but something changed`;
    if (error.path === '') return `is refused nowhere: ${error.message}`;
    return error.message.includes('The contract refuses') ? error.message : undefined;
  }

  const changes = fc.array(anyChange, { minLength: 20, maxLength: 60 });
  const property = fc.asyncProperty(changes, async (made) => {
    const { id } = await openBusyCompany(office);
    stored = await readTables(engine);
    for (const change of made) {
      const problem = await problemOf(id, change);
      if (problem) throw new Error(`${JSON.stringify(change)} ${problem}`);
    }
  });
  // On failure fast-check says from which seed it can be had again; to make it smaller would take a quarter of an hour.
  await t.resolves(fc.assert(property, { numRuns: 8, endOnFailure: true }));
});
