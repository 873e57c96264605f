declare const shape: unique symbol;

/**
 * JSON text of a value of type `T`. Records are stored and served as such text (src/README.md, "Decisions"),
 * so the type of a reply's content is known without parsing it.
 */
export type JsonText<T> = string & { readonly [shape]: T };

/** Returns a record in the single-record envelope `{ "data": record }` (openapi.yaml, "Requests and answers"). */
export function recordEnvelope<T>(record: JsonText<T>): JsonText<{ data: T }> {
  return `{"data":${record}}` as JsonText<{ data: T }>;
}

/** Returns records in the list envelope, with the next page's cursor or null (openapi.yaml, "Requests and answers"). */
export function listEnvelope<T>(
  records: readonly JsonText<T>[],
  nextCursor: string | null,
): JsonText<{ data: T[]; nextCursor: string | null }> {
  const text = `{"data":[${records.join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`;
  return text as JsonText<{ data: T[]; nextCursor: string | null }>;
}

/** Returns the JSON text of two non-empty objects merged into one; they must have no property in common. */
export function joinObjects<A, B>(first: JsonText<A>, second: JsonText<B>): JsonText<A & B> {
  return `${first.slice(0, -1)},${second.slice(1)}` as JsonText<A & B>;
}
