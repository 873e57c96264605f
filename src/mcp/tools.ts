import { type OperationId, operations } from '../client/operations.ts';
import {
  contractDocument,
  contractOperations,
  type ContractParameter,
  type JsonSchema,
} from '../contract/document.ts';

/** An operation of the contract as a tool. */
export interface OperationTool {
  name: OperationId;
  title: string;
  description: string;
  inputSchema: { type: 'object' } & JsonSchema;
  path: string;
  /** The names of the ids in the path, in its order. */
  ids: string[];
  /** The kind of its answer. */
  answer: (typeof operations)[OperationId]['answer'];
}

/** The contract's words for people about an operation or a parameter. */
interface Prose {
  summary: string;
  description: string;
}

/** The operations of the contract as tools, in its order. */
export function operationTools(): OperationTool[] {
  const { paths } = contractDocument();
  return contractOperations().map(({ operationId, path, parameters }) => {
    // The rest of the program has no use for the prose, so the document's type leaves it out.
    const { summary, description } = paths[path]?.get as unknown as Prose;
    // The client doesn't compile unless it has every operation of the contract.
    const name = operationId as OperationId;
    const ids = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
    return {
      name,
      title: summary,
      description,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, schemaOf(parameter)])),
        required: ids,
        additionalProperties: false,
      },
      path,
      ids,
      answer: operations[name].answer,
    };
  });
}

function schemaOf(parameter: ContractParameter): JsonSchema {
  const { description } = parameter as ContractParameter & Prose;
  // The client writes addresses, so that nobody has to encode anything.
  return {
    ...parameter.schema,
    description: description.replace(/ Write the `\+` of an offset as `%2B`\./, ''),
  };
}

/** The sections of the contract's introduction that every caller needs. */
const SECTIONS = ['Requests and answers', 'Money, rates, times and ids', 'Paging'];

/** Instructions for a program that uses the tools, about all of them. */
export function instructions(): string {
  const { summary, description } = contractDocument().info as unknown as Prose;
  const sections = description.split(/^(?=# )/m);
  const needed = sections.filter((section) =>
    SECTIONS.some((heading) => section.startsWith(`# ${heading}\n`)),
  );
  return [summary, ...needed.map((section) => section.trim())].join('\n\n');
}
