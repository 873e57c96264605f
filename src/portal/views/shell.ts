import type { AssetPaths } from '../assets.ts';
import { type Html, html } from './html.ts';

/** What is around every page, whoever sees it. */
export function shell({
  serviceName,
  assets,
  title,
  content,
  isAlone = false,
}: {
  serviceName: string;
  assets: AssetPaths;
  title: string;
  content: Html;
  /** Whether the page has no frame that says whose it is. */
  isAlone?: boolean;
}): string {
  return html`<!doctype html>
    <html lang="en-GB">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title} · ${serviceName}</title>
        <link rel="icon" href="${assets.icon}" type="image/svg+xml" />
        <link rel="stylesheet" href="${assets.stylesheet}" />
        <script src="${assets.script}" type="module"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        ${isAlone && html`<header class="brand alone"><a href="/portal">${serviceName}</a></header>`}
        ${content}
      </body>
    </html>`.toString();
}
