import { type Html, html } from './html.ts';

export interface Bar {
  label: string;
  parts: readonly { kind: 'good' | 'bad'; name: string; count: number }[];
}

const BAR_WIDTH = 8;
const GAP = 2;
const HEIGHT = 48;

/**
 * A small bar chart. Its summary says in words what it shows, and each bar has its figures in a title. Without colours
 * the parts differ in lightness.
 */
export function barChart({ summary, bars }: { summary: string; bars: readonly Bar[] }): Html {
  const most = Math.max(1, ...bars.map(({ parts }) => parts.reduce((sum, { count }) => sum + count, 0)));
  const width = Math.max(1, bars.length * (BAR_WIDTH + GAP) - GAP);
  return html`<svg
    class="chart"
    role="img"
    aria-label="${summary}"
    viewBox="0 0 ${width} ${HEIGHT}"
    preserveAspectRatio="none"
  >
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
