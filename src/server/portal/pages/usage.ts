import { HOUR_MS } from '../../../contract/durations.ts';
import { type KeyHour, listKeyHours } from '../../store/keys/key-usage.ts';
import { listActiveKeys, type UsedKey } from '../../store/keys/keys.ts';
import { stoppedWarning } from '../availability.ts';
import { barChart } from '../views/chart.ts';
import { countText, time, timeText } from '../views/formats.ts';
import { type Html, html } from '../views/html.ts';
import { badge, emptyState } from '../views/notice.ts';
import { facts, table } from '../views/table.ts';
import { page, type Page, type Visit } from '../visit.ts';

const HOURS = 24;
const ROWS_MAX = HOURS * 220;

interface Counts {
  answered: number;
  limited: number;
}

export const showUsage: Page = async (visit, { engine, rateLimitPerMinute }) => {
  const { company, now } = visit;
  const hours = lastHours(now);
  const rows = await listKeyHours(engine, company.id, { from: hours[0] ?? '', limit: ROWS_MAX });
  const keys = await listActiveKeys(engine, company.id, [...new Set(rows.map(({ keyId }) => keyId))]);
  return page(
    'Usage',
    html`<p>
        The requests of your keys in the last ${HOURS} hours. The counts are updated every few seconds, so the
        latest requests may be missing.
      </p>
      ${rows.length === 0 ? nothingAsked(keys) : chartOf(visit, hours, rows)}
      ${limitNote(rateLimitPerMinute, sum(rows).limited)}
      <h2>By key</h2>
      ${keyTable(visit, hours, { keys, rows })}
      ${stoppedWarning(company) || html`<p><a href="/portal">The overview</a> says which data the API gives out.</p>`}`,
    { section: 'usage' },
  );
};

function lastHours(now: Date): string[] {
  const current = Math.floor(now.getTime() / HOUR_MS);
  return Array.from({ length: HOURS }, (_value, index) =>
    new Date((current - HOURS + 1 + index) * HOUR_MS).toISOString(),
  );
}

function sum(rows: readonly Counts[]): Counts {
  const total = { answered: 0, limited: 0 };
  for (const { answered, limited } of rows) {
    total.answered += answered;
    total.limited += limited;
  }
  return total;
}

function byHour(hours: readonly string[], rows: readonly KeyHour[]): ({ hour: string } & Counts)[] {
  return hours.map((hour) => ({ hour, ...sum(rows.filter((row) => row.hour === hour)) }));
}

function nothingAsked(keys: readonly UsedKey[]): Html {
  return emptyState(
    'No key was used in this time',
    keys.length === 0
      ? html`<a href="/portal/keys/new">Create a key</a>, and give it to one of your programs.`
      : 'The requests of your programs are counted here by the hour.',
  );
}

function chartOf(visit: Visit, hours: readonly string[], rows: readonly KeyHour[]): Html {
  const total = sum(rows);
  const figures = byHour(hours, rows);
  return html`${facts([
      ['Requests', countText(total.answered + total.limited)],
      ['Refused by the rate limit', countText(total.limited)],
    ])}
    ${bars(visit, figures, 'of all keys')}
    <details class="figures">
      <summary>The figures of each hour</summary>
      ${table({
        caption: 'Requests by hour',
        columns: [
          'Hour from',
          { name: 'Answered', kind: 'amount' },
          { name: 'Refused by the rate limit', kind: 'amount' },
        ],
        rows: figures
          .toReversed()
          .map(({ hour, answered, limited }) => [time(visit, hour), countText(answered), countText(limited)]),
      })}
    </details>`;
}

function bars({ company }: Visit, figures: readonly ({ hour: string } & Counts)[], whose: string): Html {
  const total = sum(figures);
  return barChart({
    summary: `Requests ${whose} in each of the last ${HOURS} hours: ${countText(total.answered)} answered, ${countText(total.limited)} refused by the rate limit.`,
    bars: figures.map(({ hour, answered, limited }) => ({
      label: timeText(company.timeZone, hour),
      parts: [
        { kind: 'good', name: 'answered', count: answered },
        { kind: 'bad', name: 'refused by the rate limit', count: limited },
      ],
    })),
  });
}

function limitNote(rateLimitPerMinute: number, limited: number): Html {
  return html`<p>
    Each key may send ${countText(rateLimitPerMinute)} requests a minute. Beyond that the API answers 429
    rate_limited, with the time to wait in
    Retry-After.${
      limited > 0 &&
      html` If a program is limited often, let webhooks tell it of changes, and let it ask with updatedSince
      for changed records alone.`
    }
  </p>`;
}

function keyTable(
  visit: Visit,
  hours: readonly string[],
  { keys, rows }: { keys: readonly UsedKey[]; rows: readonly KeyHour[] },
): Html {
  if (keys.length === 0)
    return emptyState('There is no key', html`<a href="/portal/keys/new">Create one</a> to begin with.`);
  return table({
    caption: 'Requests by key',
    columns: [
      'Key',
      { name: 'Requests', kind: 'amount' },
      { name: 'Refused by the rate limit', kind: 'amount' },
      { name: 'Last used', kind: 'named' },
      'By hour',
    ],
    rows: keys.map((key) => {
      const own = rows.filter(({ keyId }) => keyId === key.id);
      const { answered, limited } = sum(own);
      return [
        html`<strong>${key.name}</strong
          >${key.revokedAt !== null && html` ${badge('plain', 'Revoked')}`}<br /><code class="hint"
            >${key.id}</code
          >`,
        countText(answered + limited),
        limited > 0 ? badge('bad', countText(limited)) : '0',
        time(visit, key.usedAt),
        own.length > 0 ? bars(visit, byHour(hours, own), `of the key ${key.name}`) : 'None',
      ];
    }),
  });
}
