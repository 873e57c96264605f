import { companyDay } from '../../access/company-day.ts';
import { companyInstant } from '../../access/company-time.ts';
import type { AttemptCounts, HourSpan, WebhookHealth } from '../../store/webhook-health.ts';
import type { Webhook } from '../../store/webhooks.ts';
import { outcomeText } from '../../webhooks/outcomes.ts';
import type { Visit } from '../visit.ts';
import { barChart } from './chart.ts';
import { type Html, html } from './html.ts';
import { badge } from './notice.ts';
import { table } from './table.ts';
import { time } from './time.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;

/** What the figures of a webhook are counted over: each of the last 30 days of the company, and the last 24 hours. */
export interface HealthSpans {
  /** As `YYYY-MM-DD`, the oldest first. */
  days: string[];
  /** One for each day, and the last 24 hours at the end. */
  spans: HourSpan[];
}

/**
 * The spans that pages show. Counts are kept by the hour: in a time zone that isn't whole hours from UTC, a day begins
 * with the hour in which its midnight lies.
 */
export function healthSpans(timeZone: string, now: Date): HealthSpans {
  const today = Date.parse(companyDay(timeZone, now));
  const dayOf = (index: number) => new Date(today + index * DAY_MS).toISOString().slice(0, 10);
  const days = Array.from({ length: DAYS }, (_, index) => dayOf(index - DAYS + 1));
  const midnights = [...days, dayOf(1)].map((day) => companyInstant(timeZone, `${day}T00:00`) ?? now);
  const spans = days.map((_, index) => ({
    from: midnights[index] ?? now,
    until: midnights[index + 1] ?? now,
  }));
  const lastDay = { from: new Date(now.getTime() - DAY_MS), until: new Date(now.getTime() + DAY_MS) };
  return { days, spans: [...spans, lastDay] };
}

/** Now and then an attempt fails everywhere, and is made up for by the next. */
const WORKING_SHARE_MIN = 0.9;
const none: AttemptCounts = { delivered: 0, failed: 0 };
const numbers = new Intl.NumberFormat('en-GB');
const shares = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 });

/** A number as people write it. */
export function count(value: number): string {
  return numbers.format(value);
}

function lastDayOf(health: WebhookHealth): AttemptCounts {
  return health.spans.at(-1) ?? none;
}

/** How a webhook is doing, in a word. */
export function stateBadge({ pausedAt }: Webhook, health: WebhookHealth): Html {
  const { delivered, failed } = lastDayOf(health);
  if (pausedAt !== null) return badge('warn', 'Paused');
  if (delivered + failed === 0) return badge('plain', 'Quiet');
  if (delivered / (delivered + failed) >= WORKING_SHARE_MIN) return badge('good', 'Working');
  return delivered === 0 ? badge('bad', 'Failing') : badge('warn', 'Partly failing');
}

/** The share of the attempts of the last 24 hours that were answered with 2xx. */
export function lastDayText(health: WebhookHealth): string {
  const { delivered, failed } = lastDayOf(health);
  const all = delivered + failed;
  if (all === 0) return 'Nothing was sent';
  if (failed === 0) return `100% delivered: ${count(all)} ${all === 1 ? 'attempt' : 'attempts'}`;
  // What isn't all of it isn't rounded up to it.
  const share = Math.min(delivered / all, 0.999);
  return `${shares.format(share)} delivered: ${count(failed)} of ${count(all)} attempts failed`;
}

/** When a delivery was last answered with 2xx. */
export function lastSuccess(visit: Visit, { lastDeliveredAt }: WebhookHealth): Html | string {
  return time(visit, lastDeliveredAt, 'None in 30 days');
}

/** When an attempt last failed, and why. */
export function lastFailure(visit: Visit, { lastFailure: failure }: WebhookHealth): Html | string {
  if (!failure) return 'None in 30 days';
  return html`${time(visit, failure.at)}<br /><span class="hint">${outcomeText(failure.reason)}</span>`;
}

/** The attempts of 30 days, in bars. */
export function attemptChart(health: WebhookHealth, { days }: HealthSpans): Html {
  const counts = days.map((_, index) => health.spans[index] ?? none);
  const sum = (key: keyof AttemptCounts) => counts.reduce((total, each) => total + each[key], 0);
  return barChart({
    summary: `Attempts of the last ${DAYS} days: ${count(sum('delivered'))} delivered, ${count(sum('failed'))} failed`,
    bars: days.map((day, index) => {
      const { delivered, failed } = counts[index] ?? none;
      return {
        label: dayText(day),
        parts: [
          { kind: 'good', name: 'delivered', count: delivered },
          { kind: 'bad', name: 'failed', count: failed },
        ],
      };
    }),
  });
}

/** The same as figures; days without attempts are left out. */
export function attemptTable(health: WebhookHealth, { days }: HealthSpans): Html {
  const rows = days.flatMap((day, index) => {
    const { delivered, failed } = health.spans[index] ?? none;
    return delivered + failed === 0 ? [] : [[dayText(day), count(delivered), count(failed)]];
  });
  if (rows.length === 0) return html`<p>There were no attempts in the last ${DAYS} days.</p>`;
  return table({
    caption: 'Attempts by day',
    columns: ['Day', 'Delivered', 'Failed'],
    rows: rows.reverse(),
  });
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'medium' });

function dayText(day: string): string {
  return dayFormat.format(new Date(day));
}
