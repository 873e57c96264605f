import { countText, dayText } from './formats.ts';
import { type Html, html } from './html.ts';
import { amount, table } from './table.ts';

/** The counts of a day, such as answered and refused requests. */
export interface DayCounts {
  /** `YYYY-MM-DD` */
  day: string;
  good: number;
  bad: number;
}

export interface DayChart {
  /** A sentence that describes what the chart shows. */
  summary: string;
  /** Labels of the two counts. */
  names: Record<'good' | 'bad', string>;
  /** The days, oldest first. */
  days: readonly DayCounts[];
}

const kinds = ['good', 'bad'] as const;
const BAR_WIDTH = 8;
const GAP = 2;
const HEIGHT = 48;

/**
 * Renders a bar chart with a scale, the first and last day, and a legend. Each bar has its figures in a title. A table below
 * repeats them, without the days that have none. The parts of a bar also differ in lightness, for colour-blind people.
 * @param figures the label that opens the table, the table's caption, and a sentence to show instead of an empty table.
 */
export function barChart(
  chart: DayChart,
  figures: Record<'open' | 'caption', string> & { none?: string },
): Html {
  const { summary, names, days } = chart;
  const counted = days.filter(({ good, bad }) => good + bad > 0);
  return html`<figure class="chart">
      <figcaption>${summary}</figcaption>
      <div class="plot">
        <div class="scale"><span>${countText(mostOf(days))}</span><span>0</span></div>
        ${svgOf(chart, html`aria-hidden="true"`)}
        <div class="dates"><span>${labelOf(days[0])}</span><span>${labelOf(days.at(-1))}</span></div>
        <div class="legend">${kinds.map((kind) => html`<span class="${kind}">${names[kind]}</span>`)}</div>
      </div>
    </figure>
    <details>
      <summary>${figures.open}</summary>
      ${
        counted.length === 0
          ? html`<p>${figures.none}</p>`
          : table({
              caption: figures.caption,
              columns: ['Day', ...kinds.map((kind) => amount(headed(names[kind])))],
              rows: counted
                .toReversed()
                .map(({ day, good, bad }) => [dayText(day), countText(good), countText(bad)]),
            })
      }
    </details>`;
}

const headed = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** Renders a chart small enough for a table cell. */
export function smallChart(chart: DayChart): Html {
  return svgOf(chart, html`class="small" role="img" aria-label="${chart.summary}"`);
}

const labelOf = (counts: DayCounts | undefined) => counts && dayText(counts.day);

/** Returns the upper end of the scale: 1, 2 or 5 times a power of ten. */
function mostOf(days: readonly DayCounts[]): number {
  const most = Math.max(1, ...days.map(({ good, bad }) => good + bad));
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5].find((step) => step * power >= most) ?? 10) * power;
}

function svgOf({ names, days }: DayChart, attributes: Html): Html {
  const width = days.length * (BAR_WIDTH + GAP) - GAP;
  const most = mostOf(days);
  return html`<svg ${attributes} viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none">
    ${days.map((counts, index) => barOf(counts, names, { x: index * (BAR_WIDTH + GAP), most }))}
  </svg>`;
}

function barOf(counts: DayCounts, names: DayChart['names'], { x, most }: { x: number; most: number }): Html {
  let top = HEIGHT;
  const rects = kinds.map((kind) => {
    const height = (counts[kind] / most) * (HEIGHT - 1);
    top -= height;
    return html`<rect
      class="${kind}"
      x="${x}"
      y="${round(top)}"
      width="${BAR_WIDTH}"
      height="${round(height)}"
    ></rect>`;
  });
  const figures = kinds.map((kind) => `${counts[kind]} ${names[kind]}`).join(', ');
  return html`<g>
    <title>${dayText(counts.day)}: ${figures}</title>
    <rect class="ground" x="${x}" y="${HEIGHT - 1}" width="${BAR_WIDTH}" height="1"></rect>
    ${rects}
  </g>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
