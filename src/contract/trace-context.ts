import { randomBytes } from 'node:crypto';

/** Matches https://www.w3.org/TR/trace-context/#traceparent-header in version 00. An id of all zeros is invalid. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Returns the trace id from a request's `traceparent` header.
 * @returns undefined if the header is missing, or invalid, which the W3C recommendation says to ignore.
 */
export function traceIdIn(traceparent: string | string[] | undefined): string | undefined {
  return TRACEPARENT.exec(String(traceparent))?.[1];
}

/**
 * Returns the trace id shared by all attempts of a delivery: the digits of its id, so that each can be found from the other.
 * @param id `dlv_` followed by a UUID.
 */
export function traceIdOfDelivery(id: string): string {
  return id.replace('dlv_', '').replaceAll('-', '');
}

/**
 * Returns a `traceparent` header with a new span id, for an outgoing request. It is marked as sampled: receivers that follow
 * the mark, as OpenTelemetry does by default, would otherwise drop their own traces of the request.
 */
export function createTraceparent(traceId: string): string {
  return `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
}
