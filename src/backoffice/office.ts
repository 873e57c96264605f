import { randomBytes } from 'node:crypto';

import type { Change } from '../contract/feed.ts';
import type { Resource } from '../contract/records.ts';
import type { Engine } from '../store/engines/engine.ts';
import { type AppendEvents, createEventAppender } from '../store/deliveries/events.ts';
import { createMoveStore, type MoveStore } from '../store/records/moves.ts';
import { createNumberSeries, type TakeNumber } from '../store/records/number-series.ts';
import { createRecordWrites, type RecordWrites } from '../store/records/record-writes.ts';
import { createSupplierStore, type SupplierStore } from '../store/records/suppliers.ts';

/** Where a company's team makes its moves: a database with its statements ready, a clock and a source of chance. */
export interface Office {
  readonly engine: Engine;
  readonly moves: MoveStore;
  readonly takeNumber: TakeNumber;
  readonly suppliers: SupplierStore;
  readonly records: Readonly<Record<Resource, RecordWrites>>;
  readonly appendEvents: AppendEvents;
  /** The time of each change. */
  readonly now: (change: Change) => Date;
  readonly random: (size: number) => Buffer;
  /** Whether a company's readers may have been told a time, before which no change is stamped then. */
  readonly hasReaders: boolean;
}

/** Opens the back office of a database. */
export function openOffice(
  engine: Engine,
  {
    now = () => new Date(),
    random = randomBytes,
    hasReaders = true,
  }: Partial<Pick<Office, 'now' | 'random' | 'hasReaders'>> = {},
): Office {
  const writes = (resource: Resource) => createRecordWrites(engine, resource);
  return {
    engine,
    moves: createMoveStore(engine),
    takeNumber: createNumberSeries(engine),
    suppliers: createSupplierStore(engine),
    records: {
      people: writes('people'),
      customers: writes('customers'),
      forms: writes('forms'),
      jobs: writes('jobs'),
      submissions: writes('submissions'),
      invoices: writes('invoices'),
      quotes: writes('quotes'),
    },
    appendEvents: createEventAppender(engine),
    now,
    random,
    hasReaders,
  };
}
