declare const shape: unique symbol;

/**
 * The text of a JSON value of type `T`. Records are stored and served as such text (src/README.md, "Decisions"),
 * so the type of what a reply holds is known without parsing it.
 */
export type JsonText<T> = string & { readonly [shape]: T };

/** The single-record envelope `{ "data": record }` (openapi.yaml, "Requests and answers"). */
export function recordEnvelope<T>(record: JsonText<T>): JsonText<{ data: T }> {
  return `{"data":${record}}` as JsonText<{ data: T }>;
}

/** The list envelope `{ "data": [record...], "nextCursor": string or null }` (openapi.yaml, "Requests and answers"). */
export function listEnvelope<T>(
  records: readonly JsonText<T>[],
  nextCursor: string | null,
): JsonText<{ data: T[]; nextCursor: string | null }> {
  const text = `{"data":[${records.join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`;
  return text as JsonText<{ data: T[]; nextCursor: string | null }>;
}

/** Joins the texts of two non-empty objects without a common member into the text of one. */
export function joinObjects<A, B>(first: JsonText<A>, second: JsonText<B>): JsonText<A & B> {
  return `${first.slice(0, -1)},${second.slice(1)}` as JsonText<A & B>;
}
