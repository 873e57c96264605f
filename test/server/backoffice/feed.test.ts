import { applyFeed, type FeedAnswer } from '../../../src/server/backoffice/feed.ts';
import type { Backoffice } from '../../../src/server/backoffice/backoffice.ts';
import { deliveryBytesMax } from '../../../src/contract/events.ts';
import { AppError } from '../../../src/errors.ts';
import { customerSave, jobCreate, openStaffedCompany, personSave } from './_changes.ts';
import { answerIn, feedOf, inShort } from './_feed.ts';
import { without } from '../../model/_model.ts';
import { onEachEngine, onSqlite, tablesChangedBy, type TestBackoffice } from './_backoffice.ts';

async function* stream(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Applies a feed and gives its answers in short; each is checked against feed.yaml. */
async function apply(
  { backoffice }: Pick<TestBackoffice, 'backoffice'>,
  lines: readonly unknown[],
): Promise<string[]> {
  return (await answersTo(backoffice, lines)).map(({ text }) => inShort(answerIn(text)));
}

async function answersTo(backoffice: Backoffice, lines: readonly unknown[]): Promise<FeedAnswer[]> {
  const answers: FeedAnswer[] = [];
  for await (const answer of applyFeed(backoffice, stream(feedOf(lines)))) answers.push(answer);
  return answers;
}

/** A back office whose transactions are wrapped. */
function withTransactions(backoffice: Backoffice, wrap: (make: () => Promise<unknown>) => Promise<unknown>) {
  const { engine } = backoffice;
  const transaction: typeof engine.transaction = (work) =>
    // What is wrapped gives what it made.
    wrap(() => engine.transaction(work)) as ReturnType<typeof work>;
  return { ...backoffice, engine: { ...engine, transaction } };
}

onEachEngine('each line is answered, in order', async (t, office) => {
  const { id: company } = await openStaffedCompany(office.openCompany);
  const deactivate = { id: 'b', company, change: 'person.deactivate', with: { id: 'per_2' } };
  const lines = [
    { id: 'a', company, ...jobCreate({ id: 'job_1' }) },
    '',
    { company, ...jobCreate({ id: 'job_2' }) },
    deactivate,
    deactivate,
    { id: 'c', company, change: 'job.complete', with: { id: 'job_3' } },
  ];
  const answers = await answersTo(office.backoffice, lines);
  const { body } = (await office.engine.run("SELECT body FROM jobs WHERE id = 'job_1'"))[0] ?? {};
  const [first, second, ...others] = answers.map(({ text }) => text);
  t.equal(first, `{"line":1,"id":"a","status":"applied","record":${String(body)}}`, 'as it is stored');
  t.match(JSON.parse(second ?? ''), { line: 3, status: 'applied', record: { id: 'job_2' } });
  t.notOk('id' in JSON.parse(second ?? ''), 'no id is made up');
  t.strictSame(others, [
    '{"line":4,"id":"b","status":"applied","record":null}',
    '{"line":5,"id":"b","status":"skipped"}',
    '{"line":6,"id":"c","status":"refused","error":{"code":"unknown_record","message":"There is no record with the id \\"job_3\\" among the company\'s jobs.","path":"/with/id"}}',
  ]);
  const told = answers.map(({ line, status }) => `${line} ${status}`);
  t.strictSame(told, ['1 applied', '3 applied', '4 applied', '5 skipped', '6 refused']);
  t.equal(answers.at(-1)?.bytesRead, Buffer.byteLength(feedOf(lines)));
  for (const { text } of answers) answerIn(text);
});

/** Lines that are refused whatever a company has, each with the answer in short. There is only `company-1`. */
const BAD_LINES: [line: unknown, answer: string][] = [
  ['nonsense', 'malformed_line'],
  ['null', 'malformed_line'],
  [{ id: 'unknown', company: 'acme', change: 'job.delete', with: {} }, 'unknown unknown_change at /change'],
  [{ id: 7, company: 'acme', ...jobCreate() }, 'invalid_change at /id'],
  [{ id: '', company: 'acme', ...jobCreate() }, ' invalid_change at /id'],
  [{ id: 'nobody', company: 'nobody', ...jobCreate() }, 'nobody unknown_company at /company'],
  [{ id: 'half', company: 'acme', ...jobCreate({ title: '\ud800' }) }, 'half invalid_change at /with/title'],
  [
    { id: 'early', company: 'company-1', at: '2030-01-01T00:00:00Z', ...jobCreate() },
    'early invalid_change at /at',
  ],
];

onSqlite('a refused line costs that line only, and changes nothing', async (t, office) => {
  const { id: company } = await openStaffedCompany(office.openCompany);
  const changed = await tablesChangedBy(office.engine, async () => {
    for (const [line, answer] of BAD_LINES)
      t.strictSame(await apply(office, [line]), [`1 ${answer}`], JSON.stringify(line).slice(0, 200));
  });
  t.strictSame(changed, []);
  const lines = BAD_LINES.flatMap(([line], index) => [
    line,
    { company, ...jobCreate({ id: `job_${index}` }) },
  ]);
  const answers = BAD_LINES.flatMap(([, answer], index) => [
    `${2 * index + 1} ${answer}`,
    `${2 * index + 2} applied`,
  ]);
  t.strictSame(await apply(office, lines), answers);
});

onEachEngine('a change that is sent again with another content is refused', async (t, office) => {
  const { id: company } = await openStaffedCompany(office.openCompany);
  const what = { ...personSave({ id: 'per_9' }).with, teamId: null };
  const position = { at: '2026-11-19T12:00:00Z', source: 's', sequence: 4 };
  const change = { id: '1', company, change: 'person.save', ...position, with: what };
  t.strictSame(await apply(office, [change]), ['1 1 applied']);

  const reversed = (members: object) => Object.fromEntries(Object.entries(members).reverse());
  const spaced = JSON.stringify(change, null, ' \t').replaceAll('\n', '');
  const same = [change, reversed({ ...change, with: reversed(what) }), spaced];
  const skipped = ['1 1 skipped', '2 1 skipped', '3 1 skipped'];
  t.strictSame(await apply(office, same), skipped, 'the order of members and white space are no content');

  const others = [
    { ...change, with: { ...what, displayName: 'Aoife Byrne-Walsh' } },
    { ...change, with: without(what, 'teamId') },
    { ...change, at: '2026-11-19T12:00:01Z' },
    { ...change, sequence: 5 },
    { ...change, source: 't' },
    { ...change, ...customerSave({ id: 'cus_9' }) },
    without(change, 'at'),
    without(change, 'source', 'sequence'),
  ];
  const changed = await tablesChangedBy(office.engine, async () => {
    const refused = others.map((_other, index) => `${index + 1} 1 duplicate_id at /id`);
    t.strictSame(await apply(office, others), refused);
  });
  t.strictSame(changed, []);
  const [answer] = await answersTo(office.backoffice, others);
  const message = 'The change with the id "1" was applied before with other values.';
  t.match(JSON.parse(answer?.text ?? ''), { error: { message } });
});

onSqlite('a line is applied when its answer is asked for, and no earlier', async (t, office) => {
  const { id: company, record } = await openStaffedCompany(office.openCompany);
  const ids = ['job_1', 'job_2', 'job_3'];
  const feed = feedOf(ids.map((id) => ({ company, ...jobCreate({ id }) })));
  const exists = async () => Promise.all(ids.map(async (id) => (await record('jobs', id)) !== undefined));
  const answers = applyFeed(office.backoffice, stream(feed));
  t.strictSame(await exists(), [false, false, false]);
  await answers.next();
  t.strictSame(await exists(), [true, false, false]);
  await answers.next();
  t.strictSame(await exists(), [true, true, false]);
  await answers.return(undefined);
  t.strictSame(await exists(), [true, true, false]);
});

onSqlite('the feed ends with the line that meets a database that can not be used', async (t, office) => {
  const { id: company } = await openStaffedCompany(office.openCompany);
  const lines = ['job_1', 'job_2', 'job_3'].map((id) => ({ id, company, ...jobCreate({ id }) }));
  const locked = new AppError('unavailable', 'Locked.', { cause: new Error('Locked.') });
  const faults: [fault: Error, reason: string][] = [
    [locked, ': Locked'],
    [new Error('Any.'), ''],
  ];
  for (const [fault, reason] of faults) {
    let transactions = 0;
    const failing = withTransactions(office.backoffice, async (make) => {
      transactions += 1;
      if (transactions === 2) throw fault;
      return make();
    });
    const [, , last, ...more] = await answersTo(failing, ['nonsense', ...lines]);
    t.strictSame([inShort(answerIn(last?.text ?? '')), more], ['3 job_2 unavailable', []], fault.message);
    t.strictSame(last?.fault, fault);
    const message = `The database can't be used${reason}. Send this line again, and those after it.`;
    t.match(JSON.parse(last?.text ?? ''), { error: { message, path: '' } });
  }
  t.strictSame(await apply(office, lines), ['1 job_1 skipped', '2 job_2 applied', '3 job_3 applied']);
});

onEachEngine('a change whose answer was lost is found by its id later', async (t, office) => {
  const { id: company } = await openStaffedCompany(office.openCompany);
  const lost = new AppError('unavailable', 'Away.', { cause: new Error('Away.') });
  let transactions = 0;
  const failing = withTransactions(office.backoffice, async (make) => {
    const result = await make();
    transactions += 1;
    if (transactions % 2 === 1) throw lost;
    return result;
  });
  const lines = ['job_1', 'job_2'].map((id) => ({ id, company, ...jobCreate({ id }) }));
  const faults: unknown[] = [];
  const isBack = async (fault: unknown) => faults.push(fault) > 0;
  const nameless = { company, ...jobCreate({ id: 'job_3' }) };
  const text = feedOf([...lines, nameless, nameless]);
  const answers = [];
  for await (const answer of applyFeed(failing, stream(text), isBack))
    answers.push(inShort(answerIn(answer.text)));
  t.strictSame(answers, ['1 job_1 skipped', '2 job_2 skipped', '3 unavailable']);
  t.strictSame(faults, [lost, lost], 'a change without an id is not tried again: it may have been made');
});

onSqlite('no change makes a delivery that is longer than the contract says', async (t, office) => {
  const { id: company } = await openStaffedCompany(office.openCompany);
  // A line as long as any: 140 fields of 200 choices of 299 characters with a control character, which has six bytes.
  const choices = Array<string>(200).fill(`${'x'.repeat(298)}\u0001`);
  const named = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_field, number) => [`Field ${number}`, choices]));
  const line = (count: number) => ({ company, ...jobCreate({ id: 'job_1', customFields: named(count) }) });
  const count = Math.floor((8 * 1024 * 1024) / (feedOf([line(2)]).length - feedOf([line(1)]).length)) - 1;
  const whole = line(count);
  t.ok(feedOf([whole]).length > 8_250_000);
  const texts = { notes: '\u0001'.repeat(20_000), title: '\u0001'.repeat(300) };
  const dates = Array.from({ length: 366 }, (_day, day) =>
    new Date(Date.UTC(2028, 0, day + 1)).toISOString().slice(0, 10),
  );
  const update = { company, change: 'job.update', with: { id: 'job_1', ...texts, dates } };
  const answers = await answersTo(office.backoffice, [whole, update]);
  t.ok(answers.every(({ status }) => status === 'applied'));
  // Besides the record, a delivery has ids, a kind and a time.
  const longest = Math.max(...answers.map(({ text }) => Buffer.byteLength(text))) + 1_000;
  t.ok(longest > 8_380_000 && longest < deliveryBytesMax, `${longest} bytes`);
});
