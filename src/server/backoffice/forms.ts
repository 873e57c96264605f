import { isDeepStrictEqual } from 'node:util';

import { answerProblem, takesFiles } from '../../contract/answers.ts';
import { pointerPart, formatForMessage, type ChangeContent } from '../../contract/feed.ts';
import type { Form } from '../../contract/records.ts';
import type { RenderedRecord } from '../../contract/render.ts';
import { quote } from '../../errors.ts';
import type { Move } from './move.ts';
import { Refusal, refuseTwins } from './refusal.ts';

/**
 * Stores a new or changed form, whose published state stays the same. A new form has revision 1; the revision grows when the
 * fields change.
 */
export async function saveForm(move: Move, given: ChangeContent<'form.save'>): Promise<RenderedRecord> {
  // Answers are keyed by field id, so ids must be unique.
  refuseTwins('fields', given.fields, '/with/fields');
  const before = given.id === undefined ? undefined : (await move.find('forms', given.id))?.record;
  const form = {
    id: given.id ?? move.mintId('frm_'),
    title: given.title,
    description: given.description ?? '',
    published: before?.published ?? false,
    revision: before?.revision ?? 1,
    fields: given.fields,
  };
  if (!before) return move.putStamped('forms', form);
  if (!isDeepStrictEqual(form.fields, before.fields)) form.revision += 1;
  return move.putChanged('forms', { record: before }, { record: form });
}

/** Publishes a form, so that it can be submitted. @throws Refusal `wrong_state` when it is already published. */
export async function publishForm(
  move: Move,
  { id }: ChangeContent<'form.publish'>,
): Promise<RenderedRecord> {
  const form = await move.get('forms', id, '/with/id');
  if (form.published)
    throw new Refusal('wrong_state', `The form ${quote(id)} is already published.`, '/with/id');
  return move.putStamped('forms', { ...form, published: true });
}

/**
 * Stores a submission with the form's current revision; publishes form.submitted.
 * @throws Refusal `wrong_state` when the form isn't published, and `invalid_change` for answers that its fields reject.
 */
export async function submitForm(move: Move, given: ChangeContent<'form.submit'>): Promise<RenderedRecord> {
  if (given.id !== undefined) await move.mustBeNew('submissions', given.id, '/with/id');
  const form = await move.get('forms', given.formId, '/with/formId');
  if (!form.published) {
    throw new Refusal('wrong_state', `The form ${quote(form.id)} isn't published.`, '/with/formId');
  }
  refuseStrangeAnswers(form, given.answers ?? {});
  refuseStrangeFiles(form, given.files ?? {});
  await move.mustHave('people', given.submittedBy, '/with/submittedBy');
  if (given.jobId !== undefined) await move.mustHave('jobs', given.jobId, '/with/jobId');
  const { submittedAt } = given;
  const rendered = await move.put('submissions', {
    id: given.id ?? move.mintId('sub_'),
    formId: form.id,
    formRevision: form.revision,
    ...(given.jobId === undefined ? {} : { jobId: given.jobId }),
    submittedBy: given.submittedBy,
    submittedAt: submittedAt === undefined ? move.at : move.readTime(submittedAt, '/with/submittedAt'),
    // A submission never changes, so `updatedSince` compares its creation time.
    createdAt: move.stamp(),
    answers: given.answers ?? {},
    files: given.files ?? {},
  });
  move.send('form.submitted', rendered.body);
  return rendered;
}

type Filled = Required<Pick<ChangeContent<'form.submit'>, 'answers' | 'files'>>;

/** Refuses answers that don't suit the types of the form's fields. A field can be left without an answer. */
function refuseStrangeAnswers(form: Form, answers: Filled['answers']): void {
  for (const [id, answer] of Object.entries(answers)) {
    const path = `/with/answers/${pointerPart(id)}`;
    const { type } = fieldOf(form, id, path);
    const rule = answerProblem(type, answer);
    if (rule === undefined) continue;
    const message = `The field ${quote(id)} is of type ${type}, whose answer is ${rule}; it can't be ${formatForMessage(answer)}.`;
    throw new Refusal('invalid_change', message, path);
  }
}

function refuseStrangeFiles(form: Form, files: Filled['files']): void {
  for (const id of Object.keys(files)) {
    const path = `/with/files/${pointerPart(id)}`;
    const { type } = fieldOf(form, id, path);
    if (takesFiles(type)) continue;
    throw new Refusal(
      'invalid_change',
      `The field ${quote(id)} is of type ${type}, which takes no files.`,
      path,
    );
  }
}

function fieldOf(form: Form, id: string, path: string): Form['fields'][number] {
  const field = form.fields.find((one) => one.id === id);
  if (!field)
    throw new Refusal('invalid_change', `The form ${quote(form.id)} has no field ${quote(id)}.`, path);
  return field;
}
