declare const shape: unique symbol;

/**
 * The text of a JSON value of type `T`. Records are stored and served as such text (design.md section 2, point 2),
 * so the type of what a reply holds is known without parsing it.
 */
export type JsonText<T> = string & { readonly [shape]: T };

/**
 * The text of a JSON value of type `T` in parts: `items` with commas between them, after `before` and before `after`.
 * What is only sent needn't be put together (../api/body-bytes.ts).
 */
export interface JsonParts<T> {
  readonly before: string;
  readonly items: string[];
  readonly after: string;
  readonly [shape]: T;
}

/** The whole of a text in parts. */
export function textOf<T>({ before, items, after }: JsonParts<T>): JsonText<T> {
  return (before + items.join(',') + after) as JsonText<T>;
}

/** The single-record envelope `{ "data": record }` (service.md, "Conventions"). */
export function recordEnvelope<T>(record: JsonText<T>): JsonParts<{ data: T }> {
  return partsOf('{"data":', [record], '}');
}

/** The list envelope `{ "data": [record...], "nextCursor": string or null }` (service.md, "Conventions"). */
export function listEnvelope<T>(
  records: JsonText<T>[],
  nextCursor: string | null,
): JsonParts<{ data: T[]; nextCursor: string | null }> {
  return partsOf('{"data":[', records, `],"nextCursor":${JSON.stringify(nextCursor)}}`);
}

function partsOf<T>(before: string, items: string[], after: string): JsonParts<T> {
  return { before, items, after } as JsonParts<T>;
}

/** Joins the texts of two non-empty objects without a common member into the text of one. */
export function joinObjects<A, B>(first: JsonText<A>, second: JsonText<B>): JsonText<A & B> {
  return `${first.slice(0, -1)},${second.slice(1)}` as JsonText<A & B>;
}

/** What a webhook is sent, beside the record (service.md, "Delivery"). */
export interface EventEnvelope {
  /** The id of the delivery. */
  id: string;
  event: string;
  createdAt: string;
  companyId: string;
}

/** The body of a delivery: the same text at every attempt, so that all of them say the same. */
export function eventBody<T>(
  { id, event, createdAt, companyId }: EventEnvelope,
  data: JsonText<T>,
): JsonText<EventEnvelope & { data: T }> {
  const envelope = JSON.stringify({ id, event, createdAt, companyId });
  return joinObjects(envelope as JsonText<EventEnvelope>, `{"data":${data}}` as JsonText<{ data: T }>);
}
