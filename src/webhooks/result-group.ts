import { setTimeout as pause } from 'node:timers/promises';

import type { Logger } from '../log.ts';
import type { DeliveryResult, RecordResults } from '../store/deliveries-results.ts';

/** What ends within this time is committed together: a commit costs as much as a dozen results. */
const GROUP_MS = 3;
const GROUP_MAX = 256;
/** Between two tries to write when the database doesn't take it. */
const RETRY_MS = 250;

/**
 * Writes results in groups, in the order in which they come. What can't be written stays here, and is tried again
 * until it is: its number is bounded by the deliveries under way, since each keeps its slot until it is written.
 */
export class ResultGroup {
  readonly #record: RecordResults;
  readonly #log: Logger;
  readonly #onStale: (count: number) => void;
  readonly #waiting: { result: DeliveryResult; onWritten: () => void }[] = [];
  #writing: Promise<void> | undefined;
  #isStuck = false;
  #isAbandoned = false;

  constructor(record: RecordResults, log: Logger, onStale: (count: number) => void) {
    this.#record = record;
    this.#log = log;
    this.#onStale = onStale;
  }

  /** Whether the last write failed: then nothing more may be begun, for its result couldn't be kept either. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** @param onWritten is called when the result is committed. */
  add(result: DeliveryResult, onWritten: () => void): void {
    this.#waiting.push({ result, onWritten });
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves when everything that was added is written. */
  async written(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** Gives up what isn't written yet. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isAbandoned) {
      await pause(this.#isStuck ? RETRY_MS : GROUP_MS);
      await this.#writeGroup();
    }
  }

  async #writeGroup(): Promise<void> {
    const group = this.#waiting.slice(0, GROUP_MAX);
    try {
      const staleCount = await this.#record(group.map(({ result }) => result));
      if (staleCount > 0) this.#onStale(staleCount);
    } catch (error) {
      if (!this.#isStuck) this.#log.error({ err: error, results: group.length }, 'deliveries.not-written');
      this.#isStuck = true;
      return;
    }
    if (this.#isStuck) this.#log.info('deliveries.written-again');
    this.#isStuck = false;
    this.#waiting.splice(0, group.length);
    for (const { onWritten } of group) onWritten();
  }
}
