import { createIds } from '../server/process/ids.ts';
import type { Census } from './census.ts';
import type { CustomerBook } from './customers.ts';
import type { DemoForm } from './forms.ts';
import type { DemoPerson } from './people.ts';
import type { Random } from './random.ts';

/** The surroundings of every strand of the company's history. */
export interface World {
  random: Random;
  /** Asked before a record is made: what it doesn't admit must not be made. */
  census: Census;
  people: DemoPerson[];
  forms: DemoForm[];
  customers: CustomerBook;
}

/** An id like the back office's own, of the moment at which what it names is made. */
export function mintUuid({ random }: World, atMs: number): string {
  return createIds((size) => random.bytes(size)).uuid(atMs);
}

export function mintId(world: World, prefix: string, atMs: number): string {
  return `${prefix}_${mintUuid(world, atMs)}`;
}
