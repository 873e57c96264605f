import { DAY_MS } from '../../../contract/durations.ts';
import { companyDay, companyInstant } from '../../../contract/company-time.ts';
import type { AttemptCounts, HourSpan, WebhookHealth } from './webhook-health.ts';
import type { Webhook } from './stored-webhooks.ts';
import { outcomeText, usualCause } from '../../sending/attempt-errors.ts';
import { whyNotTouch } from './registration.ts';
import type { Visit } from '../../views/visit.ts';
import { barChart } from '../../views/chart.ts';
import { counted, countText, time } from '../../views/formats.ts';
import { type Html, html } from '../../views/html.ts';
import { badge } from '../../views/notice.ts';

const DAYS = 30;

/** The periods over which a webhook's attempts are counted. */
export interface HealthSpans {
  /** The last 30 calendar days of the company as `YYYY-MM-DD`, the oldest first. */
  days: string[];
  spans: HourSpan[];
  /** A single period that spans all the days. */
  whole: HourSpan;
}

/**
 * Returns the periods that pages show. Counts are hourly, so in a time zone that isn't whole hours from UTC, a day begins
 * with the UTC hour that contains its midnight.
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
  return { days, spans: [...spans, lastDay], whole: { from: midnights[0] ?? now, until: lastDay.until } };
}

/** Minimum share of successful attempts at which a receiver counts as working. */
const WORKING_SHARE_MIN = 0.9;
const none: AttemptCounts = { delivered: 0, failed: 0 };
const shares = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 });

function lastDayOf(health: WebhookHealth): AttemptCounts {
  return health.spans.at(-1) ?? none;
}

export function healthBadge(webhook: Webhook, health: WebhookHealth): Html {
  const { delivered, failed } = lastDayOf(health);
  if (webhook.pausedAt !== null) return badge('warn', 'Paused');
  if (webhook.isFailing) return badge('bad', 'Failing');
  if (delivered + failed === 0) return badge('plain', 'Quiet');
  return isPartlyFailing(health) ? badge('warn', 'Partly failing') : badge('good', 'Working');
}

function isPartlyFailing(health: WebhookHealth): boolean {
  const { delivered, failed } = lastDayOf(health);
  return failed > 0 && delivered / (delivered + failed) < WORKING_SHARE_MIN;
}

/** Whether a webhook needs attention. */
export function needsLook(webhook: Webhook, health: WebhookHealth): boolean {
  return webhook.isFailing || (webhook.pausedAt === null && isPartlyFailing(health));
}

/** Describes the share of attempts in the last 24 hours that got a 2xx answer. */
export function lastDayText(health: WebhookHealth): string {
  const { delivered, failed } = lastDayOf(health);
  const all = delivered + failed;
  if (all === 0) return 'Nothing sent, or tests only';
  if (failed === 0) return `100% delivered: ${counted(all, 'attempt', 'attempts')}`;
  // 99.96 % must not be rounded up to 100 %.
  const share = Math.min(delivered / all, 0.999);
  const what = all === 1 ? 'the only attempt' : `${countText(failed)} of ${countText(all)} attempts`;
  return `${shares.format(share)} delivered: ${what} failed`;
}

/** Renders the time of the last delivery that got a 2xx answer. */
export function lastSuccess(visit: Visit, { lastDeliveredAt }: WebhookHealth): Html | string {
  return time(visit, lastDeliveredAt, 'None in the last 30 days');
}

/** Renders the time and the reason of the last failed attempt. */
export function lastFailure(visit: Visit, { lastFailure: failure }: WebhookHealth): Html | string {
  if (!failure) return 'None in the last 30 days';
  return html`${time(visit, failure.at)}<br /><span class="hint">${outcomeText(failure.reason)}</span>`;
}

/** Renders the last failure: its result, its usual cause and, if allowed, the text of the receiver's answer. */
export function lastRefusal(
  visit: Pick<Visit, 'company' | 'administrator'>,
  webhook: Webhook,
  { lastFailure: failure, lastDeliveredAt }: WebhookHealth,
): Html | false {
  if (!failure) return false;
  const { at, reason, delivery, answerText } = failure;
  const cause = usualCause(reason);
  // The answer may repeat data of the delivery.
  const isShown = answerText !== '' && whyNotTouch(webhook, visit.administrator) === undefined;
  return html`<h2>Last failure</h2>
    <p>
      ${time(visit, at)}: ${outcomeText(reason)} ${cause !== undefined && `Usual cause: ${cause}`}
      ${(lastDeliveredAt ?? '') > at && 'The receiver has accepted deliveries since.'}
      <a href="/portal/webhooks/${webhook.id}/deliveries/${delivery}">See the delivery</a>
    </p>
    ${
      isShown &&
      html`<p>The receiver said:</p>
        <pre>${answerText}</pre>`
    }`;
}

/** Draws a chart of a webhook's attempts by day, with the figures. */
export function attemptChart(health: WebhookHealth, { days }: HealthSpans): Html {
  const counts = days.map((day, index) => {
    const { delivered, failed } = health.spans[index] ?? none;
    return { day, good: delivered, bad: failed };
  });
  const sum = (kind: 'good' | 'bad') => countText(counts.reduce((total, each) => total + each[kind], 0));
  const chart = {
    summary: `Attempts of the last ${DAYS} days: ${sum('good')} delivered, ${sum('bad')} failed.`,
    names: { good: 'delivered', bad: 'failed' },
    days: counts,
  };
  const nothing = `No attempts in the last ${DAYS} days.`;
  return barChart(chart, { open: 'Figures by day', caption: 'Attempts by day', none: nothing });
}
