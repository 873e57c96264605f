/** The appearance, chosen by a vendor, of the pages for its customers: portal, references, changelog and workflows. */
export interface VendorLook {
  /** The colour of links and buttons, as `#rrggbb`; undefined for Fieldledger's own. */
  accent: string | undefined;
  /** The logo as a `data:` URL of a PNG or JPEG; undefined for none. */
  logo: string | undefined;
}

/** Fieldledger's own accent colours, for light and dark pages. */
const OWN = { light: '#0f5c5c', dark: '#6fc7c0' };
/** The colour of the darkest background behind accent-coloured text on light pages (portal.css) and on documents. */
export const LIGHT_GROUND = '#fbfaf8';
/** The colour of the lightest background behind accent-coloured text on dark pages (portal.css). */
const DARK_GROUND = '#1c2225';
/** Minimum contrast ratio of text to its background (WCAG 2.1, success criterion 1.4.3). */
const CONTRAST_MIN = 4.5;

/**
 * Returns the accent colour, in lower case, that the operator has set.
 * @throws Error that completes "PORTAL_ACCENT must be ...", with the contrast of a colour that is too light.
 */
export function parseAccent(text: string): string {
  const rule = `a colour #rrggbb with a contrast of ${CONTRAST_MIN}:1 or more to light pages (WCAG 2.1)`;
  if (!/^#[0-9a-f]{6}$/i.test(text)) throw new Error(rule);
  const ratio = contrast(text, LIGHT_GROUND);
  if (ratio >= CONTRAST_MIN) return text.toLowerCase();
  // 4.496 must not be rounded up to 4.5.
  throw new Error(`${rule}; this one has ${Math.floor(ratio * 100) / 100}:1`);
}

/** Returns CSS custom properties for the accent. For dark pages a vendor's colour is lightened as contrast requires. */
export function accentStyle({ accent }: VendorLook): string {
  const { light, dark } = accent === undefined ? OWN : { light: accent, dark: lightened(accent) };
  return `:root{--accent:${light};--accent-light:${light}}@media(prefers-color-scheme:dark){:root{--accent:${dark}}}`;
}

function lightened(colour: string): string {
  for (let share = 0; share < 1; share += 0.05) {
    const channels = channelsOf(colour).map((value) => Math.round(value + (255 - value) * share));
    const mixed = `#${Buffer.from(channels).toString('hex')}`;
    if (contrast(mixed, DARK_GROUND) >= CONTRAST_MIN) return mixed;
  }
  return '#ffffff';
}

function channelsOf(colour: string): number[] {
  return [...Buffer.from(colour.slice(1), 'hex')];
}

/** Returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.1, "contrast ratio"). */
function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Returns the luminance of a colour, from 0 to 1 (WCAG 2.1, "relative luminance"). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
