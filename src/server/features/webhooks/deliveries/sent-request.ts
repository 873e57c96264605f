import { deliveryRequest } from '../../../../contract/delivery-request.ts';
import type { KeptAttempt } from './results.ts';
import type { DeliveryDetail } from './delivery-details.ts';
import type { SecretBox } from '../../../process/secret-box.ts';

const SIGNATURE = 'Service-Signature';

/**
 * Rebuilds the request of a delivery from stored data, as its page shows it: the exact bytes as text, and the headers in the
 * order in which they are sent, without those that differ in each attempt.
 */
export function sentRequest(delivery: DeliveryDetail, serviceName: string) {
  const { body, headers } = deliveryRequest(delivery, { serviceName, secret: '', at: new Date(0) });
  const named = Object.entries(headers).filter(([name]) => name !== SIGNATURE && name !== 'traceparent');
  return {
    body,
    headers: [
      ['Host', new URL(delivery.url).host] as const,
      ['Content-Length', String(Buffer.byteLength(body))] as const,
      ...named,
    ],
  };
}

/**
 * Recomputes the signature that an attempt carried, from the secret, the body and the second of the attempt.
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
