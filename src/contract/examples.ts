import { contractDocument } from './document.ts';

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
