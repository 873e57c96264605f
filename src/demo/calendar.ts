import { DAY_MS, HOUR_MS } from '../contract/durations.ts';
import type { Random } from './random.ts';

const workStartsMs = 8 * HOUR_MS;
const workDayMs = 9 * HOUR_MS;

/** As the API writes times. */
export function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** The day in Ireland and Britain. Everything here happens by day, when it is the same day there as in UTC. */
export function isoDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

export function startOfDay(atMs: number): number {
  return atMs - (atMs % DAY_MS);
}

export function isWorkday(atMs: number): boolean {
  // 1970-01-01 was a Thursday.
  const weekday = (Math.floor(atMs / DAY_MS) + 4) % 7;
  return weekday !== 0 && weekday !== 6;
}

/** A moment of working time some days after another, on the next workday when it falls on a weekend. */
export function workingMoment(afterMs: number, days: number, random: Random): number {
  let day = startOfDay(afterMs) + Math.max(1, days) * DAY_MS;
  while (!isWorkday(day)) day += DAY_MS;
  return day + workStartsMs + random.integer(0, workDayMs - 1);
}

/** The workdays from one moment to another. */
export interface WorkingTime {
  /** The moment at a share, from 0 to 1, of the working time. */
  at(share: number): number;
}

export function workingTime(fromMs: number, toMs: number): WorkingTime {
  const days: number[] = [];
  for (let day = startOfDay(fromMs); day + workStartsMs + workDayMs <= toMs; day += DAY_MS) {
    if (isWorkday(day)) days.push(day);
  }
  return {
    at(share) {
      const position = share * days.length;
      const index = Math.min(Math.floor(position), days.length - 1);
      return (days[index] ?? fromMs) + workStartsMs + Math.floor((position - index) * workDayMs);
    },
  };
}
