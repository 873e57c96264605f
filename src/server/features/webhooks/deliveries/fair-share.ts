import { setImmediate } from 'node:timers/promises';

import { type WaitingDelivery, type WaitingSearch, findWaiting } from './waiting-deliveries.ts';
import { type DeliveryKey, type WebhookRef, webhookText } from './delivery-keys.ts';
import type { Engine } from '../../../store/engines/engine.ts';

/** Limits on the deliveries under way at once. */
export interface ShareLimits {
  total: number;
  perWebhook: number;
}

/**
 * An allocator of slots for deliveries under way. A webhook never gets more than its limit. A company can have a quarter of
 * all slots, and more while another quarter stays free for other companies.
 */
export class FairShare {
  readonly #limits: ShareLimits;
  readonly #companyMax: number;
  readonly #webhooks = new Map<string, { key: WebhookRef; count: number }>();
  readonly #companies = new Map<string, number>();
  #count = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
    this.#companyMax = Math.max(1, Math.floor(limits.total / 4));
  }

  /** Number of deliveries that can begin now. */
  get free(): number {
    return this.#limits.total - this.#count;
  }

  /** Webhooks that have reached their limit. */
  get busy(): WebhookRef[] {
    const full = [...this.#webhooks.values()].filter(({ count }) => count >= this.#limits.perWebhook);
    return full.map(({ key }) => key);
  }

  /** Companies that can't have another slot now. */
  get busyCompanies(): string[] {
    return [...this.#companies.keys()].filter((company) => !this.#mayHaveMore(company));
  }

  /**
   * Takes slots for as many of the deliveries as can begin: one for each webhook first, then a second. The caller returns
   * each slot with `giveBack`.
   */
  take<D extends DeliveryKey>(waiting: readonly D[]): D[] {
    const lines = [...Map.groupBy(waiting, webhookText).values()];
    const taken: D[] = [];
    for (let place = 0; place < this.#limits.perWebhook; place += 1) {
      for (const line of lines) {
        const delivery = line[place];
        if (delivery && this.#takeOne(delivery)) taken.push(delivery);
      }
    }
    return taken;
  }

  giveBack({ company, webhook }: WebhookRef): void {
    this.#add({ company, webhook }, -1);
  }

  #takeOne({ company, webhook }: DeliveryKey): boolean {
    const underWay = this.#webhooks.get(webhookText({ company, webhook }))?.count ?? 0;
    if (this.free <= 0 || underWay >= this.#limits.perWebhook || !this.#mayHaveMore(company)) return false;
    this.#add({ company, webhook }, 1);
    return true;
  }

  #mayHaveMore(company: string): boolean {
    return (this.#companies.get(company) ?? 0) < this.#companyMax || this.free > this.#companyMax;
  }

  #add(key: WebhookRef, change: 1 | -1): void {
    const text = webhookText(key);
    const ofWebhook = (this.#webhooks.get(text)?.count ?? 0) + change;
    const ofCompany = (this.#companies.get(key.company) ?? 0) + change;
    this.#count += change;
    // Only keys with deliveries under way are kept, because there can be any number of webhooks.
    if (ofWebhook === 0) this.#webhooks.delete(text);
    else this.#webhooks.set(text, { key, count: ofWebhook });
    if (ofCompany === 0) this.#companies.delete(key.company);
    else this.#companies.set(key.company, ofCompany);
  }
}

const FIRST: WebhookRef = { company: '', webhook: '' };

/** A round-robin search for deliveries, which continues after the last webhook searched so that each gets its turn. */
export class WebhookRound {
  readonly #engine: Engine;
  readonly #unreadable: readonly string[];
  #after = FIRST;

  /** @param unreadable fingerprints of missing keys, as for `findWaiting`. */
  constructor(engine: Engine, unreadable: readonly string[] = []) {
    this.#engine = engine;
    this.#unreadable = unreadable;
  }

  /** Searches until it finds deliveries or has been round all webhooks. */
  async find(options: Omit<WaitingSearch, 'after'>): Promise<WaitingDelivery[]> {
    const start = this.#after;
    let isAround = start === FIRST;
    const found = new Map<string, WaitingDelivery>();
    for (;;) {
      const spot = { ...options, after: this.#after };
      const { found: more, last } = await findWaiting(this.#engine, spot, this.#unreadable);
      for (const delivery of more) found.set(delivery.id, delivery);
      this.#after = last ?? FIRST;
      if (last ? found.size > 0 || (isAround && isBehind(last, start)) : isAround) return [...found.values()];
      if (last) {
        // Nothing was found yet, and there may be many more webhooks, so the event loop gets a turn.
        await setImmediate();
      } else {
        isAround = true;
      }
    }
  }
}

/** Whether a round that began after `start` has reached it again. */
function isBehind(last: WebhookRef, start: WebhookRef): boolean {
  if (start === FIRST) return false;
  return last.company > start.company || (last.company === start.company && last.webhook >= start.webhook);
}
