import { revokeFeedToken } from '../../../src/server/features/feed-tokens/stored-feed-tokens.ts';
import type { Engine } from '../../../src/server/store/engines/engine.ts';
import { AppError } from '../../../src/errors.ts';
import { STORY_NOW } from '../../_server.ts';
import { tablesChangedBy } from '../backoffice/_backoffice.ts';
import { jobCreate, openStaffedCompany, personSave } from '../backoffice/_changes.ts';
import { feedOf } from '../backoffice/_feed.ts';
import { invoiceImport, openImporter } from '../backoffice/_imports.ts';
import { answersIn, bearer, errorIn, job, NDJSON, onEachDoor, onDoor, openDoor, tokenFor } from './_door.ts';

onEachDoor('a batch is answered in its order and form, and skipped when it comes again', async (t, door) => {
  const { id: company } = door.company;
  const batch = [
    job(company, 1),
    { id: 'p', company, change: 'person.deactivate', with: { id: 'per_2' } },
    { id: 'x', company, change: 'job.complete', with: { id: 'job_9' } },
    job('nobody', 2),
    job(company, 3),
  ];
  const refused = ['3 x unknown_record /with/id', '4 c2 unknown_company /company'];
  t.strictSame(await door.apply(batch), ['1 c1 applied', '2 p applied', ...refused, '5 c3 applied']);
  const changed = await tablesChangedBy(door.engine, async () => {
    const again = await door.post(`\n${feedOf(batch)}`, NDJSON);
    t.equal(again.headers['content-type'], 'application/x-ndjson');
    const [first, second, ...rest] = again.body.trimEnd().split('\n');
    const { body, detail = '{}' } = (await door.company.texts('jobs', 'job_1')) ?? { body: '' };
    const whole = JSON.stringify({ ...JSON.parse(body), ...JSON.parse(detail) });
    t.equal(first, `{"line":2,"id":"c1","status":"skipped","record":${whole}}`, 'with the record as it is');
    t.equal(second, '{"line":3,"id":"p","status":"skipped"}');
    t.equal(rest.length, 3);
  });
  t.strictSame(changed, []);
  const rows = await door.engine.run("SELECT token FROM applied_changes WHERE id IN ('c1', 'c3', 'p')");
  const [token] = await door.engine.run('SELECT id, used_at FROM feed_tokens');
  t.strictSame(rows, Array(3).fill({ token: token?.id }), 'the audit of the operator names the token');
  t.equal(token?.used_at, STORY_NOW.toISOString());
  const count = new RegExp(`changes_total{token="${String(token?.id)}",status="applied"} 3\n`);
  t.match(await door.metrics.text(), count);
});

onDoor('a change that can not be made costs that change only', async (t, door) => {
  const { id: company } = door.company;
  const one = JSON.stringify(job(company, 1));
  const deep = `${'['.repeat(101)}${']'.repeat(101)}`;
  const bad: [text: string, answer: string][] = [
    ['17', '- malformed_line'],
    ['"]"', '- malformed_line'],
    ['null', '- malformed_line'],
    ['{}', '- invalid_change /change'],
    [`{"id":"a","company":"${company}","change":"job.delete","with":{}}`, 'a unknown_change /change'],
    [`{"id":"a","company":"${company}","change":"job.complete","with":${deep}}`, '- malformed_line'],
    [one.replace('c1', 'a","id":"a'), 'a invalid_change /id'],
    [one.replace('"jobTypeVersion":1', '"jobTypeVersion":1e400'), 'c1 invalid_change /with/jobTypeVersion'],
    [JSON.stringify(job(company, 1, { id: undefined })), '- invalid_change /id'],
    [JSON.stringify(job(company, 1, { id: '' })), ' invalid_change /id'],
    [JSON.stringify(job(company, 1, { sequence: 1 })), 'c1 invalid_change /source'],
    [JSON.stringify(job(company, 1, { source: 's' })), 'c1 invalid_change /sequence'],
    [JSON.stringify(job(company, 1, { at: '2026-11-20T12:05:01Z' })), 'c1 invalid_change /at'],
  ];
  const lines = bad.flatMap(([text], index) => [text, JSON.stringify(job(company, index + 100))]);
  const wanted = bad.flatMap(([, answer], index) => [
    `${2 * index + 1} ${answer}`,
    `${2 * index + 2} c${index + 100} `,
  ]);
  const inShort = async (text: string, headers = {}) => {
    const { status, body } = await door.post(text, headers);
    t.equal(status, 200);
    const isArray = text.startsWith('[');
    const answers = answersIn(isArray ? body : `{"answers":[${body.trim().replaceAll('\n', ',')}]}`);
    const of = ({ error }: (typeof answers)[number]) => (error ? `${error.code} ${error.path}`.trim() : '');
    return answers.map((answer) => `${answer.line} ${answer.id ?? '-'} ${of(answer)}`);
  };
  t.strictSame(await inShort(`[${lines.join(' ,\n')}]`), wanted);
  t.strictSame(await inShort(lines.join('\r\n'), NDJSON), wanted, 'the same in JSON Lines');
});

/** An engine that does something before its transaction of a number, from 1. */
function withBefore(engine: Engine, before: (transaction: number) => Promise<void>): Engine {
  let count = 0;
  return {
    ...engine,
    transaction: async (work) => {
      count += 1;
      await before(count);
      return engine.transaction(work);
    },
  };
}

onEachDoor('a token that is revoked within a batch brings no more', async (t, door) => {
  const { id: company } = door.company;
  const { id, token } = await tokenFor(door.engine);
  const engine = withBefore(door.engine, async (transaction) => {
    if (transaction === 3) await revokeFeedToken(door.engine, id, STORY_NOW);
  });
  await using revoking = await openDoor(engine, token);
  const batch = [1, 2, 3, 4].map((number) => job(company, number));
  const answers = await revoking.apply([...batch, job('new', 5, { change: 'company.save', with: {} })]);
  const refused = [3, 4, 5].map((number) => `${number} c${number} not_tried`);
  t.strictSame(answers, ['1 c1 applied', '2 c2 applied', ...refused]);
  t.strictSame(await revoking.apply(batch), ['401 revoked_key'], 'nor the next batch');
  t.strictSame(await door.apply([job(company, 1), job('new', 6)]), [
    '1 c1 skipped',
    '2 c6 unknown_company /company',
  ]);
});

onDoor('when the database goes away, the rest of a batch is not tried', async (t, door) => {
  const { id: company } = door.company;
  const fault = new AppError('unavailable', 'Away.', { cause: new Error('no route to 10.0.0.5') });
  let failing = 0;
  const engine = withBefore(door.engine, async (transaction) => {
    if (transaction === failing) throw fault;
  });
  await door.apply([job(company, 0)]);
  await using broken = await openDoor(engine, door.token);
  const batch = ['nonsense', job(company, 1), job(company, 2), job(company, 3)];
  failing = 1;
  const { status, headers, body } = await broken.post(batch.slice(1));
  const told = [status, headers['retry-after'], errorIn(body).code];
  t.strictSame(told, [503, '5', 'unavailable'], 'before all answers');
  t.strictSame((await door.engine.run('SELECT id FROM jobs')).length, 1);
  failing = 2;
  const answered = await broken.post(batch);
  const statuses = answersIn(answered.body).map((answer) => `${answer.line} ${answer.status}`);
  t.strictSame(statuses, ['1 refused', '2 refused', '3 not_tried', '4 not_tried']);
  t.notMatch(answered.body + body, '10.0.0.5', 'nobody is told where the database is');
  t.strictSame(await broken.apply(batch.slice(1)), ['1 c1 applied', '2 c2 applied', '3 c3 applied']);
});

onDoor('answers that are too long together leave the rest for the next batch', async (t, door) => {
  const { id: company } = door.company;
  const choices = Array<string>(200).fill('x'.repeat(300));
  const customFields = Object.fromEntries(
    Array.from({ length: 110 }, (_, number) => [`Field ${number}`, choices]),
  );
  await door.company.apply(jobCreate({ id: 'job_1', customFields }));
  const batch = Array.from({ length: 5 }, (_, number) =>
    job(company, number, { change: number % 2 ? 'job.reopen' : 'job.complete', with: { id: 'job_1' } }),
  );
  const statuses = (await door.apply(batch)).map((answer) => answer.split(' ')[2]);
  t.strictSame(statuses, ['applied', 'applied', 'applied', 'not_tried', 'not_tried']);
  t.strictSame((await door.apply(batch.slice(3))).length, 2);
});

onDoor('the companies of a token, and its changes, are all that it brings', async (t, door) => {
  const { id: company } = door.company;
  const { id: other } = await openStaffedCompany(door.openCompany);
  const saved = (of: string) => ({ id: 'k', company: of, ...personSave({ id: 'per_1' }) });
  await door.apply([saved(company), saved(other)]);
  const options = { companies: [company], changes: ['job.create', 'company.save'] };
  const addition = job('new-one', 4, { change: 'company.save', with: {} });
  const batch = [job(company, 1), job(other, 2), { ...saved(company), id: 'b' }, addition];
  const [elsewhere, unmade] = ['2 c2 unknown_company /company', '4 c4 unknown_company /company'];
  // Each token lacks one thing alone: of the others, all companies or all changes are its own.
  const cases: [options: Parameters<typeof tokenFor>[1], answers: string[], statuses: number[]][] = [
    [
      { companies: options.companies },
      ['1 c1 applied', elsewhere, '3 b applied', unmade],
      [200, 200, 404, 200, 404],
    ],
    [
      { changes: options.changes },
      ['1 c1 skipped', '2 c2 applied', '3 b not_allowed /change', '4 c4 applied'],
      [200, 404, 404, 200, 200],
    ],
    [options, ['1 c1 skipped', elsewhere, '3 b not_allowed /change', unmade], [200, 404, 404, 200, 404]],
  ];
  for (const [given, answers, statuses] of cases) {
    const headers = bearer((await tokenFor(door.engine, given)).token);
    t.strictSame(await door.apply(batch, headers), answers);
    const changes = [`c1?company=${company}`, `k?company=${company}`, `k?company=${other}`];
    const asked = [
      ...changes.map((change) => `changes/${change}`),
      ...[company, other].map((id) => `position?company=${id}&source=s`),
    ];
    const found = await Promise.all(asked.map(async (path) => (await door.get(path, headers)).status));
    t.strictSame(found, statuses);
    t.equal((await door.get('position?company=nobody&source=s', headers)).status, 404);
    const refused = batch.filter((_change, index) => !/applied|skipped/.test(answers[index] ?? ''));
    const changed = await tablesChangedBy(door.engine, () => door.apply(refused, headers));
    t.strictSame(changed, [], 'what is refused changes nothing');
  }
});

onEachDoor('imports that come together are answered one by one', async (t, door) => {
  const { id: company } = door.company;
  const importOf = (number: number, given: object = {}) => {
    const change = invoiceImport({ number: `RE-${number}`, ...given });
    return { id: `i${number}`, company, ...change };
  };
  const elsewhere = { id: 's', company, change: 'company.switch', with: { issuedElsewhere: ['invoice'] } };
  const applied = ['1 s applied', '2 i1 applied', '3 i2 applied', '4 c1 applied', '5 i3 applied'];
  const batch = [elsewhere, importOf(1), importOf(2), job(company, 1), importOf(3)];
  t.strictSame(await door.apply(batch), applied);
  const wrong = importOf(5, { customerId: 'cus_9' });
  t.strictSame(await door.apply([importOf(3), importOf(4), wrong, importOf(6)]), [
    '1 i3 skipped',
    '2 i4 applied',
    '3 i5 unknown_record /with/customerId',
    '4 i6 applied',
  ]);
  const [token] = await door.engine.run('SELECT id FROM feed_tokens');
  const rows = await door.engine.run("SELECT token FROM applied_changes WHERE id LIKE 'i%'");
  t.strictSame(rows, Array(5).fill({ token: token?.id }));
});

onDoor('imports that follow each other come into companies of their token alone', async (t, door) => {
  const [own, other] = [await openImporter(door), await openImporter(door)];
  const headers = bearer((await tokenFor(door.engine, { companies: [own.id] })).token);
  const importsInto = (company: string) =>
    ['RE-1', 'RE-2'].map((number) => ({ id: number, company, ...invoiceImport({ number }) }));
  t.strictSame(await door.apply(importsInto(other.id), headers), [
    '1 RE-1 unknown_company /company',
    '2 RE-2 unknown_company /company',
  ]);
  t.strictSame(await door.apply(importsInto(own.id), headers), ['1 RE-1 applied', '2 RE-2 applied']);
});
