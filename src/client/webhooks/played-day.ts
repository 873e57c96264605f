import { setTimeout as pause } from 'node:timers/promises';

import { deliveryBytesMax, type EventKind } from '../../contract/events.ts';
import type { JsonText } from '../../contract/json-text.ts';
import { quote, UsageError } from '../../errors.ts';
import {
  type EventToDeliver,
  deliveryBody,
  deliveryRequest,
  pingData,
} from '../../contract/delivery-request.ts';
import { renewedId } from './recorded-day.ts';
import { type PostOutcome, post, receiverAddress } from './samples.ts';

/** The outcome of one of the day's deliveries. */
export interface PlayedDelivery {
  /**
   * The kind of delivery. `duplicate`: repeats an earlier one, as if its response had been lost. `old state`: arrives after a
   * newer state, as after a retry. `forgery`: isn't from the service. `largest`: has the maximum size.
   */
  kind: 'delivery' | 'duplicate' | 'old state' | 'forgery' | 'largest';
  event: EventKind;
  /** The delivery's id. */
  id: string;
  createdAt: string;
  body: string;
  /** The HTTP status of the response; null if there was none. */
  status: number | null;
  /** The milliseconds until the response or the timeout. */
  milliseconds: number;
  /** The number of attempts: more than one if the receiver was unreachable for a while. */
  attempts: number;
  /** A sentence that says what the receiver did wrong; null if nothing. */
  problem: string | null;
}

export interface PlayOptions {
  to: string;
  serviceName: string;
  secret: string;
  /** The speed relative to real time; undefined to send each delivery as soon as the previous one is answered. */
  speed?: number | undefined;
  onPlayed?: (played: PlayedDelivery) => void;
  /** The maximum milliseconds for which the receiver may be unreachable during the day, for example while it restarts. */
  awayMsMax?: number;
  /** The response timeout in milliseconds; 10 seconds by default. */
  answerMsMax?: number;
}

interface Delivery {
  kind: PlayedDelivery['kind'];
  event: EventToDeliver;
  forgery?: Forgery;
}

type Request = ReturnType<typeof deliveryRequest>;
type Signing = Parameters<typeof deliveryRequest>[1];

interface Forgery {
  /** A description of what is wrong with the forged delivery, worded to follow "a job.created that". */
  fault: string;
  advice: string;
  /** Returns a different secret or time for the delivery's signature; absent if the signature is right. */
  signing?: (signing: Signing) => Signing;
  /** Changes the signed request, as a forger might; absent if it stays as it is. */
  change?: (request: Request) => void;
}

const AWAY_MS_MAX = 30_000;
const AWAY_PAUSE_MS = 250;
/** The age, in milliseconds, of a signature that receivers must reject as too old (openapi.yaml, "Verify the signature"). */
const STALE_MS = 10 * 60_000;

const CLOCK_ADVICE = 'Refuse a t that is more than five minutes from your clock, on either side';

const forgeries: readonly Forgery[] = [
  {
    fault: 'has no signature',
    advice: 'Refuse whatever has no Service-Signature',
    change: ({ headers }) => delete headers['Service-Signature'],
  },
  {
    fault: 'is signed with another secret',
    advice: 'Compare v1 with the HMAC-SHA256 that you compute with your secret',
    signing: (own) => ({ ...own, secret: `${own.secret}x` }),
  },
  {
    fault: 'has one wrong digit in the middle of its signature',
    advice: 'Compare all 64 digits of v1, in constant time',
    change({ headers }) {
      const other = (digit: string) => (digit === '0' ? '1' : '0');
      headers['Service-Signature'] = headers['Service-Signature']?.replace(/.(?=.{31}$)/, other) ?? '';
    },
  },
  {
    fault: 'has one space more than was signed',
    advice: 'Compute the signature over the bytes that arrived, before any JSON parser',
    change: (request) => (request.body += ' '),
  },
  {
    fault: 'was signed ten minutes ago',
    advice: CLOCK_ADVICE,
    signing: (own) => ({ ...own, at: new Date(own.at.getTime() - STALE_MS) }),
  },
  {
    fault: 'is signed as if in ten minutes',
    advice: CLOCK_ADVICE,
    signing: (own) => ({ ...own, at: new Date(own.at.getTime() + STALE_MS) }),
  },
];

/**
 * Sends a day of events to a receiver: a ping, forgeries, the events with one of them late, a duplicate, and a delivery of
 * the maximum size.
 * @returns the outcome of each delivery. The day ends early if the receiver stays unreachable.
 * @throws UsageError if not even the first delivery can be made.
 */
export async function playDay(
  events: readonly EventToDeliver[],
  options: PlayOptions,
): Promise<PlayedDelivery[]> {
  const { to, speed, onPlayed } = options;
  const url = receiverAddress(to);
  const all: PlayedDelivery[] = [];
  let dayMs: number | undefined;
  for (const delivery of dayOf(events)) {
    // A late delivery has an earlier time than the delivery before it.
    const atMs = Math.max(dayMs ?? 0, Date.parse(delivery.event.createdAt));
    if (speed !== undefined && dayMs !== undefined) await pause((atMs - dayMs) / speed);
    dayMs = atMs;
    const isFirst = all.length === 0;
    // A receiver that refuses the largest delivery may drop the connection, so it isn't tried again.
    const isPatient = !isFirst && delivery.kind !== 'largest';
    const sent = await deliver(url, delivery, isPatient ? options : { ...options, awayMsMax: 0 });
    const { posted } = sent;
    const isAway = 'reason' in posted && !posted.isLate;
    if (isAway && isFirst)
      throw new UsageError(`Nothing can be delivered to ${quote(to)}: ${posted.reason}.`);
    const played = playedOf(delivery, sent);
    all.push(played);
    onPlayed?.(played);
    if (isAway) break;
  }
  return all;
}

/** Returns the deliveries of the day in sending order. */
function dayOf(events: readonly EventToDeliver[]): Delivery[] {
  const [first] = events;
  if (!first) return [];
  const ping: EventToDeliver = { ...first, id: renewedId(first.id), event: 'ping', data: pingData };
  const late = events.find(({ event }) => event === 'job.updated');
  const again = events.find(({ event }) => event === 'payment.recorded');
  const inTime = events.filter((event) => event !== late);
  return [
    { kind: 'delivery', event: ping },
    ...forgeries.map((forgery): Delivery => ({ kind: 'forgery', event: first, forgery })),
    ...inTime.flatMap((event): Delivery[] => [
      { kind: 'delivery', event },
      ...(late && event.event === 'job.completed' ? [{ kind: 'old state' as const, event: late }] : []),
      ...(again && event.event === 'invoice.paid' ? [{ kind: 'duplicate' as const, event: again }] : []),
    ]),
    ...largestOf(events).map((event): Delivery => ({ kind: 'largest', event })),
  ];
}

/** Returns the day's form submission under a new id, padded to the maximum delivery size; empty if there is no form. */
function largestOf(events: readonly EventToDeliver[]): EventToDeliver[] {
  const form = events.find(({ event }) => event === 'form.submitted');
  const last = events.at(-1);
  if (!form || !last) return [];
  // The back office wrote the data, so it has an id.
  const submission = JSON.parse(form.data) as { id: string };
  const data = JSON.stringify({ ...submission, id: `${submission.id}.largest` });
  const largest = {
    ...form,
    id: renewedId(last.id),
    createdAt: last.createdAt,
    data: data as JsonText<unknown>,
  };
  const room = deliveryBytesMax - Buffer.byteLength(deliveryBody(largest));
  return [{ ...largest, data: (data + ' '.repeat(room)) as JsonText<unknown> }];
}

function playedOf(delivery: Delivery, sent: Awaited<ReturnType<typeof deliver>>): PlayedDelivery {
  const { kind, event } = delivery;
  const { posted, body, attempts } = sent;
  return {
    kind,
    event: event.event,
    id: event.id,
    createdAt: event.createdAt,
    body,
    status: 'status' in posted ? posted.status : null,
    milliseconds: posted.milliseconds,
    attempts,
    problem: problemOf(posted, delivery) ?? null,
  };
}

/** Sends one delivery, again while the receiver is unreachable; like the service, it signs each attempt anew. */
async function deliver(
  url: URL,
  { event, forgery }: Delivery,
  { serviceName, secret, awayMsMax = AWAY_MS_MAX, answerMsMax }: PlayOptions,
) {
  const deadline = performance.now() + awayMsMax;
  for (let attempts = 1; ; attempts += 1) {
    const signing = { serviceName, secret, at: new Date() };
    const request = deliveryRequest(event, forgery?.signing?.(signing) ?? signing);
    forgery?.change?.(request);
    const { headers, body } = request;
    const posted = await post(url, headers, body, answerMsMax);
    const isOver = 'status' in posted || posted.isLate || performance.now() >= deadline;
    if (isOver) return { posted, body, attempts };
    await pause(AWAY_PAUSE_MS);
  }
}

/** Returns a sentence about what the receiver did wrong; undefined if nothing. */
function problemOf(posted: PostOutcome, { kind, event: { event }, forgery }: Delivery): string | undefined {
  const what = forgery ? `a ${event} that ${forgery.fault}` : NAMES[kind].replace('EVENT', event);
  if ('reason' in posted)
    return posted.isLate
      ? `It didn’t answer ${what} in time: keep the delivery, answer within 10 seconds, and work on it later.`
      : `It gave no answer to ${what}: ${posted.reason}.`;
  const { status } = posted;
  const isTaken = status >= 200 && status <= 299;
  if (forgery)
    return isTaken ? `It took ${what}, with ${status}. ${forgery.advice}, and answer 401.` : undefined;
  return isTaken ? undefined : `It answered ${what} with ${status}. ${adviceOn(status, kind)}`;
}

const NAMES = {
  delivery: 'EVENT',
  duplicate: 'a second delivery of a EVENT',
  'old state': 'a EVENT that came after a newer one',
  largest: `a EVENT of ${deliveryBytesMax.toLocaleString('en')} bytes`,
  forgery: 'EVENT',
} satisfies Record<PlayedDelivery['kind'], string>;

function adviceOn(status: number, kind: PlayedDelivery['kind']): string {
  if (status === 413)
    return `A delivery has up to ${deliveryBytesMax.toLocaleString('en')} bytes: set the limit of the receiver, and of any proxy in front of it, to that.`;
  if (status >= 300 && status <= 399)
    return 'Redirects aren’t followed: give the address to which they lead.';
  if (kind === 'duplicate')
    return 'A delivery can come twice: answer an id that you have kept with a 2xx status, and do nothing else.';
  if (kind === 'old state')
    return 'Order isn’t kept: answer with a 2xx status, and keep the state with the later updatedAt.';
  return 'Only a 2xx status counts as received: the service would send it again, seven times in all.';
}

/** Returns the newest event of each record: the state that a receiver must have at the end of the day. */
export function newestOf(
  events: readonly EventToDeliver[],
): { event: EventKind; record: string; at: string }[] {
  const newest = new Map<string, { event: EventKind; record: string; at: string }>();
  for (const { event, createdAt, data } of [...events, ...largestOf(events)]) {
    const { id, invoiceId } = JSON.parse(data) as { id?: string; invoiceId?: string };
    const record = id ?? invoiceId ?? '';
    newest.set(record, { event, record, at: createdAt });
  }
  return [...newest.values()];
}
