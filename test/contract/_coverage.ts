import type { JsonSchema } from '../../src/contract/document.ts';
import { type DeclaredOperation, declaredOperations } from './_declared.ts';
import type { Defect } from './_proxy.ts';

/** An answer that passed by. */
interface Seen {
  operation: DeclaredOperation;
  parameters: URLSearchParams;
  status: number;
  headers: readonly string[];
  body: unknown;
}

/** Writes down what passes through the proxy; it changes nothing. */
export function createMeter(): { tap: Defect; seen: readonly Seen[] } {
  const seen: Seen[] = [];
  return {
    seen,
    tap: {
      name: 'nothing',
      says: /^$/,
      reply: (reply, { method, target }) => {
        const [path = '', query = ''] = target.split('?');
        const operation = declaredOperations().find((candidate) => matches(candidate.path, path));
        if (operation && method === 'GET') {
          seen.push({
            operation,
            parameters: new URLSearchParams(query),
            status: reply.status,
            headers: Object.keys(reply.headers),
            body: bodyOf(reply),
          });
        }
        return reply;
      },
    },
  };
}

function matches(template: string, path: string): boolean {
  return new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
}

function bodyOf({ headers, body }: { headers: object; body: Buffer }): unknown {
  if ('content-encoding' in headers || body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Declared responses that were never answered, as `operation status`. */
export function unseenStatuses(seen: readonly Seen[]): string[] {
  return declaredOperations().flatMap((operation) =>
    [...operation.responses.keys()]
      .filter((status) => !seen.some((answer) => answer.operation === operation && answer.status === status))
      .map((status) => `${operation.operationId} ${status}`),
  );
}

/** Declared headers that never came with their response, and optional ones that never stayed away. */
export function unseenHeaders(seen: readonly Seen[]): string[] {
  return declaredOperations().flatMap((operation) =>
    [...operation.responses].flatMap(([status, { headers }]) => {
      const answers = seen.filter((answer) => answer.operation === operation && answer.status === status);
      const what = `${operation.operationId} ${status}`;
      return [...headers].flatMap(([name, { required }]) => [
        ...(answers.some((answer) => answer.headers.includes(name)) ? [] : [`${what} ${name}`]),
        ...(required || answers.some((answer) => !answer.headers.includes(name))
          ? []
          : [`${what} without ${name}`]),
      ]);
    }),
  );
}

/** Query parameters that were never accepted or never refused, and values of closed sets that were never accepted. */
export function unseenParameters(seen: readonly Seen[]): string[] {
  return declaredOperations().flatMap((operation) =>
    operation.parameters
      .filter(({ in: place }) => place === 'query')
      .flatMap(({ name, schema }) => {
        const asked = seen.filter((answer) => answer.operation === operation && answer.parameters.has(name));
        const accepted = asked.filter(({ status }) => status === 200);
        const what = `${operation.operationId} ${name}`;
        const values = (schema.enum ?? []).filter(
          (value) => !accepted.some(({ parameters }) => parameters.get(name) === value),
        );
        return [
          ...(accepted.length > 0 ? [] : [`${what} accepted`]),
          ...(asked.some(({ status }) => status === 400) ? [] : [`${what} refused`]),
          ...values.map((value) => `${what}=${String(value)}`),
        ];
      }),
  );
}

/**
 * Members of successful bodies that were never seen: each present, each nullable one null and not, each optional one
 * absent, each array with and without items, each value of each closed set.
 */
export function unseenMembers(seen: readonly Seen[]): string[] {
  return declaredOperations().flatMap((operation) => {
    const schema = operation.responses.get(200)?.schema;
    const bodies = seen
      .filter((answer) => answer.operation === operation && answer.status === 200)
      .map(({ body }) => body)
      .filter((body) => body !== undefined);
    if (schema?.type !== 'object') return [];
    return unseenIn(schema, bodies).map((what) => `${operation.operationId}${what}`);
  });
}

function unseenIn(schema: JsonSchema, values: readonly unknown[]): string[] {
  const present = values.filter((value) => value !== null && value !== undefined);
  if (present.length === 0) return [' never has a value'];
  const isNullable = [schema.type].flat().includes('null');
  const items = schema.items && present.every((value) => Array.isArray(value)) ? schema.items : undefined;
  return [
    ...(isNullable && !values.includes(null) ? [' is never null'] : []),
    ...(schema.enum ?? [])
      .filter((value) => !values.includes(value))
      .map((value) => ` is never ${String(value)}`),
    ...unseenProperties(schema, present),
    ...(items ? unseenIn(items, present.flat()).map((what) => `/*${what}`) : []),
  ];
}

function unseenProperties(
  { properties = {}, required = [] }: JsonSchema,
  objects: readonly unknown[],
): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    // Only objects are valid where the schema has properties.
    const inside = objects.map((object) => (object as Record<string, unknown>)[name]);
    const isAlwaysThere = !inside.includes(undefined);
    const found = unseenIn(
      schema,
      inside.filter((value) => value !== undefined),
    );
    return [
      ...(isAlwaysThere && !required.includes(name) ? [`/${name} is never absent`] : []),
      ...found.map((what) => `/${name}${what}`),
    ];
  });
}
