import { countText } from './formats.ts';
import { type Html, html } from './html.ts';

export interface Bar {
  label: string;
  parts: readonly { kind: 'good' | 'bad'; name: string; count: number }[];
}

const BAR_WIDTH = 8;
const GAP = 2;
const HEIGHT = 48;

/**
 * A bar chart with its scale, the labels of the first and last bar, and a legend. Its summary says in words what it shows, and
 * each bar has its figures in a title. Without colours the parts differ in lightness.
 */
export function barChart({ summary, bars }: { summary: string; bars: readonly Bar[] }): Html {
  const most = mostOf(bars);
  return html`<figure class="chart">
    <figcaption>${summary}</figcaption>
    <div class="plot">
      <div class="scale"><span>${countText(most)}</span><span>0</span></div>
      ${svgOf(bars, most, html`aria-hidden="true"`)}
      <div class="dates"><span>${bars[0]?.label}</span><span>${bars.at(-1)?.label}</span></div>
      <div class="legend">
        ${bars[0]?.parts.map(({ kind, name }) => html`<span class="${kind}">${name}</span>`)}
      </div>
    </div>
  </figure>`;
}

/** A chart for a cell of a table. */
export function smallChart({ summary, bars }: { summary: string; bars: readonly Bar[] }): Html {
  return svgOf(bars, mostOf(bars), html`class="small" role="img" aria-label="${summary}"`);
}

/** The upper end of the scale: 1, 2 or 5 with noughts. */
function mostOf(bars: readonly Bar[]): number {
  const most = Math.max(1, ...bars.map(({ parts }) => parts.reduce((sum, { count }) => sum + count, 0)));
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5].find((step) => step * power >= most) ?? 10) * power;
}

function svgOf(bars: readonly Bar[], most: number, attributes: Html): Html {
  const width = bars.length * (BAR_WIDTH + GAP) - GAP;
  return html`<svg ${attributes} viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none">
    ${bars.map((bar, index) => barOf(bar, index * (BAR_WIDTH + GAP), most))}
  </svg>`;
}

function barOf({ label, parts }: Bar, x: number, most: number): Html {
  let top = HEIGHT;
  const rects = parts.map(({ kind, count }) => {
    const height = (count / most) * (HEIGHT - 1);
    top -= height;
    return html`<rect
      class="${kind}"
      x="${x}"
      y="${round(top)}"
      width="${BAR_WIDTH}"
      height="${round(height)}"
    ></rect>`;
  });
  const figures = parts.map(({ name, count }) => `${count} ${name}`).join(', ');
  return html`<g>
    <title>${label}: ${figures}</title>
    <rect class="ground" x="${x}" y="${HEIGHT - 1}" width="${BAR_WIDTH}" height="1"></rect>
    ${rects}
  </g>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
