import { contractDocument, type Prose } from './document.ts';
import type { EventKind } from './events.ts';
import type { OperationId } from './operations.ts';

/** The bodies that the contract gives as examples of an operation's successful answer. */
export function exampleBodies(operationId: OperationId): { data: unknown; nextCursor?: string | null }[] {
  const items = Object.values(contractDocument().paths);
  const operation = items.find(({ get }) => get.operationId === operationId)?.get;
  const examples = operation?.responses['200']?.content?.['application/json']?.examples ?? {};
  return Object.values(examples).map(({ value }) => value as { data: unknown });
}

/** A delivery that the contract gives as an example of an event. */
export interface ExampleEvent {
  event: EventKind;
  /** The example's name in the contract, such as `settling`. */
  name: string;
  id: string;
  body: string;
}

/** The contract's examples of events, in the contract's order. */
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

/** An event in the contract's words: when it is sent, and what it carries. */
export function eventWords(event: EventKind): Prose {
  return contractDocument().webhooks[event].post;
}

/** The secret of the contract's test vector: no webhook has it, so it may be known. */
export function exampleSecret(): string {
  const { parameters } = contractDocument().webhooks.ping.post;
  const [secret] = parameters.flatMap((parameter) => parameter['x-test-vector']?.secret ?? []);
  if (secret === undefined) throw new Error('The contract has no test vector.');
  return secret;
}
