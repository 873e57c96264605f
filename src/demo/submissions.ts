import type { ChangeContent } from '../contract/feed.ts';
import { DAY_MS, MINUTE_MS } from '../contract/durations.ts';
import { isoDay, isoTime } from './calendar.ts';
import type { FieldPlan } from './form-catalogue.ts';
import type { DemoForm } from './forms.ts';
import type { Random } from './random.ts';
import type { Strand } from './strands.ts';
import type { World } from './world.ts';

type Filled = Required<Pick<ChangeContent<'form.submit'>, 'answers' | 'files'>>;
type Answer = Filled['answers'][string];
type Files = Filled['files'][string];

export interface Filling {
  form: DemoForm;
  submittedBy: string;
  jobId?: string;
}

/** A form is filled in, as it is then. Devices without reception deliver some time later. */
export function* submission(
  { random, census }: World,
  createdAtMs: number,
  { form, submittedBy, jobId }: Filling,
): Strand {
  if (!census.admit('submissions')) return;
  const delayMs = random.chance(0.2) ? random.integer(1, 90) * MINUTE_MS : random.integer(80, 4_000);
  const submittedAtMs = createdAtMs - delayMs;
  const answers: Filled['answers'] = {};
  const files: Filled['files'] = {};
  for (const field of form.fields) {
    if (random.chance(0.08)) continue;
    const answer = answerTo(field, submittedAtMs, random);
    if (answer !== undefined) answers[field.id] = answer;
    const attached = filesOf(field, random);
    if (attached) files[field.id] = attached;
  }
  yield {
    change: 'form.submit',
    with: {
      formId: form.id,
      ...(jobId === undefined ? {} : { jobId }),
      submittedBy,
      submittedAt: isoTime(submittedAtMs),
      answers,
      files,
    },
  };
}

/** Undefined for a type that takes files, or nothing at all. */
function answerTo(field: FieldPlan, atMs: number, random: Random): Answer | undefined {
  const choices = field.choices ?? ['Yes'];
  switch (field.type) {
    case 'yesno':
      return random.chance(0.85);
    case 'number':
      return random.integer(1, 4_000) / 10;
    case 'multiselect':
      return someOf(choices, random);
    case 'date':
      return isoDay(atMs + random.integer(0, field.daysAheadMax ?? 0) * DAY_MS);
    case 'time':
      return isoTime(atMs).slice(11, 16);
    case 'datetime':
      return isoTime(atMs);
    case 'text':
    case 'longtext':
    case 'select':
      return random.pick(choices);
    default:
      return undefined;
  }
}

function someOf(choices: readonly [string, ...string[]], random: Random): string[] {
  const chosen = choices.filter(() => random.chance(0.4));
  return chosen.length > 0 ? chosen : [random.pick(choices)];
}

function filesOf(field: FieldPlan, random: Random): Files | undefined {
  const number = random.integer(1_000, 9_999);
  switch (field.type) {
    case 'photo': {
      const photos: Files = [{ name: `IMG_${number}.jpg`, contentType: 'image/jpeg' }];
      if (random.chance(0.25)) photos.push({ name: `IMG_${number + 1}.heic`, contentType: 'image/heic' });
      return photos;
    }
    case 'file':
      return [{ name: `${field.id}-${number}.pdf`, contentType: 'application/pdf' }];
    case 'signature':
      return [{ name: `${field.id}.png`, contentType: 'image/png' }];
    default:
      return undefined;
  }
}
