import { LIGHT_GROUND } from '../process/vendor-look.ts';
import type { TextStyle } from './text-blocks.ts';

/** Page sizes in points; a millimetre is 2.8346 points. */
export const PAGE_SIZES = {
  A4: { width: 595.28, height: 841.89 },
  Letter: { width: 612, height: 792 },
};

/** The layout width, which is that of A4. A wider page has its content centred. */
export const PAGE_WIDTH = PAGE_SIZES.A4.width;
export const LEFT_MARGIN = 56.7;
export const RIGHT = PAGE_WIDTH - LEFT_MARGIN;
export const CONTENT_WIDTH = RIGHT - LEFT_MARGIN;
/** The left edge of the header's second column. */
export const COLUMN = 322;
export const TOP = 45;
/** The distance from the end of the content to the page's lower edge; the footer is below the content. */
export const BOTTOM_MARGIN = 74;
/** The distance from the top of the footer to the page's lower edge. */
export const FOOT_MARGIN = 42;
/** The top of the customer's name and address, where the window of a DL envelope shows them. */
export const ADDRESS_TOP = 150;

const INK = '#1b2328';
/** The colour of secondary text; its contrast on white is 5.9 to 1, more than accessible text needs. */
const GREY = '#5a666e';
/** Placeholders for the two colours that differ between documents; a sheet resolves them. */
export const ACCENT = 'accent';
export const TINT = 'tint';
export const RULE = '#c8d0d4';
/** The colour of the watermark, on which text must stay legible. */
export const WATERMARK = '#ebedee';

/** Returns the colours of a document. An operator's accent is used on the background against which it was checked. */
export function coloursOf(accent: string | undefined): Partial<Record<string, string>> {
  return accent === undefined
    ? { [ACCENT]: '#0b5566', [TINT]: '#eef4f5' }
    : { [ACCENT]: accent, [TINT]: LIGHT_GROUND };
}

const style = (
  size: number,
  leading: number,
  weight: TextStyle['weight'] = 'regular',
  color = INK,
): TextStyle => ({
  size,
  leading,
  weight,
  color,
});

export const STYLES = {
  title: style(23, 27, 'semibold', ACCENT),
  number: style(12, 15, 'semibold'),
  name: style(11, 14, 'semibold'),
  wordmark: style(17, 21, 'semibold', ACCENT),
  body: style(9.5, 12.75),
  bodyGrey: style(9.5, 12.75, 'regular', GREY),
  strong: style(9.5, 12.75, 'semibold'),
  link: style(9.5, 12.75, 'regular', ACCENT),
  label: style(8, 10.5, 'semibold', ACCENT),
  small: style(8.25, 11, 'regular', GREY),
  fine: style(7.5, 10, 'regular', GREY),
  cell: style(9, 12),
  cellStrong: style(9, 12, 'semibold'),
  head: style(8, 10.5, 'semibold', ACCENT),
  grand: style(12.5, 16, 'semibold', ACCENT),
  warning: style(10, 13, 'semibold', '#9a3412'),
  watermark: style(150, 150, 'semibold', WATERMARK),
} satisfies Record<string, TextStyle>;
