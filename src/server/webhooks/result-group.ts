import { setTimeout as pause } from 'node:timers/promises';

import type { Logger } from '../log.ts';
import type { Engine } from '../store/engines/engine.ts';
import { type DeliveryResult, isRefusal, recordResults } from '../store/deliveries/deliveries-results.ts';

/** Results of this time are committed together: a commit costs as much as a dozen results. */
const GROUP_MS = 3;
const GROUP_MAX = 256;
/** Between two tries to write when the database doesn't take it. */
const RETRY_MS = 250;

interface Waiting {
  result: DeliveryResult;
  onWritten: () => void;
}

/**
 * Writes results in groups, in the order in which they come. While the database can't be written, results wait here and
 * are retried. Their number is bounded by the deliveries under way: each keeps its slot until its result is written.
 */
export class ResultGroup {
  readonly #engine: Engine;
  readonly #log: Logger;
  readonly #onStale: (count: number) => void;
  readonly #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #isStuck = false;
  #isAbandoned = false;

  constructor(engine: Engine, log: Logger, onStale: (count: number) => void) {
    this.#engine = engine;
    this.#log = log;
    this.#onStale = onStale;
  }

  /** Whether the last write failed. Then no delivery may begin: its result couldn't be written either. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** @param onWritten is called when the result is committed, or given up because the database refuses it. */
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
      await this.#write(group);
    } catch (error) {
      if (!isRefusal(error)) {
        this.#getStuck(error);
        return;
      }
      for (const one of group) if (!(await this.#writeAlone(one))) return;
    }
    if (this.#isStuck) this.#log.info('deliveries.written-again');
    this.#isStuck = false;
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    const staleCount = await recordResults(
      this.#engine,
      group.map(({ result }) => result),
    );
    if (staleCount > 0) this.#onStale(staleCount);
    this.#settle(group);
  }

  /** Writes one of a group that was refused, or gives it up if it is the reason. @returns false when it gets stuck. */
  async #writeAlone(one: Waiting): Promise<boolean> {
    try {
      await this.#write([one]);
    } catch (error) {
      if (!isRefusal(error)) {
        this.#getStuck(error);
        return false;
      }
      // Its lease runs out, and the attempt counts as interrupted. The other results don't wait for that.
      const { company, webhook, id } = one.result;
      this.#log.error({ company, webhook, delivery: id, err: error }, 'delivery.result-refused');
      this.#settle([one]);
    }
    return true;
  }

  #settle(group: readonly Waiting[]): void {
    this.#waiting.splice(0, group.length);
    for (const { onWritten } of group) onWritten();
  }

  #getStuck(error: unknown): void {
    if (!this.#isStuck)
      this.#log.error({ err: error, results: this.#waiting.length }, 'deliveries.not-written');
    this.#isStuck = true;
  }
}
