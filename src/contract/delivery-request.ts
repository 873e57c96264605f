import { createHmac } from 'node:crypto';

import type { EventKind } from './events.ts';
import type { JsonText } from './json-text.ts';
import { createTraceparent, traceIdOfDelivery } from './trace-context.ts';

/** An event to deliver to one webhook. */
export interface EventToDeliver {
  /** Id of the delivery, the same at every attempt. */
  id: string;
  event: EventKind;
  createdAt: string;
  company: string;
  data: JsonText<unknown>;
}

interface Signing {
  serviceName: string;
  secret: string;
  at: Date;
}

/** Returns an attempt's body and headers (openapi.yaml, "Delivery"). Attempts differ only in signature and span. */
export function deliveryRequest(
  delivered: EventToDeliver,
  signing: Signing,
): { body: string; headers: Record<string, string> } {
  const body = deliveryBody(delivered);
  return { body, headers: deliveryHeaders({ ...delivered, body }, signing) };
}

/** Returns the body of a delivery, which is the same at every attempt. */
export function deliveryBody({ id, event, createdAt, company, data }: EventToDeliver): string {
  const envelope = JSON.stringify({ id, event, createdAt, companyId: company });
  return `${envelope.slice(0, -1)},"data":${data}}`;
}

/**
 * Returns the headers of one attempt at a delivery.
 * @param delivery has the body exactly as it is sent.
 */
export function deliveryHeaders(
  { id, event, body }: { id: string; event: EventKind; body: string },
  { serviceName, secret, at }: Signing,
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': `${serviceName}-Webhooks/1`,
    'Service-Event': event,
    'Service-Delivery': id,
    'Service-Signature': signatureOf(secret, body, at),
    traceparent: createTraceparent(traceIdOfDelivery(id)),
  };
}

/**
 * Returns the value of the header `Service-Signature`: `t=<unix seconds>,v1=<hex>`, where `v1` is the HMAC-SHA256 of
 * `<t>.<body>`. The key is the whole secret as shown, including `whsec_` (openapi.yaml, "Verify the signature").
 * @param body the bytes sent; a string is sent as UTF-8.
 * @param at the time of this attempt: receivers reject a signature older than 5 minutes.
 */
export function signatureOf(secret: string, body: Buffer | string, at: Date): string {
  const t = Math.floor(at.getTime() / 1000);
  const v1 = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
  return `t=${t},v1=${v1}`;
}

export const pingData = JSON.stringify({ message: 'This is a test delivery.' }) as JsonText<{
  message: string;
}>;
