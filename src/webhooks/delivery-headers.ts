import type { EventKind } from '../contract/events.ts';
import { signatureOf } from './signature.ts';

/** What the headers of one attempt are made of. */
export interface Delivery {
  /** The id of the delivery, the same at every attempt. */
  id: string;
  event: EventKind;
  /** The body exactly as it is sent. */
  body: string;
}

/**
 * The headers of one attempt (service.md, "Delivery").
 * @param options.at the time of the attempt, which the signature is made with.
 */
export function deliveryHeaders(
  { id, event, body }: Delivery,
  options: { serviceName: string; secret: string; at: Date },
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': `${options.serviceName}-Webhooks/1`,
    'Service-Event': event,
    'Service-Delivery': id,
    'Service-Signature': signatureOf(options.secret, body, options.at),
  };
}
