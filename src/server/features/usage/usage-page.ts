import { companyDay } from '../../../contract/company-time.ts';
import type { Company } from '../../store/records/companies.ts';
import { type KeyHour, listKeyHours } from './key-usage.ts';
import { hasEnded, listActiveKeys, type UsedKey } from '../keys/stored-keys.ts';
import { stoppedWarning } from '../../views/availability.ts';
import { barChart, type DayChart, smallChart } from '../../views/chart.ts';
import { countText, time } from '../../views/formats.ts';
import { healthSpans } from '../webhooks/health-view.ts';
import { type Html, html } from '../../views/html.ts';
import { badge, emptyState } from '../../views/notice.ts';
import { amount, facts, named, table } from '../../views/table.ts';
import { page, type PortalPage, type Visit } from '../../views/visit.ts';

/** Maximum number of hourly counts read: 30 days for 220 keys. */
const ROWS_MAX = 720 * 220;

type Counts = Pick<KeyHour, 'answered' | 'limited'>;
type KeyDay = Omit<KeyHour, 'hour'> & { day: string };

export const showUsage: PortalPage = async (visit, { engine, rateLimitPerMinute }) => {
  const { company, now } = visit;
  const { days, spans } = healthSpans(company.timeZone, now);
  const from = spans[0]?.from.toISOString() ?? '';
  const rows = byDay(company, await listKeyHours(engine, company.id, { from, limit: ROWS_MAX }));
  const keys = await listActiveKeys(engine, company.id, now, [...new Set(rows.map(({ keyId }) => keyId))]);
  return page(
    'Usage',
    html`<p>
        The requests of your keys in the last ${days.length} days. The counts are updated every few seconds,
        so the latest requests may be missing. Those of the last 7 days are also listed
        <a href="/portal/requests">one by one</a>; follow a key’s name to see only its own.
      </p>
      ${rows.length === 0 ? nothingAsked(keys) : chartOf(days, rows)}
      ${limitNote(rateLimitPerMinute, sum(rows).limited)}
      <h2>By key</h2>
      ${keyTable(visit, days, { keys, rows })}
      ${stoppedWarning(visit) || html`<p><a href="/portal">The overview</a> says which data the API gives out.</p>`}`,
    { section: 'usage' },
  );
};

/** Replaces the hour of each count by the company's calendar day on which that hour begins. */
function byDay({ timeZone }: Company, rows: readonly KeyHour[]): KeyDay[] {
  const days = new Map(
    [...new Set(rows.map(({ hour }) => hour))].map((hour) => [hour, companyDay(timeZone, new Date(hour))]),
  );
  return rows.map(({ hour, ...row }) => ({ ...row, day: days.get(hour) ?? '' }));
}

function sum(rows: readonly Counts[]): Counts {
  const of = (kind: keyof Counts) => rows.reduce((total, row) => total + row[kind], 0);
  return { answered: of('answered'), limited: of('limited') };
}

function nothingAsked(keys: readonly UsedKey[]): Html {
  return emptyState(
    'No key was used',
    keys.length === 0
      ? html`<a href="/portal/keys/new">Create a key</a>, and give it to one of your programs.`
      : 'Your programs’ requests are counted here by day.',
  );
}

function chartOf(days: readonly string[], rows: readonly KeyDay[]): Html {
  const { answered, limited } = sum(rows);
  return html`${facts([
    ['Requests', countText(answered + limited)],
    ['Refused by the rate limit', countText(limited)],
  ])}
  ${barChart(drawn(days, rows, 'of all keys'), { open: 'Figures by day', caption: 'Requests by day' })}`;
}

/** Prepares a chart of the requests of each day. */
function drawn(days: readonly string[], rows: readonly KeyDay[], whose: string): DayChart {
  const total = sum(rows);
  return {
    summary: `Requests ${whose} in the last ${days.length} days: ${countText(total.answered)} answered, ${countText(total.limited)} refused by the rate limit.`,
    names: { good: 'answered', bad: 'refused by the rate limit' },
    days: days.map((day) => {
      const { answered, limited } = sum(rows.filter((row) => row.day === day));
      return { day, good: answered, bad: limited };
    }),
  };
}

function limitNote(rateLimitPerMinute: number, limited: number): Html {
  return html`<p>
    Each key may send ${countText(rateLimitPerMinute)} requests a minute. Beyond that the API answers 429
    rate_limited, with the time to wait in
    Retry-After.${
      limited > 0 &&
      html` If a program often hits the limit, use webhooks to tell it about changes, or have it ask only for
      changed records, with updatedSince.`
    }
  </p>`;
}

function keyTable(
  visit: Visit,
  days: readonly string[],
  { keys, rows }: { keys: readonly UsedKey[]; rows: readonly KeyDay[] },
): Html {
  return table({
    caption: 'Requests by key',
    columns: ['Key', amount('Requests'), amount('Refused by the rate limit'), named('Last used'), 'By day'],
    rows: keys.map((key) => {
      const own = rows.filter(({ keyId }) => keyId === key.id);
      const { answered, limited } = sum(own);
      return [
        html`<strong><a href="/portal/requests?key=${key.id}">${key.name}</a></strong
          >${hasEnded(key, visit.now) && html` ${badge('plain', 'Ended')}`}<br /><code class="hint"
            >${key.id}</code
          >`,
        countText(answered + limited),
        limited > 0 ? badge('bad', countText(limited)) : '0',
        time(visit, key.usedAt),
        own.length > 0 ? smallChart(drawn(days, own, `of the key ${key.name}`)) : 'None',
      ];
    }),
    empty: ['No keys', html`<a href="/portal/keys/new">Create your first key</a>.`],
  });
}
