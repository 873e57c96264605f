import { randomBytes } from 'node:crypto';

import type { Change } from '../../contract/feed.ts';
import type { Engine } from '../store/engines/engine.ts';
import { appendEvents, type AppendEvents } from '../store/records/events.ts';

/** Each move needs a database, a clock and a source of randomness. */
export interface Backoffice {
  readonly engine: Engine;
  /** Takes the events of the changes; the company's webhooks get them. */
  readonly appendEvents: AppendEvents;
  readonly now: (change: Change) => Date;
  readonly random: (size: number) => Buffer;
  /** Whether a company's readers may have been told a time, before which no change is stamped then. */
  readonly hasReaders: boolean;
  /** The operator's accent colour, in which documents are issued; undefined for our own. */
  readonly accent: string | undefined;
}

export function openBackoffice(
  engine: Engine,
  options: Partial<Omit<Backoffice, 'engine'>> = {},
): Backoffice {
  return {
    engine,
    appendEvents,
    now: () => new Date(),
    random: randomBytes,
    hasReaders: true,
    accent: undefined,
    ...options,
  };
}
