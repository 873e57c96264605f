import { type ContractParameter, contractDocument, type JsonSchema } from '../../src/contract/document.ts';
import { isScope, type Scope } from '../../src/contract/scopes.ts';

export interface DeclaredHeader {
  required: boolean;
  schema: JsonSchema;
}

export interface DeclaredExample {
  name: string;
  value: unknown;
  /** Path and query of the request that the example answers; an example of an error has none. */
  request: string | undefined;
}

export interface DeclaredResponse {
  headers: ReadonlyMap<string, DeclaredHeader>;
  mediaType: string | undefined;
  schema: JsonSchema | undefined;
  examples: readonly DeclaredExample[];
}

export interface DeclaredOperation {
  operationId: string;
  path: string;
  scope: Scope;
  parameters: readonly ContractParameter[];
  responses: ReadonlyMap<number, DeclaredResponse>;
}

/** As much of the document's responses as the suite reads; the program itself has no use for them. */
interface ResponseObject {
  headers?: Record<string, { required?: boolean; schema: JsonSchema }>;
  content?: Record<
    string,
    { schema: JsonSchema; examples?: Record<string, { value: unknown; 'x-request'?: string }> }
  >;
}

let declared: readonly DeclaredOperation[] | undefined;

/** Every operation that the contract declares, with its responses. */
export function declaredOperations(): readonly DeclaredOperation[] {
  declared ??= Object.entries(contractDocument().paths).map(([path, item]) => {
    const get = item.get as typeof item.get & { responses: Record<string, ResponseObject> };
    const [scope] = get.security.flatMap((requirement) => requirement.bearerAuth ?? []);
    if (scope === undefined || !isScope(scope)) throw new Error(`${get.operationId} names no scope.`);
    const responses = Object.entries(get.responses).map(
      ([status, response]) => [Number(status), readResponse(response)] as const,
    );
    return {
      operationId: get.operationId,
      path,
      scope,
      parameters: [...(item.parameters ?? []), ...(get.parameters ?? [])],
      responses: new Map(responses),
    };
  });
  return declared;
}

/** The operation of that name. */
export function declaredOperation(operationId: string): DeclaredOperation {
  const operation = declaredOperations().find((candidate) => candidate.operationId === operationId);
  if (!operation) throw new Error(`The contract has no operation ${operationId}.`);
  return operation;
}

/** The response that an operation declares for a status. */
export function declaredResponse(operationId: string, status: number): DeclaredResponse {
  const response = declaredOperation(operationId).responses.get(status);
  if (!response) throw new Error(`The contract declares no ${status} for ${operationId}.`);
  return response;
}

/** The path of an operation whose answer the contract shows: its first example's, without the query. */
export function knownPath(operationId: string): string {
  const [example] = declaredResponse(operationId, 200).examples;
  if (example?.request === undefined) throw new Error(`No example of ${operationId} names its request.`);
  return example.request.replace(/\?.*$/, '');
}

function readResponse({ headers = {}, content = {} }: ResponseObject): DeclaredResponse {
  const [media, ...others] = Object.entries(content);
  if (others.length > 0) throw new Error('The suite knows one media type for each response.');
  const [mediaType, body] = media ?? [];
  const examples = Object.entries(body?.examples ?? {}).map(([name, example]) => ({
    name,
    value: example.value,
    request: example['x-request'],
  }));
  return {
    headers: new Map(
      Object.entries(headers).map(([name, { required = false, schema }]) => [
        name.toLowerCase(),
        { required, schema },
      ]),
    ),
    mediaType,
    schema: body?.schema,
    examples,
  };
}
