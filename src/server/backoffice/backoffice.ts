import { randomBytes } from 'node:crypto';

import type { Change } from '../../contract/feed.ts';
import type { Engine } from '../store/engines/engine.ts';
import { appendEvents, type AppendEvents } from '../store/records/events.ts';

/** The dependencies of every move: database, event sink, clock and source of randomness. */
export interface Backoffice {
  readonly engine: Engine;
  /** Stores the events of a change, for delivery to the company's webhooks. */
  readonly appendEvents: AppendEvents;
  readonly now: (change: Change) => Date;
  readonly random: (size: number) => Buffer;
  /** Whether readers may have seen a server time; changes are then never stamped earlier than it. */
  readonly hasReaders: boolean;
  /** The operator's accent colour for issued documents; undefined for the default. */
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
