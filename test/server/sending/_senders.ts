import {
  createWebhookSender,
  type Sender,
  type SenderOptions,
  type WebhookRequest,
} from '../../../src/server/sending/sender.ts';
import { authority, HOST, type Receiver } from './_receivers.ts';

/** The deadline of attempts that a test waits for the end of. */
export const DEADLINE_MS = 500;

/** A sender whose every host name leads to a receiver of this machine. */
export function senderTo(receiver: Receiver, options: SenderOptions = {}): Sender {
  return createWebhookSender({
    resolve: async () => ['127.0.0.1'],
    isCallable: (address) => address === '127.0.0.1',
    ca: authority.ca,
    port: receiver.port,
    // For a receiver that answers, on a busy machine too.
    deadlineMs: 30_000,
    ...options,
  });
}

export function requestTo({ url = `https://${HOST}/hook`, body = '{"event":"ping"}' } = {}): WebhookRequest {
  return {
    url,
    body,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'Fieldledger-Webhooks/1',
      'Service-Event': 'ping',
    },
  };
}
