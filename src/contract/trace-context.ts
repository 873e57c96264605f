import { randomBytes } from 'node:crypto';

/** https://www.w3.org/TR/trace-context/#traceparent-header, version 00. An id of zeros alone is invalid. */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * The trace that a request belongs to.
 * @returns undefined without a `traceparent`, and for an invalid one, which the recommendation says to ignore.
 */
export function traceIdIn(traceparent: string | string[] | undefined): string | undefined {
  return TRACEPARENT.exec(String(traceparent))?.[1];
}

/**
 * The trace that all attempts of a delivery belong to: the digits of its id, so that whoever knows one finds the other.
 * @param id `dlv_` and a UUID.
 */
export function traceIdOfDelivery(id: string): string {
  return id.replace('dlv_', '').replaceAll('-', '');
}

/**
 * The `traceparent` of a request that we make, with a new span. It is marked as sampled: receivers that follow the
 * mark, as OpenTelemetry does by default, would otherwise drop their own traces of it.
 */
export function createTraceparent(traceId: string): string {
  return `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
}
