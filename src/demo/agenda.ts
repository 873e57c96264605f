import type { Resource, ResourceRecord } from '../contract/records.ts';
import type { Stamps } from './calendar.ts';

/**
 * What will happen to the company and has not happened yet. A record can name another that comes later because that
 * one stands here; what stands here is sure to be made. It holds some weeks of plans, never records.
 */
export interface Agenda {
  /**
   * Plans a record for a moment, or shortly after it. Returns the very moment it will be created at; undefined, and
   * nothing is planned, when that lies in the future or when the company is to have no further records.
   */
  plan(resource: Resource, atMs: number, make: (createdAtMs: number) => ResourceRecord): number | undefined;
  /** The moment of the first plan. */
  nextAtMs(): number | undefined;
  /** Takes the first plan off and carries it out. */
  makeNext(): ResourceRecord | undefined;
  /** How many plans there are. */
  count(): number;
}

interface Plan {
  atMs: number;
  make: (createdAtMs: number) => ResourceRecord;
}

/** `admit` tells whether there may be one more record, and counts on it from then on if so. */
export function createAgenda(nowMs: number, stamps: Stamps, admit: (resource: Resource) => boolean): Agenda {
  const heap: Plan[] = [];
  return {
    plan(resource, desiredMs, make) {
      if (desiredMs >= nowMs || !admit(resource)) return undefined;
      const atMs = stamps.claim(desiredMs);
      push(heap, { atMs, make });
      return atMs;
    },
    nextAtMs: () => heap[0]?.atMs,
    makeNext() {
      const first = pop(heap);
      return first?.make(first.atMs);
    },
    count: () => heap.length,
  };
}

/** The heap is binary: the earliest plan is at 0, and what follows `index` is at 2 * index + 1 and + 2. */
function push(heap: Plan[], plan: Plan): void {
  let index = heap.length;
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex];
    if (!parent || parent.atMs <= plan.atMs) break;
    heap[index] = parent;
    index = parentIndex;
  }
  heap[index] = plan;
}

function pop(heap: Plan[]): Plan | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last && heap.length > 0) sink(heap, last);
  return first;
}

function sink(heap: Plan[], plan: Plan): void {
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const leftPlan = heap[left];
    const rightPlan = heap[left + 1];
    if (!leftPlan) break;
    const isRight = rightPlan !== undefined && rightPlan.atMs < leftPlan.atMs;
    const child = isRight ? rightPlan : leftPlan;
    if (child.atMs >= plan.atMs) break;
    heap[index] = child;
    index = isRight ? left + 1 : left;
  }
  heap[index] = plan;
}
