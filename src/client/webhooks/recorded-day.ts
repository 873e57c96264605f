import { randomUUID } from 'node:crypto';

import { DAY_MS } from '../../contract/durations.ts';
import type { EventToDeliver } from '../../contract/delivery-request.ts';
import day from '../../../generated/recorded-day.json' with { type: 'json' };

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
/** Matches a UUIDv7 (RFC 9562 section 5.7): its time in two parts, then a counter, then random digits. */
const ID = /([\da-f]{8})-([\da-f]{4})-(7[\da-f]{3})-[\da-f]{4}-[\da-f]{12}/g;
const NUMBER = /^([A-Z]+)-\d{4}-\d+$/;

/**
 * Returns the day that the back office recorded (src/demo/day.ts), moved to the last day that is over at `now`. Times and
 * dates move by whole days, so that they still match. Ids and document numbers are new each time, because receivers remember
 * those that they have seen.
 */
export function recordedDay(now: Date): EventToDeliver[] {
  const endedMs = Date.parse(day.at(-1)?.createdAt ?? '');
  const laterMs = Math.floor((now.getTime() - endedMs) / DAY_MS) * DAY_MS;
  const moved = (text: string) => new Date(Date.parse(text) + laterMs).toISOString();
  const number = String(Math.floor(now.getTime() / 1000) % 10_000_000);
  const ids = new Map<string, string>();
  const idOf = (id: string) => {
    const known = ids.get(id) ?? renewedId(id, laterMs);
    ids.set(id, known);
    return known;
  };
  const renewed = (_name: string, value: unknown) => {
    if (typeof value !== 'string') return value;
    if (TIME.test(value)) return moved(value);
    if (DATE.test(value)) return moved(value).slice(0, 10);
    const [, kind] = NUMBER.exec(value) ?? [];
    return kind === undefined
      ? value.replaceAll(ID, idOf)
      : `${kind}-${moved(day[0]?.createdAt ?? '').slice(0, 4)}-${number}`;
  };
  const events = JSON.parse(JSON.stringify(day), renewed) as (Omit<EventToDeliver, 'data'> & {
    data: object;
  })[];
  // The back office wrote the events; a test compares them with its current output.
  return events.map(({ data, ...event }) => ({
    ...event,
    data: JSON.stringify(data) as EventToDeliver['data'],
  }));
}

/** Returns an id with new random digits, its time `laterMs` later. It keeps the order of ids within a millisecond. */
export function renewedId(id: string, laterMs = 0): string {
  return id.replaceAll(ID, (_id, high: string, low: string, counter: string) => {
    const time = (Number.parseInt(high + low, 16) + laterMs).toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-${counter}-${randomUUID().slice(19)}`;
  });
}
