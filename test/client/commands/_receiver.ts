import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import type { Test } from 'tap';

import { exampleSecret } from '../../../src/contract/examples.ts';
import { listen } from '../_service.ts';

/** A request that came. */
export interface Received {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingHttpHeaders;
  event: string;
  id: string;
  body: string;
}

/** The status of another answer than the right one; undefined for that. */
type Instead = (delivery: Received, received: readonly Received[]) => number | undefined;

/** A receiver that does everything right, unless told, and keeps what is genuine by the rules of the contract. */
export function receiver(instead: Instead = () => undefined, secret = exampleSecret()) {
  const received: Received[] = [];
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const { method, url, headers } = req;
    const [event, id] = [String(headers['service-event']), String(headers['service-delivery'])];
    const delivery = { method, url, headers, event, id, body: await text(req) };
    const isKept = isGenuine(delivery, secret);
    const status = isKept ? (instead(delivery, received) ?? 204) : 401;
    if (isKept) received.push(delivery);
    res.writeHead(status).end();
  };
  const listener: RequestListener = (req, res) => void answer(req, res);
  return { received, listener };
}

/** Listens as such a receiver until the test ends. */
export async function receive(t: Test, ...given: Parameters<typeof receiver>) {
  const { received, listener } = receiver(...given);
  const { url, port, stop } = await listen(t, listener);
  return { received, listener, url: `${url}/hook?x=1`, port, stop };
}

function isGenuine({ headers, body }: Received, secret: string): boolean {
  const header = String(headers['service-signature']);
  const [, time = ''] = /^t=(\d+),v1=/.exec(header) ?? [];
  const v1 = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  return Math.abs(Date.now() / 1000 - Number(time)) < 300 && header === `t=${time},v1=${v1}`;
}
