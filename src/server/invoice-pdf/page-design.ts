import { LIGHT_GROUND } from '../process/vendor-look.ts';
import type { TextStyle } from './text-blocks.ts';

/** In points; a millimetre is 2.8346 of them. */
export const PAGE_SIZES = {
  A4: { width: 595.28, height: 841.89 },
  Letter: { width: 612, height: 792 },
};

/** All is laid out in the width of A4. A wider page has it in its middle. */
export const PAGE_WIDTH = PAGE_SIZES.A4.width;
export const LEFT_MARGIN = 56.7;
export const RIGHT = PAGE_WIDTH - LEFT_MARGIN;
export const CONTENT_WIDTH = RIGHT - LEFT_MARGIN;
/** Where the second column of the head begins. */
export const COLUMN = 322;
export const TOP = 45;
/** Content ends so far above the lower edge; the foot of the page is below it. */
export const BOTTOM_MARGIN = 74;
/** How far above the lower edge the foot of the page begins. */
export const FOOT_MARGIN = 42;
/** The customer's name and address begin here, where the window of a DL envelope shows them. */
export const ADDRESS_TOP = 150;

const INK = '#1b2328';
/** 5.9 to 1 against white, more than accessible text needs. */
const GREY = '#5a666e';
/** Names of the two colours that differ between documents; a sheet knows which they are. */
export const ACCENT = 'accent';
export const TINT = 'tint';
export const RULE = '#c8d0d4';
/** Behind the text, which has to stay legible on it. */
export const WATERMARK = '#ebedee';

/** The colours of a document. A vendor's accent stands on the ground on which its contrast was checked. */
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
