/** Chance of which everything that a step does is drawn: the same seed gives the same step. */
import { addDays, dayIn, type ModelCompany, type World } from './_model.ts';

export interface Chance {
  /** From 0 up to 1, without 1. */
  next: () => number;
  /** From 0 up to `count` - 1. */
  below: (count: number) => number;
  /** True that often. */
  happens: (share: number) => boolean;
  pick: <T>(list: readonly T[]) => T | undefined;
  /** One of a few. */
  oneOf: <T>(first: T, ...others: T[]) => T;
}

/** Mulberry32: small, quick, and as random as picking test data asks for. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  const pick: Chance['pick'] = (list) => list[below(list.length)];
  return {
    next,
    below,
    happens: (share) => next() < share,
    pick,
    oneOf: (first, ...others) => [first, ...others][below(others.length + 1)] ?? first,
  };
}

/** The means to draw a step: chance, the company that moves, and ids that nothing has yet. */
export interface Draw extends Chance {
  world: World;
  company: ModelCompany;
  /** The company's calendar day of the service's clock. */
  today: string;
  newId: (prefix: string) => string;
  newUuid: () => string;
}

/** Ids in no order, but different: what the business system gives isn't sorted. */
export function drawOf(chance: Chance, world: World, company: ModelCompany, ids: { count: number }): Draw {
  // A prime, so that every count up to 2^32 has another place.
  const scattered = () => Math.imul(++ids.count, 0x9e3779b1) >>> 0;
  return {
    ...chance,
    world,
    company,
    today: dayIn(company.timeZone, world.nowMs),
    newId: (prefix) => `${prefix}_${scattered().toString(36)}`,
    newUuid: () =>
      `${scattered().toString(16).padStart(8, '0')}-0000-7000-8000-${String(ids.count).padStart(12, '0')}`,
  };
}

/** The id of one of the company's records, mostly one of which `isFit` holds; rarely another company's, or none's. */
export function idOf<T extends { id: string }>(
  draw: Draw,
  tableOf: (company: ModelCompany) => ReadonlyMap<string, T>,
  isFit: (record: T) => boolean = () => true,
): string | undefined {
  return recordOf(draw, tableOf, isFit)?.id;
}

/** Draws a change that says nothing but which record. */
export const onlyId =
  <T extends { id: string }>(
    tableOf: (company: ModelCompany) => ReadonlyMap<string, T>,
    isFit?: (record: T) => boolean,
  ) =>
  (draw: Draw): { id: string } | undefined => {
    const id = idOf(draw, tableOf, isFit);
    return id === undefined ? undefined : { id };
  };

/** The same, as a record; of nobody's record there is only an id. */
export function recordOf<T extends { id: string }>(
  draw: Draw,
  tableOf: (company: ModelCompany) => ReadonlyMap<string, T>,
  isFit: (record: T) => boolean = () => true,
): (Partial<T> & { id: string }) | undefined {
  const own = [...tableOf(draw.company).values()];
  if (draw.happens(0.02)) {
    const others = [...draw.world.companies.values()].filter((other) => other !== draw.company);
    return draw.pick(others.flatMap((other) => [...tableOf(other).values()]));
  }
  if (draw.happens(0.01))
    return { id: '00000000-0000-7000-8000-000000000000' } as Partial<T> & { id: string };
  return draw.pick(draw.happens(0.93) ? own.filter(isFit) : own);
}

export function dayNear({ today, below }: Draw, before: number, after: number): string {
  return addDays(today, below(before + after + 1) - before);
}

export function someOf<T extends object>({ happens }: Chance, share: number, members: T): Given<T> {
  const chosen = Object.entries(members).filter(([, value]) => value !== undefined && happens(share));
  return Object.fromEntries(chosen) as Given<T>;
}

type Given<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };
