import type { WithOf } from '../../../src/contract/feed.ts';
import { formSave, jobCreate, openStaffedCompany } from './_changes.ts';
import { onSqlite, tablesChangedBy, type TestCompany } from './_backoffice.ts';

const safe = { id: 'fld_1', type: 'yesno', label: 'Is it safe?' };
const MOMENT = '2026-11-20T09:40:00+00:00';
const picture = { id: 'fld_2', type: 'photo', label: 'Picture' };
const fields = [safe, picture];

/** A field of every type there is, and one of a type that isn't known. */
const everyField = [
  ...['text', 'longtext', 'select', 'number', 'yesno', 'multiselect', 'date', 'time', 'datetime'],
  ...['photo', 'file', 'signature', 'section', 'barcode'],
].map((type) => ({ id: `fld_${type}`, type, label: type }));

const publish = { change: 'form.publish', with: { id: 'frm_1' } } as const;

const submit = (given: Partial<WithOf<'form.submit'>> = {}) =>
  ({ change: 'form.submit', with: { formId: 'frm_1', submittedBy: 'per_1', ...given } }) as const;

/** Gives a company the published form `frm_1`. */
async function addForm(company: TestCompany): Promise<void> {
  await company.apply(formSave({ id: 'frm_1', fields }));
  await company.apply(publish);
}

onSqlite('form.save', async (t, { openCompany, engine }) => {
  await t.test('makes a form of revision 1, which grows when the fields change and only then', async (t) => {
    const acme = await openCompany();
    const bare = await acme.apply(formSave({ fields: [] }));
    t.match(bare.id, /^frm_[0-9a-f]{8}-[0-9a-f]{4}-7/);
    t.match(bare, { description: '', published: false, revision: 1, fields: [] });
    const steps: [revision: number, given: Partial<WithOf<'form.save'>>][] = [
      [1, { fields }],
      [1, { fields, title: 'Another title', description: 'Another description' }],
      [2, { fields: [picture, safe] }],
      [3, { fields: [...fields, { id: 'fld_3', type: 'text', label: 'Why?' }] }],
      [4, { fields: [{ ...safe, label: 'Is it really safe?' }, picture] }],
      [5, { fields: [{ ...safe, type: 'select' }, picture] }],
      [6, { fields: [{ ...safe, id: 'fld_9' }, picture] }],
    ];
    for (const [revision, given] of steps) {
      const form = await acme.apply(formSave({ id: 'frm_1', ...given }));
      t.match(form, { revision, fields: given.fields });
      t.strictSame(await acme.record('forms', 'frm_1'), form);
    }
  });

  await t.test('leaves a form as it is that has its members in another order', async (t) => {
    const acme = await openCompany();
    await addForm(acme);
    const form = await acme.record('forms', 'frm_1');
    const reordered = fields.map(({ id, type, label }) => ({ label, type, id }));
    const save = async () =>
      t.strictSame(await acme.apply(formSave({ id: 'frm_1', fields: reordered })), form);
    t.strictSame(await tablesChangedBy(engine, save), []);
  });

  await t.test('is refused when two fields share an id', async (t) => {
    const acme = await openCompany();
    const refusal = {
      code: 'duplicate_id',
      path: '/with/fields/2/id',
      message: 'Two fields have the id "fld_1".',
    };
    t.strictSame(await acme.refusal(formSave({ fields: [...fields, ...fields] })), refusal);
  });
});

onSqlite('form.publish is refused for a form that is published', async (t, { openCompany }) => {
  const acme = await openCompany();
  await addForm(acme);
  const message = 'The form "frm_1" is published already.';
  t.strictSame(await acme.refusal(publish), { code: 'wrong_state', path: '/with/id', message });
  t.strictSame(await acme.events(), [], 'and sends nothing');
});

onSqlite('form.submit', async (t, { openCompany, setNow }) => {
  await t.test('stores the submission and sends form.submitted with it', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    await addForm(acme);
    await acme.apply(formSave({ id: 'frm_1', fields: everyField }));
    await acme.apply(jobCreate({ id: 'job_1' }));
    const photo = { name: 'boiler.jpg', contentType: 'image/jpeg' };
    const given = {
      id: 'sub_7',
      jobId: 'job_1',
      answers: {
        ...{ fld_text: 'Dry\nand warm', fld_number: -2.5, fld_yesno: false, fld_multiselect: ['a', 'b'] },
        ...{ fld_date: '2028-02-29', fld_time: '09:40', fld_datetime: MOMENT },
        fld_barcode: ['whatever', 'it takes'],
      },
      files: { fld_file: [], fld_photo: [photo], fld_barcode: [{ ...photo, name: 'code.jpg' }] },
    };
    setNow('2026-11-20T12:30:00.000Z');
    const answer = await acme.apply(submit({ ...given, submittedAt: '2026-11-20T13:29:00+01:00' }));
    const about = { formId: 'frm_1', formRevision: 2, submittedBy: 'per_1' };
    const times = { submittedAt: '2026-11-20T12:29:00.000Z', createdAt: '2026-11-20T12:30:00.000Z' };
    t.strictSame(answer, { ...given, ...about, ...times });
    t.strictSame(await acme.record('submissions', 'sub_7'), answer);
    const [, event] = await acme.events();
    t.equal(event?.kind, 'form.submitted');
    t.equal(event?.text, (await acme.texts('submissions', 'sub_7'))?.body);
    t.equal(event?.createdAt, answer.createdAt);
  });

  await t.test('has no job, answers and files unless given, and the time of the change', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    await addForm(acme);
    const { id, createdAt, ...bare } = await acme.apply({ ...submit(), at: '2026-11-19T12:00:00Z' });
    t.match(id, /^sub_[0-9a-f]{8}-[0-9a-f]{4}-7/);
    t.ok(createdAt >= '2026-11-20T12:30:00.000Z', 'it is found by when it came');
    const about = { formId: 'frm_1', formRevision: 1, submittedBy: 'per_1' };
    t.strictSame(bare, { ...about, submittedAt: '2026-11-19T12:00:00.000Z', answers: {}, files: {} });
  });

  await t.test('is refused for a form that is not published, and named', async (t) => {
    const acme = await openStaffedCompany(openCompany);
    await acme.apply(formSave({ id: 'frm_1' }));
    const message = 'The form "frm_1" isn\'t published.';
    t.strictSame(await acme.refusal(submit()), { code: 'wrong_state', path: '/with/formId', message });
  });
});

onSqlite('a form filled in with "yes" for a yes/no field is refused', async (t, { openCompany }) => {
  const acme = await openStaffedCompany(openCompany);
  await addForm(acme);
  await acme.apply(formSave({ id: 'frm_1', fields: everyField }));
  const wrong: [type: string, rule: string, answers: (boolean | number | string | string[])[]][] = [
    ['text', 'a string', [true, 7, ['a']]],
    ['longtext', 'a string', [false]],
    ['select', 'a string', [['Good']]],
    ['number', 'a number', ['7', true]],
    ['yesno', 'true or false', ['yes', 'true', 1, ['yes']]],
    ['multiselect', 'an array of strings', ['Good', true]],
    ['date', 'a day such as "2026-11-20"', ['20.11.2026', '2026-02-30', '2026-11-20T00:00:00Z', 20_261_120]],
    ['time', 'a time such as "09:40"', ['24:00', '9:40', '2026-11-20T09:40:00Z', 940]],
    ['datetime', `a time such as "${MOMENT}"`, ['2026-11-20', '09:40', '2026-11-31T09:40:00Z']],
    ['photo', 'none, for it takes files', ['boiler.jpg', true]],
    ['file', 'none, for it takes files', ['permit.pdf']],
    ['signature', 'none, for it takes files', [true]],
    ['section', 'none, for it is a heading', ['Appliance']],
  ];
  const refused = async (given: object, path: string, message: string) =>
    t.strictSame(await acme.refusal(submit(given)), {
      code: 'invalid_change',
      path: `/with/${path}`,
      message,
    });
  for (const [type, rule, answers] of wrong) {
    const of = `The field "fld_${type}" is of type ${type}, whose answer is ${rule}`;
    for (const answer of answers) {
      const given = { answers: { [`fld_${type}`]: answer } };
      await refused(given, `answers/fld_${type}`, `${of}; it can't be ${JSON.stringify(answer)}.`);
    }
  }
  for (const { id, type } of everyField) {
    if (['photo', 'file', 'signature', 'barcode'].includes(type)) continue;
    const message = `The field "${id}" is of type ${type}, which takes no files.`;
    await refused({ files: { [id]: [] } }, `files/${id}`, message);
  }
  const unknown = 'The form "frm_1" has no field "a/b".';
  await refused({ answers: { 'a/b': true } }, 'answers/a~1b', unknown);
  await refused({ files: { 'a/b': [] } }, 'files/a~1b', unknown);
  t.match(await acme.apply(submit()), { answers: {}, files: {} }, 'nothing has to be filled in');
});
