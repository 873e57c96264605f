import fc from 'fast-check';

import { applyChange } from '../../../src/server/backoffice/apply.ts';
import { Refusal } from '../../../src/server/backoffice/refusal.ts';
import { type Change, changeNames, changeProblem } from '../../../src/contract/feed.ts';
import { anyCharacter } from '../../_characters.ts';
import {
  type Break,
  breaksOf,
  broken,
  changeSchemas,
  pointerOf,
  refusalCodes,
  sampleOf,
} from './_invalid-changes.ts';
import { formSave, jobCreate, openStaffedCompany } from './_changes.ts';
import {
  inShort,
  onEachEngine,
  onSqlite,
  refusalOf,
  tablesChangedBy,
  type TestBackoffice,
} from './_backoffice.ts';

/** Says what is wrong with how a bad change is refused; undefined when nothing is. */
async function problemOf(
  backoffice: TestBackoffice['backoffice'],
  bad: unknown,
  path: Break['path'],
): Promise<string | undefined> {
  // A bad change has no type.
  const error = await applyChange(backoffice, bad as Change).catch((thrown: unknown) => thrown);
  if (!(error instanceof Refusal)) return `not refused: ${String(error)}`;
  const { code, message } = error;
  const isRight =
    code === 'invalid_change' && error.path === pointerOf(path) && message.includes(String(path.at(-1)));
  return isRight ? undefined : `${code} ${error.path}: ${message}`;
}

onSqlite('a bad change', async (t, { openCompany, backoffice, engine }) => {
  const { id: company } = await openCompany();
  t.strictSame([...changeSchemas.keys()], changeNames());

  /** Breaks every member of a valid change in turn, and tells of those that were refused in another way than they should. */
  async function breakAll(name: string): Promise<string[]> {
    const schema = changeSchemas.get(name) ?? {};
    const valid = { ...(sampleOf(schema) as object), company };
    if (changeProblem(valid)) throw new Error(`The sample of ${name} is not valid.`);
    const problems: string[] = [];
    for (const part of breaksOf(schema, valid)) {
      if (part.path.length === 0) continue;
      const problem = await problemOf(backoffice, broken(valid, part), part.path);
      if (problem) problems.push(`${name} in which ${pointerOf(part.path)} ${part.what}: ${problem}`);
    }
    return problems;
  }

  await t.test('is refused at the member that is wrong, whichever it is', async (t) => {
    const problems: string[] = [];
    const refuseAll = async () => {
      for (const name of changeNames()) problems.push(...(await breakAll(name)));
    };
    t.strictSame(await tablesChangedBy(engine, refuseAll), []);
    t.strictSame(problems, []);
  });

  await t.test('is refused when it names no move', async (t) => {
    const names = ['job.destroy', 'JOB.CREATE', ' job.create', '', 'toString', '__proto__', 'constructor'];
    for (const change of names) {
      const refusal = await refusalOf(backoffice, { company, change, with: {} });
      t.match(refusal, { code: 'unknown_change', path: '/change', message: JSON.stringify(change) });
      t.match(refusal.message, 'job.create, job.update, ', 'and is told the moves there are');
    }
    for (const change of [undefined, null, 7, true, ['job.create'], { name: 'job.create' }])
      t.equal(inShort(await refusalOf(backoffice, { company, change, with: {} })), 'invalid_change /change');
  });

  await t.test('is refused when it is no object', async (t) => {
    for (const value of [null, true, 7, 'job.create', '', [], [jobCreate()]]) {
      const refusal = await refusalOf(backoffice, value);
      t.match(refusal, { code: 'malformed_line', path: '' });
      t.match(refusal.message, JSON.stringify(value).slice(0, 20));
    }
  });

  await t.test('is refused in one line that is not long, however long values and names are', async (t) => {
    const long = 'long \u{1F525}\n'.repeat(100_000);
    const changes = [
      jobCreate({ title: long }),
      { ...jobCreate(), [long]: 1 },
      { ...jobCreate(), change: long },
      { ...jobCreate(), with: { ...jobCreate().with, customFields: { [long]: {} } } },
    ];
    for (const change of changes) {
      const { message } = await refusalOf(backoffice, { company, ...change });
      t.ok(message.isWellFormed());
      t.ok(message.length < 1_000, `${message.length} characters`);
      t.notOk(message.includes('\n'));
    }
  });
});

onSqlite('a name that no database keeps is refused', async (t, { openCompany }) => {
  const acme = await openStaffedCompany(openCompany);
  await acme.apply(formSave({ id: 'frm_1' }));
  await acme.apply({ change: 'form.publish', with: { id: 'frm_1' } });
  const submit = (given: object) => ({
    change: 'form.submit',
    with: { formId: 'frm_1', submittedBy: 'per_1', ...given },
  });
  for (const name of ['\u0000', 'a\u0000b', '\ud800', 'a\udfff']) {
    const changes: [path: string, change: object][] = [
      ['/with/customFields', jobCreate({ customFields: { [name]: 1 } })],
      ['/with/answers', submit({ answers: { [name]: true } })],
      ['/with/files', submit({ files: { [name]: [] } })],
    ];
    for (const [path, change] of changes) {
      const refusal = inShort(await acme.refusal(change));
      t.ok(refusal.startsWith(`invalid_change ${path}`), `${path} of ${JSON.stringify(name)}`);
    }
  }
});

onEachEngine(
  'whatever JSON states is refused with a known code',
  async (t, { openCompany, backoffice, engine }) => {
    const acme = await openStaffedCompany(openCompany);
    const json = fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 4 });
    // Those are made with nothing, or with null.
    const lenient = ['company.save', 'company.switch', 'logo.set'];
    const change = fc.constantFrom(...changeNames().filter((name) => !lenient.includes(name)));
    const anything = fc.oneof(
      json,
      fc.record(
        { company: fc.constant(acme.id), change: fc.oneof(change, json), with: json },
        { requiredKeys: [] },
      ),
      fc.record({ company: json, change, with: json, id: json, at: json }, { requiredKeys: ['change'] }),
      fc
        .tuple(change, fc.infiniteStream(json))
        .map(([name, values]) => ({ company: acme.id, change: name, with: scrambled(name, values) })),
    );

    const property = fc.asyncProperty(anything, async (value) => {
      const error = await applyChange(backoffice, value as Change).catch((thrown: unknown) => thrown);
      if (!(error instanceof Refusal)) throw new Error(`not refused: ${String(error)}`);
      return refusalCodes.includes(error.code) && error.message.isWellFormed() && isPointer(error.path);
    });
    // On failure, fast-check tells the seed that draws the same values again.
    const refuseAll = () => fc.assert(property, { numRuns: 1_500 });
    t.strictSame(await tablesChangedBy(engine, refuseAll), []);
  },
);

/** The `with` of a change, of which every member is something else. */
function scrambled(name: string, values: fc.Stream<unknown>): object {
  const { properties = {} } = changeSchemas.get(name)?.properties?.['with'] ?? {};
  return Object.fromEntries(Object.keys(properties).map((member) => [member, values.next().value]));
}

function isPointer(path: string): boolean {
  return /^(\/([^/~]|~[01])*)*$/.test(path);
}
