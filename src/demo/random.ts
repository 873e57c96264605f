/** A stream of numbers that look random and are the same on every run from the same seed. Not for secrets. */
export interface Random {
  /** An integer from 0 to 2^32 - 1. */
  bits(): number;
  integer(min: number, max: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  character(text: string): string;
  bytes(size: number): Buffer;
  /** An item by its weight; the weights need not add up to anything. */
  weighted<Item>(choices: readonly [Weighted<Item>, ...Weighted<Item>[]]): Item;
}

export type Weighted<Item> = readonly [weight: number, item: Item];

/** The generator is sfc32: fast, passes PractRand, and has a period of at least 2^32 whatever the seed. */
export function createRandom(seed: number): Random {
  let a = 0;
  let b = seed | 0;
  let c = Math.trunc(seed / 2 ** 32) | 0;
  let counter = 1;

  function bits(): number {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
  // The state needs some rounds before the seed has reached all of it.
  for (let round = 0; round < 15; round += 1) bits();

  const fraction = () => bits() / 2 ** 32;
  return {
    bits,
    integer: (min, max) => min + Math.floor(fraction() * (max - min + 1)),
    chance: (probability) => fraction() < probability,
    pick: (items) => items[Math.floor(fraction() * items.length)] ?? items[0],
    character: (text) => text.charAt(Math.floor(fraction() * text.length)),
    bytes: (size) => Buffer.from(Array.from({ length: size }, () => bits() >>> 24)),
    weighted(choices) {
      let rest = fraction() * choices.reduce((total, [weight]) => total + weight, 0);
      for (const [weight, item] of choices) {
        rest -= weight;
        if (rest < 0) return item;
      }
      return choices[0][1];
    },
  };
}
