import { eventBody } from '../contract/json-text.ts';
import { UsageError } from '../errors.ts';
import type { DeliveryDetail } from '../store/delivery-details.ts';
import type { KeptAttempt } from '../store/deliveries-results.ts';
import { deliveryHeaders } from './delivery-headers.ts';
import type { HistoryError } from './outcomes.ts';
import { attemptErrorTexts } from './attempt-failure.ts';
import type { SecretBox } from './secrets.ts';

/** A delivery's request, the same at every attempt but for the signature. */
export interface SentRequest {
  /** The bytes, as text. */
  body: string;
  /** In the order in which they are sent; without the signature. */
  headers: (readonly [name: string, value: string])[];
}

const SIGNATURE = 'Service-Signature';

/** What a delivery's request is made of. It is put together anew from what is stored, by the same functions. */
export function sentRequest(delivery: DeliveryDetail, serviceName: string): SentRequest {
  const { id, event, createdAt, company, data, url } = delivery;
  const body = eventBody({ id, event, createdAt, companyId: company }, data);
  const headers = deliveryHeaders({ id, event, body }, { serviceName, secret: '', at: new Date(0) });
  const named = Object.entries(headers).filter(([name]) => name !== SIGNATURE);
  return {
    body,
    headers: [['Host', new URL(url).host], ['Content-Length', String(Buffer.byteLength(body))], ...named],
  };
}

/**
 * The signature that an attempt carried: it follows from the secret, the body and the second of the attempt.
 * @returns undefined for an attempt whose request nobody saw, or that made none.
 * @throws UsageError when the webhook's secret can't be opened here.
 */
export function sentSignature(
  delivery: DeliveryDetail,
  attempt: KeptAttempt,
  { box, serviceName }: { box: SecretBox; serviceName: string },
): string | undefined {
  if (attempt.error === 'interrupted' || attempt.error === 'internal') return undefined;
  const { id, event, company, webhook } = delivery;
  const { body } = sentRequest(delivery, serviceName);
  const secret = box.open(delivery.secret, { company, id: webhook });
  const at = new Date(attempt.attemptedAt);
  return deliveryHeaders({ id, event, body }, { serviceName, secret, at })[SIGNATURE];
}

/** Whether signatures can be told, which they can't be by a process without the key of the secrets. */
export function canSign({ company, webhook, secret }: DeliveryDetail, box: SecretBox): boolean {
  try {
    box.open(secret, { company, id: webhook });
    return true;
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

/** What an administrator is told about each class of error. */
export const historyErrorTexts: Readonly<Record<HistoryError, string>> = {
  ...attemptErrorTexts,
  internal: 'The service could not make the request.',
  interrupted: 'The service was stopped before it knew the answer.',
};

/** What came of an attempt, as its history keeps it: a status or a class of error. */
export function outcomeText(reason: string): string {
  if (/^\d+$/.test(reason)) return `The answer was ${reason}.`;
  return isHistoryError(reason) ? historyErrorTexts[reason] : reason;
}

function isHistoryError(value: string): value is HistoryError {
  return Object.hasOwn(historyErrorTexts, value);
}
