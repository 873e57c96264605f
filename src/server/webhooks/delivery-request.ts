import { createHmac } from 'node:crypto';

import type { EventKind } from '../../contract/events.ts';
import { eventBody, type JsonText } from '../../contract/json-text.ts';
import { UsageError } from '../errors.ts';
import type { KeptAttempt } from '../store/deliveries/deliveries-results.ts';
import type { DeliveryDetail } from '../store/deliveries/delivery-details.ts';
import { createTraceparent, traceIdOfDelivery } from '../trace-context.ts';
import type { SecretBox } from './secrets.ts';

/** An event on its way to one webhook. */
export interface DeliveredEvent {
  /** The id of the delivery, the same at every attempt. */
  id: string;
  event: EventKind;
  createdAt: string;
  company: string;
  data: JsonText<unknown>;
}

/** How one attempt is signed, and when. */
interface Signing {
  serviceName: string;
  secret: string;
  at: Date;
}

const SIGNATURE = 'Service-Signature';
const TRACEPARENT = 'traceparent';

/** The body and the headers of one attempt (openapi.yaml, "Delivery"). Only signature and span differ between attempts. */
export function deliveryRequest(
  { id, event, createdAt, company, data }: DeliveredEvent,
  signing: Signing,
): { body: string; headers: Record<string, string> } {
  const body = eventBody({ id, event, createdAt, companyId: company }, data);
  return { body, headers: deliveryHeaders({ id, event, body }, signing) };
}

/**
 * The headers of one attempt.
 * @param delivery with the body exactly as it is sent.
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
    [SIGNATURE]: signatureOf(secret, body, at),
    [TRACEPARENT]: createTraceparent(traceIdOfDelivery(id)),
  };
}

/**
 * The value of `Service-Signature`: `t=<unix seconds>,v1=<hex>`, where `v1` is the HMAC-SHA256 of `<t>.<body>` keyed
 * with the whole secret as it was shown, `whsec_` included (openapi.yaml, "Verify the signature").
 * @param body the bytes that are sent; a text is sent as UTF-8.
 * @param at the time of this attempt: a receiver refuses a signature that is older than 5 minutes.
 */
export function signatureOf(secret: string, body: Buffer | string, at: Date): string {
  const t = Math.floor(at.getTime() / 1000);
  const v1 = createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex');
  return `t=${t},v1=${v1}`;
}

/** A delivery's request as its page shows it, without what is new at each attempt. */
export interface SentRequest {
  /** The bytes, as text. */
  body: string;
  /** In the order in which they are sent. */
  headers: (readonly [name: string, value: string])[];
}

/** The request of a delivery, made anew from what is stored. */
export function sentRequest(delivery: DeliveryDetail, serviceName: string): SentRequest {
  const { body, headers } = deliveryRequest(delivery, { serviceName, secret: '', at: new Date(0) });
  const named = Object.entries(headers).filter(([name]) => name !== SIGNATURE && name !== TRACEPARENT);
  return {
    body,
    headers: [
      ['Host', new URL(delivery.url).host],
      ['Content-Length', String(Buffer.byteLength(body))],
      ...named,
    ],
  };
}

/**
 * The signature that an attempt carried: it follows from the secret, the body and the second of the attempt.
 * @returns undefined for an attempt that made no request, or whose worker ended meanwhile.
 * @throws UsageError when the webhook's secret can't be opened here.
 */
export function sentSignature(
  delivery: DeliveryDetail,
  attempt: KeptAttempt,
  { box, serviceName }: { box: SecretBox; serviceName: string },
): string | undefined {
  if (attempt.error === 'interrupted' || attempt.error === 'internal') return undefined;
  const secret = box.open(delivery.secret, { company: delivery.company, id: delivery.webhook });
  const at = new Date(attempt.attemptedAt);
  return deliveryRequest(delivery, { serviceName, secret, at }).headers[SIGNATURE];
}

/** Whether this process can tell signatures: one without the key of the secrets can't. */
export function canSign({ company, webhook, secret }: DeliveryDetail, box: SecretBox): boolean {
  try {
    box.open(secret, { company, id: webhook });
    return true;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}
