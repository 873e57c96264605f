import type { ChangeContent } from '../../../src/contract/feed.ts';
import { formSave, jobCreate, openStaffedCompany } from './_changes.ts';
import { onSqlite, type TestCompany } from './_backoffice.ts';

const safe = { id: 'fld_1', type: 'yesno', label: 'Is it safe?' };
const MOMENT = '2026-11-20T09:40:00+00:00';
const picture = { id: 'fld_2', type: 'photo', label: 'Picture' };
const fields = [safe, picture];

/** A field of every type there is, and one of a type that isn't known. */
const everyField = [
  ...['text', 'longtext', 'select', 'number', 'yesno', 'multiselect', 'date', 'time', 'datetime'],
  ...['photo', 'file', 'signature', 'section', 'barcode'],
].map((type) => ({ id: `fld_${type}`, type, label: type }));

const submit = (given: Partial<ChangeContent<'form.submit'>> = {}) =>
  ({ change: 'form.submit', with: { formId: 'frm_1', submittedBy: 'per_1', ...given } }) as const;

/** Gives a company the published form `frm_1`. */
async function addForm(company: TestCompany): Promise<void> {
  await company.apply(formSave({ id: 'frm_1', fields }));
  await company.apply({ change: 'form.publish', with: { id: 'frm_1' } });
}

onSqlite('form.submit stores the submission and sends form.submitted with it', async (t, office) => {
  const { openCompany, setNow } = office;
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
