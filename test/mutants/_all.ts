import { access } from './access.ts';
import { deliveries } from './deliveries.ts';
import { documents } from './documents.ts';
import { feed } from './feed.ts';
import { money } from './money.ts';
import type { Mutant } from './_mutant.ts';
import { reading } from './reading.ts';

export const mutants: readonly Mutant[] = [
  ...money,
  ...documents,
  ...access,
  ...deliveries,
  ...feed,
  ...reading,
];
