import { applyFeed, type FeedAnswer } from '../../../src/server/backoffice/feed.ts';
import type { Backoffice } from '../../../src/server/backoffice/backoffice.ts';
import { deliveryBytesMax } from '../../../src/contract/events.ts';
import { AppError } from '../../../src/errors.ts';
import { customerSave, formSave, jobCreate, openStaffedCompany, personSave } from './_changes.ts';
import { answerIn, feedOf, inShort } from './_feed.ts';
import { without } from '../../model/_model.ts';
import { onEachEngine, tablesChangedBy, type TestBackoffice } from './_backoffice.ts';

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

onEachEngine('each line is answered, in order', async (t, testBackoffice) => {
  const { id: company } = await openStaffedCompany(testBackoffice.openCompany);
  const lines = [
    { id: 'a', company, ...jobCreate({ id: 'job_1' }) },
    '',
    { company, ...jobCreate({ id: 'job_2' }) },
    { id: 'b', company, change: 'person.deactivate', with: { id: 'per_2' } },
    { id: 'b', company, change: 'person.deactivate', with: { id: 'per_2' } },
    { id: 'c', company, change: 'job.complete', with: { id: 'job_3' } },
  ];
  const answers = await answersTo(testBackoffice.backoffice, lines);
  const texts = await testBackoffice.backoffice.engine.run("SELECT body FROM jobs WHERE id = 'job_1'");
  const body = String(texts[0]?.body);
  t.equal(answers[0]?.text, `{"line":1,"id":"a","status":"applied","record":${body}}`, 'as it is stored');
  t.match(JSON.parse(answers[1]?.text ?? ''), { line: 3, status: 'applied', record: { id: 'job_2' } });
  t.notOk('id' in JSON.parse(answers[1]?.text ?? ''), 'no id is made up');
  t.strictSame(
    answers.slice(2).map(({ text }) => text),
    [
      '{"line":4,"id":"b","status":"applied","record":null}',
      '{"line":5,"id":"b","status":"skipped"}',
      '{"line":6,"id":"c","status":"refused","error":{"code":"unknown_record","message":"There is no record with the id \\"job_3\\" among the company\'s jobs.","path":"/with/id"}}',
    ],
  );
  t.strictSame(
    answers.map(({ line, status }) => [line, status]),
    [
      [1, 'applied'],
      [3, 'applied'],
      [4, 'applied'],
      [5, 'skipped'],
      [6, 'refused'],
    ],
  );
  t.equal(answers.at(-1)?.bytesRead, Buffer.byteLength(feedOf(lines)));
  for (const { text } of answers) answerIn(text);
});

/** Lines that are refused whatever a company has, each with the answer in short. There is only `company-1`. */
const BAD_LINES: [line: unknown, answer: string][] = [
  ['nonsense', 'malformed_line'],
  ['"job.create"', 'malformed_line'],
  ['[]', 'malformed_line'],
  ['null', 'malformed_line'],
  ['{"id":"cut short"', 'malformed_line'],
  [`{"id":"deep","with":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 'malformed_line'],
  [{}, 'invalid_change at /change'],
  [{ id: 'no change', company: 'acme', with: {} }, 'no change invalid_change at /change'],
  [{ id: 'unknown', company: 'acme', change: 'job.delete', with: {} }, 'unknown unknown_change at /change'],
  [{ id: 'inherited', company: 'acme', change: 'toString', with: {} }, 'inherited unknown_change at /change'],
  [{ id: 7, company: 'acme', ...jobCreate() }, 'invalid_change at /id'],
  [{ id: '', company: 'acme', ...jobCreate() }, ' invalid_change at /id'],
  [{ id: 'nobody', company: 'nobody', ...jobCreate() }, 'nobody unknown_company at /company'],
  [{ id: 'no company', ...jobCreate() }, 'no company invalid_change at /company'],
  [{ id: 'more', company: 'acme', ...jobCreate(), and: 1 }, 'more invalid_change at /and'],
  [{ id: 'half', company: 'acme', ...jobCreate({ title: '\ud800' }) }, 'half invalid_change at /with/title'],
  [
    { id: 'early', company: 'company-1', at: '2030-01-01T00:00:00Z', ...jobCreate() },
    'early invalid_change at /at',
  ],
];

onEachEngine('a refused line costs that line only, and changes nothing', async (t, testBackoffice) => {
  const { id: company } = await openStaffedCompany(testBackoffice.openCompany);
  const changed = await tablesChangedBy(testBackoffice.engine, async () => {
    for (const [line, answer] of BAD_LINES) {
      t.strictSame(await apply(testBackoffice, [line]), [`1 ${answer}`], JSON.stringify(line).slice(0, 200));
    }
  });
  t.strictSame(changed, []);
  const good = BAD_LINES.map((_bad, index) => ({ company, ...jobCreate({ id: `job_${index}` }) }));
  t.strictSame(
    await apply(
      testBackoffice,
      BAD_LINES.flatMap(([line], index) => [line, good[index]]),
    ),
    BAD_LINES.flatMap(([, answer], index) => [`${2 * index + 1} ${answer}`, `${2 * index + 2} applied`]),
  );
});

onEachEngine('a feed that is sent again is skipped', async (t, testBackoffice) => {
  const { id: company } = await openStaffedCompany(testBackoffice.openCompany);
  const lines = [
    { id: '1', company, ...customerSave({ id: 'cus_9' }) },
    { id: '2', company, ...personSave({ id: 'per_9' }) },
    { id: '3', company, ...formSave({ id: 'frm_9' }) },
    { id: '4', company, ...jobCreate() },
    { id: '5', company, change: 'form.publish', with: { id: 'frm_9' } },
  ];
  t.strictSame(
    await apply(testBackoffice, lines),
    ['1 1', '2 2', '3 3', '4 4', '5 5'].map((place) => `${place} applied`),
  );
  const changed = await tablesChangedBy(testBackoffice.engine, async () => {
    t.strictSame(
      await apply(testBackoffice, [...lines, ...lines]),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((line) => `${line} ${((line - 1) % 5) + 1} skipped`),
    );
  });
  t.strictSame(changed, []);
});

onEachEngine('an id belongs to its company, and to one kind of change', async (t, testBackoffice) => {
  const { id: first } = await openStaffedCompany(testBackoffice.openCompany);
  const { id: second } = await openStaffedCompany(testBackoffice.openCompany);
  const lines = [
    { id: '1', company: first, ...personSave({ id: 'per_9' }) },
    { id: '1', company: second, ...personSave({ id: 'per_9' }) },
    { id: '1', company: first, ...customerSave({ id: 'cus_9' }) },
    // Refused, and therefore not noted: the id is free.
    { id: '2', company: first, change: 'job.complete', with: { id: 'job_9' } },
    { id: '2', company: first, ...jobCreate({ id: 'job_9' }) },
  ];
  t.strictSame(await apply(testBackoffice, lines), [
    '1 1 applied',
    '2 1 applied',
    '3 1 duplicate_id at /id',
    '4 2 unknown_record at /with/id',
    '5 2 applied',
  ]);
});

onEachEngine('a change that is sent again with another content is refused', async (t, testBackoffice) => {
  const { id: company } = await openStaffedCompany(testBackoffice.openCompany);
  const what = { ...personSave({ id: 'per_9', displayName: 'Aoife Byrne' }).with, teamId: null };
  const change = { id: '1', company, change: 'person.save', at: '2026-11-19T12:00:00Z', with: what };
  t.strictSame(await apply(testBackoffice, [change]), ['1 1 applied']);

  const reversed = (members: object) => Object.fromEntries(Object.entries(members).reverse());
  const same = [change, reversed({ ...change, with: reversed(what) }), JSON.stringify(change, null, ' \t')];
  t.strictSame(
    await apply(
      testBackoffice,
      same.map((line) => (typeof line === 'string' ? line.replaceAll('\n', '') : line)),
    ),
    ['1 1 skipped', '2 1 skipped', '3 1 skipped'],
    'the order of members and white space are no content',
  );

  const others = [
    { ...change, with: { ...what, displayName: 'Aoife Byrne-Walsh' } },
    { ...change, with: without(what, 'teamId') },
    { ...change, at: '2026-11-19T12:00:01Z' },
    without(change, 'at'),
  ];
  const changed = await tablesChangedBy(testBackoffice.engine, async () => {
    t.strictSame(
      await apply(testBackoffice, others),
      others.map((_other, index) => `${index + 1} 1 duplicate_id at /id`),
    );
  });
  t.strictSame(changed, []);
  const [answer] = await answersTo(testBackoffice.backoffice, others);
  t.match(JSON.parse(answer?.text ?? ''), {
    error: {
      message: 'The change with the id "1" was applied before with other values.',
    },
  });
});

onEachEngine('a line is applied when its answer is asked for, and no earlier', async (t, testBackoffice) => {
  const { id: company, record } = await openStaffedCompany(testBackoffice.openCompany);
  const ids = ['job_1', 'job_2', 'job_3'];
  const feed = feedOf(ids.map((id) => ({ company, ...jobCreate({ id }) })));
  const exists = async () => Promise.all(ids.map(async (id) => (await record('jobs', id)) !== undefined));
  const answers = applyFeed(testBackoffice.backoffice, stream(feed));
  t.strictSame(await exists(), [false, false, false]);
  await answers.next();
  t.strictSame(await exists(), [true, false, false]);
  await answers.next();
  t.strictSame(await exists(), [true, true, false]);
  await answers.return(undefined);
  t.strictSame(await exists(), [true, true, false]);
});

onEachEngine(
  'the feed ends with the line that meets a database that can not be used',
  async (t, testBackoffice) => {
    const { id: company } = await openStaffedCompany(testBackoffice.openCompany);
    const lines = ['job_1', 'job_2', 'job_3'].map((id) => ({ id, company, ...jobCreate({ id }) }));
    const faults = [
      new AppError('unavailable', 'Locked.', { cause: new Error('Locked.') }),
      new Error('Any.'),
    ];
    const reasons = [': Locked', ''];
    for (const [index, fault] of faults.entries()) {
      const { engine } = testBackoffice.backoffice;
      let transactions = 0;
      const failing: Backoffice = {
        ...testBackoffice.backoffice,
        engine: {
          ...engine,
          transaction: async (work) => {
            transactions += 1;
            if (transactions === 2) throw fault;
            return engine.transaction(work);
          },
        },
      };
      const answers = await answersTo(failing, ['nonsense', ...lines]);
      t.strictSame(
        answers.map(({ text }) => inShort(answerIn(text))).slice(2),
        ['3 job_2 unavailable'],
        fault.message,
      );
      t.strictSame(answers[2]?.fault, fault);
      t.match(JSON.parse(answers[2]?.text ?? ''), {
        error: {
          message: `The database can't be used${reasons[index]}. Send this line again, and those after it.`,
          path: '',
        },
      });
    }
    t.strictSame(await apply(testBackoffice, lines), [
      '1 job_1 skipped',
      '2 job_2 applied',
      '3 job_3 applied',
    ]);
  },
);

onEachEngine(
  'a change whose answer was lost is found by its id when the database is back',
  async (t, testBackoffice) => {
    const { id: company } = await openStaffedCompany(testBackoffice.openCompany);
    const { engine } = testBackoffice.backoffice;
    const lost = new AppError('unavailable', 'Away.', { cause: new Error('Away.') });
    let transactions = 0;
    const failing: Backoffice = {
      ...testBackoffice.backoffice,
      engine: {
        ...engine,
        async transaction(work) {
          const result = await engine.transaction(work);
          transactions += 1;
          if (transactions % 2 === 1) throw lost;
          return result;
        },
      },
    };
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
  },
);

onEachEngine(
  'no change makes a delivery that is longer than the contract says',
  async (t, testBackoffice) => {
    const { id: company } = await openStaffedCompany(testBackoffice.openCompany);
    // A line as long as any: 140 fields of 200 choices of 299 characters with a control character, which has six bytes.
    const choices = Array<string>(200).fill(`${'x'.repeat(298)}\u0001`);
    const named = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_field, number) => [`Field ${number}`, choices]));
    const line = (count: number) => ({ company, ...jobCreate({ id: 'job_1', customFields: named(count) }) });
    const count = Math.floor((8 * 1024 * 1024) / (feedOf([line(2)]).length - feedOf([line(1)]).length)) - 1;
    const whole = line(count);
    t.ok(feedOf([whole]).length > 8_250_000);
    const notes = '\u0001'.repeat(20_000);
    const title = '\u0001'.repeat(300);
    const dates = Array.from({ length: 366 }, (_day, day) =>
      new Date(Date.UTC(2028, 0, day + 1)).toISOString().slice(0, 10),
    );
    const answers = await answersTo(testBackoffice.backoffice, [
      whole,
      { company, change: 'job.update', with: { id: 'job_1', title, notes, dates } },
    ]);
    t.strictSame(
      answers.map(({ status }) => status),
      ['applied', 'applied'],
    );
    // Besides the record, a delivery has ids, a kind and a time.
    const longest = Math.max(...answers.map(({ text }) => Buffer.byteLength(text))) + 1_000;
    t.ok(longest > 8_380_000 && longest < deliveryBytesMax, `${longest} bytes`);
  },
);
