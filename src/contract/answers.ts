import { memoized } from './computed.ts';
import type { JsonSchema } from './document.ts';
import { createAjv } from './validators.ts';

/** Rule for answers to one type of form field: the schema, its description in words, and whether files can be attached. */
interface FieldRule {
  words: string;
  schema: JsonSchema | false;
  takesFiles: boolean;
}

const answered = (words: string, schema: JsonSchema): FieldRule => ({ words, schema, takesFiles: false });
const attached: FieldRule = { words: 'none, for it takes files', schema: false, takesFiles: true };

const fromYearOne: JsonSchema = { not: { pattern: '^0000' } };

/** Rules for answers, by type of form field as in `FormField` of openapi.yaml. */
const rules: Readonly<Record<string, FieldRule>> = {
  text: answered('a string', { type: 'string' }),
  longtext: answered('a string', { type: 'string' }),
  select: answered('a string', { type: 'string' }),
  number: answered('a number', { type: 'number' }),
  yesno: answered('true or false', { type: 'boolean' }),
  multiselect: answered('an array of strings', { type: 'array' }),
  date: answered('a day such as "2026-11-20"', { type: 'string', format: 'date', ...fromYearOne }),
  time: answered('a time such as "09:40"', { type: 'string', pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' }),
  datetime: answered('a time such as "2026-11-20T09:40:00+00:00"', {
    type: 'string',
    format: 'date-time',
    ...fromYearOne,
  }),
  photo: attached,
  file: attached,
  signature: attached,
  section: { words: 'none, for it is a heading', schema: false, takesFiles: false },
};

const validatorOf = memoized((schema: FieldRule['schema']) => createAjv().compile(schema));

/**
 * Returns a description of the right answer to a form field if this one is wrong, otherwise undefined. Field types are an
 * open set, so a field of an unknown type accepts any answer.
 */
export function answerProblem(type: string, answer: unknown): string | undefined {
  const rule = ruleOf(type);
  if (!rule) return undefined;
  return validatorOf(rule.schema)(answer) ? undefined : rule.words;
}

/** Whether files can be attached to a field of the given type; true for a type that this version doesn't know. */
export function takesFiles(type: string): boolean {
  return ruleOf(type)?.takesFiles ?? true;
}

function ruleOf(type: string): FieldRule | undefined {
  return Object.hasOwn(rules, type) ? rules[type] : undefined;
}
