import { encode } from 'uqr';

import { type Html, html } from './html.ts';

/** Renders a QR code as SVG, dark on light even in dark mode. @param label its description for screen readers. */
export function qrCode(text: string, label: string): Html {
  const { data, size } = encode(text, { border: 4 });
  const modules = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')));
  return html`<svg viewBox="0 0 ${size} ${size}" width="240" height="240" role="img" aria-label="${label}">
    <rect width="${size}" height="${size}" fill="#fff" />
    <path d="${modules.join('')}" fill="#000" shape-rendering="crispEdges" />
  </svg>`;
}
