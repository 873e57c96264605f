import type { TeamChange } from './story.ts';

/**
 * The course of one thing: a strand yields the moment that it waits for, or the team's next action.
 * It is resumed with the moment that it is then.
 */
export type Strand<Result = void> = Generator<number | TeamChange, Result, number>;

export interface Strands {
  /** Begins a strand at a moment, or shortly after it. */
  begin(wantedMs: number, strand: (atMs: number) => Strand): void;
  /** Plays all strands beside each other. A moment beyond the end never comes. */
  play(): Generator<{ atMs: number; change: TeamChange }, void, void>;
}

/** Each record that a move changes takes a millisecond for its stamp, and no move changes more than two. */
const BETWEEN_MS = 2;

export function createStrands(endMs: number): Strands {
  const heap: Waiting[] = [];
  let nextFreeMs = 0;
  return {
    begin(wantedMs, strand) {
      let begun: Strand | undefined;
      const resume = (atMs: number) => (begun ? begun.next(atMs) : (begun = strand(atMs)).next());
      push(heap, { wantedMs, resume });
    },
    *play() {
      for (let next = pop(heap); next; next = pop(heap)) {
        let atMs = Math.max(next.wantedMs, nextFreeMs);
        let { done, value } = next.resume(atMs);
        while (!done && typeof value === 'object') {
          yield { atMs, change: value };
          atMs += BETWEEN_MS;
          nextFreeMs = atMs;
          ({ done, value } = next.resume(atMs));
        }
        if (typeof value === 'number' && value < endMs) push(heap, { ...next, wantedMs: value });
      }
    },
  };
}

interface Waiting {
  wantedMs: number;
  resume: (atMs: number) => IteratorResult<number | TeamChange, void>;
}

/** A binary heap: the next one is at 0, and the children of `index` are at 2 * index + 1 and + 2. */
function push(heap: Waiting[], waiting: Waiting): void {
  let index = heap.length;
  while (index > 0) {
    const parentIndex = (index - 1) >> 1;
    const parent = heap[parentIndex];
    if (!parent || parent.wantedMs <= waiting.wantedMs) break;
    heap[index] = parent;
    index = parentIndex;
  }
  heap[index] = waiting;
}

function pop(heap: Waiting[]): Waiting | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last && heap.length > 0) sink(heap, last);
  return first;
}

function sink(heap: Waiting[], waiting: Waiting): void {
  let index = 0;
  for (;;) {
    const left = 2 * index + 1;
    const leftOne = heap[left];
    const rightOne = heap[left + 1];
    if (!leftOne) break;
    const isRight = rightOne !== undefined && rightOne.wantedMs < leftOne.wantedMs;
    const child = isRight ? rightOne : leftOne;
    if (child.wantedMs >= waiting.wantedMs) break;
    heap[index] = child;
    index = isRight ? left + 1 : left;
  }
  heap[index] = waiting;
}
