import {
  bodyOf,
  type BundledSchema,
  type BundledContent,
  type Example,
  bundledExamples,
  componentName,
  type BundledOperation,
  bundledOperations,
  type Parameter,
  readContractBundle,
  resolve,
} from './bundle.ts';

/*
 * Generators on npm aren't used: they repeat every header and schema under every answer, which makes the file five times as
 * large, and omit the events.
 */

/** Returns the reference as Markdown, for programs and people without a browser: everything once, in the contract's order. */
export function referenceMarkdown(): string {
  const { info, tags, webhooks, components } = readContractBundle();
  const operations = bundledOperations();
  const [event] = Object.values(webhooks);
  return [
    `# ${info.title}`,
    `> ${info.summary}`,
    `Version ${info.version}. The same as [OpenAPI 3.1](/openapi.json). ` +
      '[Operations](#operations), [webhooks](#webhooks) and [schemas](#schemas) stand below.',
    lowered(info.description, 1),
    '## Operations',
    ...tags.flatMap(({ name, description }) => {
      const own = operations.filter(({ tags: [tag] }) => tag === name);
      const texts = own.map((operation) => operationText(operation));
      return texts.length > 0 ? [`### ${name}`, lowered(description, 3), ...texts] : [];
    }),
    '## Headers of answers',
    listOf(
      Object.entries(components.headers).map(([name, { description }]) => `\`${name}\`: ${description}`),
    ),
    '## Webhooks',
    lowered(tags.find(({ name }) => name === 'Webhooks')?.description ?? '', 2),
    '### Headers of deliveries',
    parameterList(event?.post.parameters ?? []),
    ...Object.entries(webhooks).map(([name, { post }]) => eventText(name, post)),
    '## Schemas',
    'A member is always there unless it is called optional.',
    ...Object.entries(components.schemas)
      .filter(([, schema]) => hasSection(schema))
      .map(([name, schema]) => `### ${name}\n\n${schemaText(schema)}`),
    '',
  ].join('\n\n');
}

function operationText(operation: BundledOperation & { path: string }): string {
  const { path, operationId, security, summary, description, parameters, responses } = operation;
  const [sample] = operation['x-codeSamples'] ?? [];
  const scopes = security.flatMap(({ bearerAuth = [] }) => bearerAuth);
  const answers = Object.entries(responses).map(([status, answer]) => `${status}: ${answerText(answer)}`);
  const example = shortestOf(bundledExamples(bodyOf(operation)));
  return [
    `#### ${summary}`,
    `\`GET ${path}\`, operation \`${operationId}\`, scope ${scopes.map((scope) => `\`${scope}\``).join(', ')}`,
    lowered(description, 4),
    '**Parameters**',
    parameterList(parameters),
    '**Answers**',
    listOf(answers),
    ...(sample ? ['**Request**', fenced('sh', sample.source)] : []),
    ...(example ? [`**Example**: \`GET ${example['x-request'] ?? path}\``, jsonOf(example)] : []),
  ].join('\n\n');
}

function eventText(name: string, event: BundledOperation): string {
  const example = shortestOf(bundledExamples(bodyOf(event)));
  return [
    `### Event ${name}`,
    `${event.summary}. ${scopeOf(event)}Body: ${typesOf(event.requestBody)}`,
    lowered(event.description, 3),
    ...(example ? [jsonOf(example)] : []),
  ].join('\n\n');
}

const scopeOf = ({ 'x-scope': scope }: BundledOperation) =>
  scope === undefined ? '' : `Scope \`${scope}\`. `;

function answerText(answer: BundledContent): string {
  const { description } = resolve(answer);
  const codes = bundledExamples(answer).flatMap(({ value }) => {
    // Examples of errors have this shape.
    const { error } = (value ?? {}) as { error?: { code: string } };
    return error === undefined ? [] : `\`${error.code}\``;
  });
  const types = typesOf(answer);
  return [description, ...(codes.length > 0 ? [`${codes.join(', ')}.`] : []), types]
    .filter(Boolean)
    .join(' ');
}

function typesOf(body: BundledContent | undefined): string {
  const { content = {} } = body === undefined ? {} : resolve(body);
  return Object.entries(content)
    .map(([mediaType, { schema }]) => `\`${mediaType}\`, ${typeOf(schema)}.`)
    .join(' ');
}

function parameterList(parameters: readonly Parameter[]): string {
  const items = parameters.map((reference) => {
    const { name, in: place, description, schema, example, required } = resolve(reference);
    const words = [typeOf(schema), `in ${place === 'header' ? 'a header' : `the ${place}`}`];
    if (!required) words.push('optional');
    const shown = example === undefined ? '' : ` Example: \`${example}\`.`;
    return `\`${name}\` (${words.join(', ')}): ${description}${shown}`;
  });
  return listOf(items);
}

/** Returns a schema described in Markdown: an object's properties, an enum's values, or a choice's alternatives. */
function schemaText(schema: BundledSchema): string {
  const { description = '', properties, required = [], anyOf, oneOf, enum: closed } = schema;
  const meanings = schema['x-enumDescriptions'] ?? {};
  const values = closed?.map((value) => `\`${value}\`: ${meanings[value] ?? ''}`) ?? [];
  const choices = (anyOf ?? oneOf ?? []).map(
    (choice) => `${typeOf(choice)}: ${resolve(choice).description ?? ''}`,
  );
  const members = Object.entries(properties ?? {}).flatMap(([name, member]) =>
    memberLines(name, member, required.includes(name)),
  );
  return [description, listOf([...values, ...choices, ...members])].filter(Boolean).join('\n\n');
}

/** Returns a property described in Markdown and, indented below it, those of an object without its own section. */
function memberLines(name: string, member: BundledSchema, isRequired: boolean): string {
  const schema = resolve(member);
  const words = [typeOf(member), ...(isRequired ? [] : ['optional'])];
  // A named enum is described in full in its own section.
  const description =
    hasSection(schema) && componentName(member) && !member.description ? '' : (schema.description ?? '');
  const line = `\`${name}\` (${words.join(', ')})${description && `: ${description.replaceAll(/\n+/g, ' ')}`}`;
  const inner = componentName(member) === undefined ? Object.entries(schema.properties ?? {}) : [];
  const below = inner.map(([below, schemaBelow]) =>
    memberLines(below, schemaBelow, (schema.required ?? []).includes(below)),
  );
  return [line, ...below.map((text) => `- ${text}`.replaceAll(/^/gm, '  '))].join('\n');
}

/** Returns a type in a few words of Markdown, with a link if it has its own section. */
function typeOf(place: BundledSchema): string {
  const schema = resolve(place);
  const name = componentName(place);
  const orNull = [schema.type].flat().includes('null') && schema.type !== 'null' ? ' or null' : '';
  if (name !== undefined && hasSection(schema)) return `[${name}](#${name.toLowerCase()})${orNull}`;
  if (schema.items) return `array of ${typeOf(schema.items)}${orNull}`;
  if (schema.additionalProperties) return `object of ${typeOf(schema.additionalProperties)} by name${orNull}`;
  return [`${scalarOf(schema)}${orNull}`, ...boundsOf(schema)].join(', ');
}

const scalarOf = ({ type }: BundledSchema) =>
  type === 'null'
    ? 'null'
    : [type]
        .flat()
        .filter((word) => word !== 'null')
        .join(' or ');

function boundsOf({ format, const: only, minimum, maximum, default: unless }: BundledSchema): string[] {
  const isBounded = minimum !== undefined && maximum !== undefined && maximum <= SAID_MAX;
  return [
    ...(format === undefined || NUMBER_FORMAT.test(format) ? [] : [format]),
    ...(only === undefined ? [] : [`always \`${only}\``]),
    ...(isBounded ? [`${minimum} to ${maximum}`] : []),
    ...(unless === undefined ? [] : [`\`${unless}\` unless given`]),
  ];
}

/** Matches formats that only state a number's size in memory. These, and bounds that follow from them, are omitted. */
const NUMBER_FORMAT = /^(int32|int64|double)$/;
const SAID_MAX = 1_000_000;

/** Whether a schema has its own section, because its description is too long for a property's line. */
function hasSection({
  properties,
  anyOf,
  oneOf,
  enum: closed,
  'x-extensible-enum': open,
}: BundledSchema): boolean {
  return [properties, anyOf, oneOf, closed, open].some((part) => part !== undefined);
}

function shortestOf(examples: readonly Example[]): Example | undefined {
  const lengthOf = ({ value }: Example) => JSON.stringify(value).length;
  const isEmpty = ({ value }: Example) => JSON.stringify(value).startsWith('{"data":[]');
  return examples
    .filter((example) => typeof example.value === 'object' && !isEmpty(example))
    .sort((one, other) => lengthOf(one) - lengthOf(other))[0];
}

const listOf = (items: readonly string[]) => items.map((item) => `- ${item}`).join('\n');
const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;
const jsonOf = ({ value }: Example) => fenced('json', JSON.stringify(value, undefined, 2));

/** Returns Markdown with its headings lowered by some levels, but with lines in code blocks that begin with `#` unchanged. */
function lowered(prose: string, levels: number): string {
  return prose
    .split(/(^```[^]*?^```$)/m)
    .map((part) =>
      part.startsWith('```') ? part : part.replaceAll(/^#+ /gm, (marks) => '#'.repeat(levels) + marks),
    )
    .join('');
}
