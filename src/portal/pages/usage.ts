import { listKeysAnd } from '../../access/keys.ts';
import { modules } from '../../contract/scopes.ts';
import type { Company } from '../../store/companies.ts';
import type { Engine } from '../../store/engine.ts';
import { type KeyHour, listKeyHours } from '../../store/key-usage.ts';
import type { UsedKey } from '../../store/keys.ts';
import { whyNot, wholeProblem } from '../availability.ts';
import type { Page } from '../route.ts';
import { barChart } from '../views/chart.ts';
import { type Html, html } from '../views/html.ts';
import { badge, emptyState, warning } from '../views/notice.ts';
import { facts, table } from '../views/table.ts';
import { time, timeText } from '../views/time.ts';
import { page, type Visit } from '../visit.ts';

const HOURS = 24;
const HOUR_MS = 3_600_000;
/** Hours of keys that a page reads: those of 20 active keys and of ten times as many that were revoked in a day. */
const ROWS_MAX = HOURS * 220;

interface Counts {
  answered: number;
  limited: number;
}

/** How the company's keys were used in the last day, and what they are good for. */
export function showUsage({
  engine,
  rateLimitPerMinute,
}: {
  engine: Engine;
  rateLimitPerMinute: number;
}): Page {
  return async (visit) => {
    const { company, now } = visit;
    const hours = lastHours(now);
    const rows = await listKeyHours(engine, company.id, { from: hours[0] ?? '', limit: ROWS_MAX });
    const keys = await listKeysAnd(engine, company.id, [...new Set(rows.map(({ keyId }) => keyId))]);
    return page(
      'Usage',
      html`<p>
          What your keys asked for in the last ${HOURS} hours. It is written down every few seconds, so the
          latest requests may be missing yet.
        </p>
        ${rows.length === 0 ? nothingAsked(keys) : chartOf(visit, hours, rows)}
        ${limitNote(rateLimitPerMinute, sum(rows).limited)}
        <h2>By key</h2>
        ${keyTable(visit, hours, { keys, rows })}
        <h2>What the API gives out</h2>
        ${switchesOf(company)}`,
      { section: 'usage' },
    );
  };
}

/** When each of the hours began, the oldest first; the last is the one that runs. */
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
      : 'What your programs ask for is counted here, hour by hour.',
  );
}

function chartOf(visit: Visit, hours: readonly string[], rows: readonly KeyHour[]): Html {
  const total = sum(rows);
  const figures = byHour(hours, rows);
  return html`${facts([
      ['Requests', numberText(total.answered + total.limited)],
      ['Refused by the rate limit', numberText(total.limited)],
    ])}
    ${bars(visit, figures, 'of all keys')}
    <details class="figures">
      <summary>The figures of each hour</summary>
      ${table({
        caption: 'Requests by hour',
        columns: ['Hour from', 'Answered', 'Refused by the rate limit'],
        rows: figures
          .toReversed()
          .map(({ hour, answered, limited }) => [
            time(visit, hour),
            numberText(answered),
            numberText(limited),
          ]),
      })}
    </details>`;
}

function bars({ company }: Visit, figures: readonly ({ hour: string } & Counts)[], whose: string): Html {
  const total = sum(figures);
  return barChart({
    summary: `Requests ${whose} in each of the last ${HOURS} hours: ${numberText(total.answered)} answered, ${numberText(total.limited)} refused by the rate limit.`,
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
    Each key may send ${numberText(rateLimitPerMinute)} requests a minute; beyond that the API answers 429
    rate_limited and says in Retry-After when to go
    on.${
      limited > 0 &&
      html` A program that meets this often asks for more than it needs: webhooks tell it what has changed,
      and updatedSince lets it ask for that alone.`
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
    columns: ['Key', 'Requests', 'Refused by the rate limit', 'Last used', 'By hour'],
    rows: keys.map((key) => {
      const own = rows.filter(({ keyId }) => keyId === key.id);
      const { answered, limited } = sum(own);
      return [
        html`<strong>${key.name}</strong
          >${key.revokedAt !== null && html` ${badge('plain', 'Revoked')}`}<br /><code class="hint"
            >${key.id}</code
          >`,
        numberText(answered + limited),
        limited > 0 ? badge('bad', numberText(limited)) : '0',
        time(visit, key.usedAt),
        own.length > 0 ? bars(visit, byHour(hours, own), `of the key ${key.name}`) : 'None',
      ];
    }),
  });
}

/** What keys are good for at present; the overview has it in full. */
function switchesOf(company: Company): Html {
  const problem = wholeProblem(company);
  if (problem !== undefined) return warning(problem);
  const off = modules.flatMap((module) => {
    const reason = whyNot(company, module);
    return reason === undefined ? [] : [{ module, reason }];
  });
  const on = modules.filter((module) => whyNot(company, module) === undefined);
  return html`<p>
      ${on.length === 0 ? 'Nothing at present.' : `To keys with their scopes: ${on.join(', ')}.`}
      <a href="/portal">The overview</a> has the whole of it.
    </p>
    ${off.length > 0 && facts(off.map(({ module, reason }) => [`Not ${module}`, reason]))}`;
}

const wholeNumbers = new Intl.NumberFormat('en-GB');

function numberText(count: number): string {
  return wholeNumbers.format(count);
}
