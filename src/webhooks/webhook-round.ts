import { setImmediate } from 'node:timers/promises';

import type { WaitingDelivery, WalkOptions, WalkWaiting } from '../store/deliveries-walk.ts';
import type { WebhookKey } from '../store/delivery-keys.ts';

const FIRST: WebhookKey = { company: '', webhook: '' };

/** Looks for deliveries from webhook to webhook, each time from where it stopped the time before: so all have their turn. */
export class WebhookRound {
  readonly #walk: WalkWaiting;
  #after = FIRST;

  constructor(walk: WalkWaiting) {
    this.#walk = walk;
  }

  /** Looks until it has found something, and once around at most. */
  async find(options: Omit<WalkOptions, 'after'>): Promise<WaitingDelivery[]> {
    const start = this.#after;
    let isAround = start === FIRST;
    const found = new Map<string, WaitingDelivery>();
    for (;;) {
      const { found: more, last } = await this.#walk({ ...options, after: this.#after });
      for (const delivery of more) found.set(delivery.id, delivery);
      this.#after = last ?? FIRST;
      if (last ? found.size > 0 || (isAround && isBehind(last, start)) : isAround) return [...found.values()];
      if (last) {
        // All of them are paused, and there may be many more; others have their turn in between.
        await setImmediate();
      } else {
        isAround = true;
      }
    }
  }
}

/** Whether a round that began behind `start` has come to it again. */
function isBehind(last: WebhookKey, start: WebhookKey): boolean {
  if (start === FIRST) return false;
  return last.company > start.company || (last.company === start.company && last.webhook >= start.webhook);
}
