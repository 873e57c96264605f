import { contractDocument } from './document.ts';
import type { EventKind } from './events.ts';

interface Responses {
  responses: Record<string, { content?: Record<string, { examples?: Record<string, { value: unknown }> }> }>;
}

/** The bodies that the contract gives as examples of an operation's successful answer. */
export function exampleBodies(operationId: string): { data: unknown; nextCursor?: string | null }[] {
  const operation = Object.values(contractDocument().paths).find(
    ({ get }) => get.operationId === operationId,
  )?.get;
  if (!operation) throw new Error(`The contract has no operation ${operationId}.`);
  // The rest of the program has no use for the responses, so the document's type leaves them out.
  const { responses } = operation as typeof operation & Responses;
  const examples = responses['200']?.content?.['application/json']?.examples ?? {};
  return Object.values(examples).map(({ value }) => value as { data: unknown });
}

/** A delivery that the contract gives as an example of an event. */
export interface ExampleEvent {
  event: EventKind;
  /** Its name in the contract, such as `settling`. */
  name: string;
  id: string;
  body: string;
}

interface Webhooks {
  webhooks: Record<
    EventKind,
    {
      post: {
        summary: string;
        description: string;
        parameters: { name: string; 'x-test-vector'?: { secret: string } }[];
        requestBody: {
          content: { 'application/json': { examples: Record<string, { value: { id: string } }> } };
        };
      };
    }
  >;
}

/** The contract's examples of events, in the contract's order. */
export function exampleEvents(): ExampleEvent[] {
  return Object.entries(eventsOfContract()).flatMap(([event, { post }]) =>
    Object.entries(post.requestBody.content['application/json'].examples).map(([name, { value }]) => ({
      // A test holds the contract's events and the names of the type together.
      event: event as EventKind,
      name,
      id: value.id,
      body: JSON.stringify(value),
    })),
  );
}

/** An event in the contract's words: when it is sent, and what it carries, in Markdown. */
export function eventWords(event: EventKind): { summary: string; description: string } {
  return eventsOfContract()[event].post;
}

/** The secret of the contract's test vector: no webhook has it, so it may be known. */
export function exampleSecret(): string {
  const vectors = eventsOfContract().ping.post.parameters.map((parameter) => parameter['x-test-vector']);
  const [secret] = vectors.flatMap((vector) => vector?.secret ?? []);
  if (secret === undefined) throw new Error('The contract has no test vector.');
  return secret;
}

function eventsOfContract(): Webhooks['webhooks'] {
  // As above: nothing else looks into the events.
  return (contractDocument() as unknown as Webhooks).webhooks;
}
