import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import {
  bringForward,
  leaseDeliveries,
  type LeasedDelivery,
  listTimed,
  nextDeliveryTime,
  type TimedDelivery,
} from './lease.ts';
import { ResultGroup } from './results.ts';
import type { WaitingDelivery } from './waiting-deliveries.ts';
import type { Engine } from '../../../store/engines/engine.ts';
import { type AttemptMeans, interruptedResult, makeAttempt } from './attempt.ts';
import { FairShare, WebhookRound } from './fair-share.ts';
import type { OpenedBox } from '../secret-key.ts';

export interface DeliveryLoopOptions extends Omit<AttemptMeans, 'random'> {
  engine: Engine;
  secrets: AttemptMeans['secrets'] & Partial<Pick<OpenedBox, 'missing'>>;
  /** Maximum number of deliveries under way at once. */
  concurrencyMax?: number;
  /** Maximum number under way for one webhook; for tests, like every option below. */
  perWebhookMax?: number;
  leaseMs?: number;
  /** Maximum sleep, after which the loop notices a changed clock, and work it wasn't told of. */
  sleepMs?: number;
  random?: AttemptMeans['random'];
}

const CONCURRENCY_MAX = 64;
const PER_WEBHOOK_MAX = 4;
/** Lease of a delivery: three times the longest attempt, so that another worker takes over only abandoned deliveries. */
const LEASE_MS = 30_000;
const SLEEP_MS = 1_000;
/** Pause when other workers took or locked every delivery that this one found. It doubles each time. */
const CONTENDED_MS = { min: 5, max: 320 };
const TIMED_MAX = 100;
const WEBHOOKS_AT_ONCE = 500;
/**
 * Longest wait at shutdown: attempts end within their deadline, a little more than 10 seconds. Results not written by then
 * are left to the worker that takes over the lease.
 */
const DRAIN_MS_MAX = 11_000;

/**
 * A worker that sends a database's deliveries, several at once, until it is disposed of. Then it starts no more, and waits
 * for those under way. Any number of loops in any number of processes can share the work.
 */
export class DeliveryLoop implements AsyncDisposable {
  readonly #options: Required<DeliveryLoopOptions>;
  readonly #round: WebhookRound;
  readonly #results: ResultGroup;
  readonly #share: FairShare;
  readonly #watch: AsyncDisposable;
  readonly #running: Promise<void>;
  readonly #underWay = new Set<Promise<void>>();
  /** Leases of the deliveries under way, by delivery id. */
  readonly #leases = new Map<string, string>();
  /** Wall-clock time when the next delivery is due, and the `performance.now()` time at which that was looked up. */
  #nextTimeMs = 0;
  #lookedAtMs = 0;
  #contendedMs = CONTENDED_MS.min;
  #isStopping = false;
  #hasNews = false;
  #wake: () => void = () => undefined;
  #onIdle: (() => void)[] = [];

  constructor(options: DeliveryLoopOptions) {
    this.#options = {
      ...{ concurrencyMax: CONCURRENCY_MAX, perWebhookMax: PER_WEBHOOK_MAX },
      ...{ leaseMs: LEASE_MS, sleepMs: SLEEP_MS, random: Math.random },
      ...options,
    };
    const { engine, secrets, log, metrics, concurrencyMax, perWebhookMax } = this.#options;
    this.#round = new WebhookRound(engine, secrets.missing);
    this.#results = new ResultGroup(engine, log, metrics.completionsStale);
    this.#share = new FairShare({ total: concurrencyMax, perWebhook: perWebhookMax });
    this.#watch = engine.watchDeliveries(() => this.#tell());
    this.#running = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    this.#tell();
    await this.#watch[Symbol.asyncDispose]();
    await Promise.race([this.#finished(), pause(DRAIN_MS_MAX, undefined, { ref: false })]);
    this.#results.abandon();
  }

  async #finished(): Promise<void> {
    await this.#running;
    await Promise.all(this.#underWay);
    await this.#results.written();
  }

  /** Resolves when the loop has looked for work again and started all of it. */
  async idle(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#onIdle.push(() => resolve(undefined));
    this.#lookedAtMs = -Infinity;
    this.#tell();
    await promise;
  }

  #tell(): void {
    this.#hasNews = true;
    this.#wake();
  }

  async #run(): Promise<void> {
    let isFailing = false;
    while (!this.#isStopping) {
      this.#hasNews = false;
      try {
        await this.#sleep(await this.#turn());
        isFailing = false;
      } catch (error) {
        if (!isFailing) this.#options.log.error({ err: error }, 'deliveries.not-claimed');
        isFailing = true;
        await this.#sleep(this.#options.sleepMs, true);
      }
    }
  }

  /** Sleeps for the given time, or less if there is news. With `isDeaf`, news doesn't wake it. */
  async #sleep(ms: number, isDeaf = false): Promise<void> {
    if (ms <= 0 || (this.#hasNews && !isDeaf) || this.#isStopping) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        if (isDeaf && !this.#isStopping) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Starts every delivery that can start. @returns the milliseconds until there is more to do, unless there is news. */
  async #turn(): Promise<number> {
    if (this.#results.isStuck) return this.#options.sleepMs;
    const isAllBroughtForward = await this.#bringForward();
    if (this.#share.free > 0) {
      const { foundCount, begunCount } = await this.#begin();
      if (foundCount > 0 && begunCount === 0) {
        const ms = this.#contendedMs;
        this.#contendedMs = Math.min(CONTENDED_MS.max, 2 * ms);
        return ms;
      }
      this.#contendedMs = CONTENDED_MS.min;
      if (begunCount > 0 && this.#share.free > 0) return 0;
    }
    if (!isAllBroughtForward) return 0;
    return Math.min(this.#options.sleepMs, this.#nextTimeMs - this.#options.now().getTime());
  }

  /** Moves deliveries that are due now to `waiting`, up to a limit. @returns whether none is left. */
  async #bringForward(): Promise<boolean> {
    const { engine, now, leaseMs } = this.#options;
    const nowMs = now().getTime();
    if (nowMs < this.#nextTimeMs && performance.now() < this.#lookedAtMs + this.#options.sleepMs) return true;
    const countMax = TIMED_MAX + this.#leases.size;
    const listed = await listTimed(engine, now(), countMax);
    // This loop's own attempts aren't interrupted: the clock was set forward, or a result can't be written yet.
    const timed = listed.filter(({ id, lease }) => lease === null || this.#leases.get(id) !== lease);
    const retries = timed.filter(({ state }) => state === 'retrying');
    if (retries.length > 0) await bringForward(engine, retries, now());
    for (const delivery of timed.filter(isInterrupted)) {
      const result = interruptedResult(delivery, leaseMs, this.#options);
      void this.#results.add(result).then(() => this.#tell());
    }
    // Until the results are written, the same deliveries would be found again.
    if (timed.some(isInterrupted)) await this.#results.written();
    const next = await nextDeliveryTime(engine);
    const earliestMs = timed.length < listed.length ? now().getTime() + this.#options.sleepMs : -Infinity;
    this.#nextTimeMs = next === undefined ? Infinity : Math.max(earliestMs, Date.parse(next));
    this.#lookedAtMs = performance.now();
    return listed.length < countMax;
  }

  /** Leases as many deliveries as there are slots for, and sends them. */
  async #begin(): Promise<{ foundCount: number; begunCount: number }> {
    const { engine, now, leaseMs } = this.#options;
    const found = await this.#find();
    const taken = this.#share.take(found);
    if (taken.length === 0) return { foundCount: 0, begunCount: 0 };
    const lease = randomUUID();
    let leased: LeasedDelivery[] = [];
    try {
      leased = await leaseDeliveries(engine, taken, lease, new Date(now().getTime() + leaseMs));
    } finally {
      const ids = new Set(leased.map(({ id }) => id));
      for (const key of taken) if (!ids.has(key.id)) this.#share.giveBack(key);
    }
    const dueTimes = new Map(taken.map(({ id, dueAt }) => [id, dueAt]));
    for (const delivery of leased) {
      const underWay = this.#deliver(delivery, dueTimes.get(delivery.id) ?? delivery.createdAt);
      this.#underWay.add(underWay);
      void underWay.finally(() => this.#underWay.delete(underWay));
    }
    return { foundCount: found.length, begunCount: leased.length };
  }

  /** Looks for waiting deliveries of webhooks and companies that have free slots. */
  async #find(): Promise<WaitingDelivery[]> {
    const { busy, busyCompanies, free } = this.#share;
    const webhooksMax = Math.min(free + busy.length + 10 * busyCompanies.length, WEBHOOKS_AT_ONCE);
    const perWebhook = this.#options.perWebhookMax;
    return this.#round.find({ webhooksMax, perWebhook, busy, busyCompanies });
  }

  /** Makes one attempt if the delivery may be sent, and frees its slot when the result is written. */
  async #deliver(delivery: LeasedDelivery, dueAt: string): Promise<void> {
    this.#leases.set(delivery.id, delivery.lease);
    const result = await makeAttempt({ ...delivery, dueAt }, this.#options);
    await this.#results.add(result);
    if (this.#leases.get(delivery.id) === delivery.lease) this.#leases.delete(delivery.id);
    this.#share.giveBack(delivery);
    if (result.state === 'retrying') this.#nextTimeMs = Math.min(this.#nextTimeMs, Date.parse(result.dueAt));
    this.#tell();
  }
}

function isInterrupted(timed: TimedDelivery): timed is TimedDelivery & { lease: string } {
  return timed.state === 'sending' && timed.lease !== null;
}
