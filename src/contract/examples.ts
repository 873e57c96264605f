import { contractDocument, type Prose } from './document.ts';
import type { EventKind } from './events.ts';
import type { JsonText } from './json-text.ts';
import type { OperationId } from './operations.ts';

/** Returns the contract's example bodies of an operation's successful answer. */
export function exampleBodies(operationId: OperationId): { data: unknown; nextCursor?: string | null }[] {
  const items = Object.values(contractDocument().paths);
  const operation = items.find(({ get }) => get.operationId === operationId)?.get;
  const examples = operation?.responses['200']?.content?.['application/json']?.examples ?? {};
  return Object.values(examples).map(({ value }) => value as { data: unknown });
}

/** An example delivery of an event from the contract. */
export interface ExampleEvent {
  event: EventKind;
  /** Name of the example in the contract, such as `settling`; an event can have several examples. */
  name: string;
  id: string;
  body: string;
}

/** Returns the contract's example events, in the contract's order. */
export function exampleEvents(): ExampleEvent[] {
  return Object.entries(contractDocument().webhooks).flatMap(([event, { post }]) =>
    Object.entries(post.requestBody.content['application/json'].examples).map(([name, { value }]) => ({
      event: event as EventKind,
      name,
      id: value.id,
      body: JSON.stringify(value),
    })),
  );
}

/** Returns the data of the contract's first example of an event. */
export function exampleData(kind: EventKind): JsonText<unknown> {
  const example = exampleEvents().find(({ event }) => event === kind);
  const { data } = JSON.parse(example?.body ?? '{"data":{}}') as { data: unknown };
  return JSON.stringify(data) as JsonText<unknown>;
}

/** Returns the contract's description of an event: when it is sent, and what it carries. */
export function eventWords(event: EventKind): Prose {
  return contractDocument().webhooks[event].post;
}

/** Returns the signing secret from the contract's test vector. It can be public because no webhook uses it. */
export function exampleSecret(): string {
  const { parameters } = contractDocument().webhooks.ping.post;
  const [secret] = parameters.flatMap((parameter) => parameter['x-test-vector']?.secret ?? []);
  if (secret === undefined) throw new Error('The contract has no test vector.');
  return secret;
}
