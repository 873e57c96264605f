import { quote, unknownName, UsageError } from '../../errors.ts';
import type { OperationTool, Tool } from './tools.ts';

/** The arguments that a model gives to a tool, not yet checked. */
export type Arguments = Record<string, unknown>;

/** Matches an id as in the contract's schema `Id`, including UUIDs. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;

/**
 * Returns the parsed arguments of a tool. Query values are checked by the service, whose errors name the rule.
 * @returns the path's ids in order, the query, and a function that selects a record's fields, always including the id.
 * @throws UsageError for an unknown name or a malformed id.
 */
export function readArguments(tool: OperationTool, given: Arguments) {
  const { fields, ...others } = definedArguments(tool, given);
  const ids = tool.ids.map((name) => {
    const id = textArgument(others[name] ?? '');
    if (typeof others[name] === 'boolean' || !ID.test(id))
      throw new UsageError(`${name} must be the id of a record, not ${quote(id)}.`);
    return id;
  });
  const query = Object.entries(others).filter(([name]) => !tool.ids.includes(name));
  return {
    ids,
    query: Object.fromEntries(query.map(([name, value]) => [name, textArgument(value)])),
    chosen: fields === undefined ? (record: object) => record : choice(fields, tool.fields),
  };
}

/** Returns those arguments of a tool that have a value. @throws UsageError for a name that the tool doesn't have. */
export function definedArguments({ name: tool, inputSchema }: Tool, given: Arguments): Arguments {
  // Models may send null for arguments that they leave out.
  const stated = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const names = Object.keys(inputSchema.properties);
  for (const name of Object.keys(stated))
    if (!names.includes(name)) throw new UsageError(unknownName(name, `a parameter of ${tool}`, names));
  return stated;
}

/** Returns a function that reduces a record to the given fields and its id. Some models list them as comma-separated text. */
function choice(given: unknown, known: readonly string[]): (record: object) => object {
  const fields = [given].flat().flatMap((item) => textArgument(item).split(/, */));
  for (const field of fields)
    if (!known.includes(field)) throw new UsageError(unknownName(field, 'one of the fields', known));
  return (record) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => name === 'id' || fields.includes(name)));
}

export function textArgument(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
