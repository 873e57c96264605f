import type { WithholdingReason } from '../../../../contract/withholding.ts';
import type { KeptAttempt } from './results.ts';
import type { DeliveryState } from '../../../store/tables/webhooks.ts';
import { outcomeText } from '../../../sending/attempt-errors.ts';
import { msText } from '../../../views/formats.ts';
import { type Html, html } from '../../../views/html.ts';
import { badge } from '../../../views/notice.ts';

const states: Record<DeliveryState, readonly [kind: 'good' | 'bad' | 'plain' | 'warn', text: string]> = {
  waiting: ['plain', 'Waiting'],
  sending: ['plain', 'Sending'],
  retrying: ['warn', 'Retrying'],
  delivered: ['good', 'Delivered'],
  failed: ['bad', 'Failed'],
  withheld: ['warn', 'Held'],
};

/** Renders a delivery's state, and whether it is a test. */
export function deliveryBadge({ state, isTest }: { state: DeliveryState; isTest: boolean }): Html {
  return html`${badge(...states[state])} ${isTest && badge('plain', 'Test')}`;
}

const reasons: Readonly<Record<string, string>> = {
  company_unavailable: 'The subscription was not active.',
  api_not_enabled: 'API access was off.',
  module_not_licensed: 'The plan did not include its data.',
  invoicing_not_enabled: 'Invoicing was off.',
} satisfies Record<WithholdingReason, string>;

export function withheldText(reason: string): string {
  return reasons[reason] ?? reason;
}

export function attemptOutcome({ status, error }: Pick<KeptAttempt, 'status' | 'error'>): string {
  return outcomeText(error ?? String(status ?? ''));
}

/** Formats an attempt for a list: `204 · 79 ms`, or the error class in place of the status. */
export function attemptSummary({ status, error, totalMs }: KeptAttempt): string {
  return `${error ?? status} · ${msText(totalMs)}`;
}

/** Formats the milliseconds of each phase that was reached, in brackets. */
export function attemptPhases({ phases }: KeptAttempt): string {
  const { dns, connect, tls, firstByte } = phases;
  const named = [
    ['DNS', dns],
    ['connect', connect],
    ['TLS', tls],
    ['response', firstByte],
  ] as const;
  const entered = named.flatMap(([name, ms]) => (ms === null ? [] : `${name} ${ms}`));
  return entered.length === 0 ? '' : ` (${entered.join(', ')})`;
}
