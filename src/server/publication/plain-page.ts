import { accentStyle, type VendorLook } from '../process/vendor-look.ts';

const STYLE = `
  :root { color-scheme: light dark; }
  body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
  li { margin-bottom: 0.5rem; }
  pre { overflow-x: auto; }
  a { color: var(--accent); }
  time { font-weight: normal; font-size: 1rem; }`;

/** Content Security Policy of plain pages, which run no scripts, load nothing and can't be framed by other pages. */
export const plainPagePolicy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Returns the HTML of a page that has only text. `head` and `content` are HTML; the title is plain text. */
export function plainPage({ title, head = '', content }: { title: string; head?: string; content: string }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
${head}<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${content}
</main>
</body>
</html>
`;
}

const HEADER_STYLE = `
  .vendor { padding: 0.75rem 1rem; border-bottom: 3px solid var(--accent); font: 700 1rem/2 system-ui, sans-serif; }
  .vendor img { height: 2rem; margin-right: 0.5rem; vertical-align: middle; border-radius: 0.25rem; }`;

/** Returns a plain page or an API reference with the portal's logo and name at its top. */
export function withLook(page: string, look: VendorLook): string {
  const logo = look.logo === undefined ? '' : `<img src="${look.logo}" alt="">`;
  const header = `<header class="vendor">${logo}Fieldledger</header>\n`;
  return page
    .replace('</head>', () => `<style>${accentStyle(look)}${HEADER_STYLE}</style>\n</head>`)
    .replace(/<main>|<div id="redoc">/, (content) => `${header}${content}`);
}

/** Returns text escaped for HTML, with anything in backquotes as a `<code>` element. */
export const withCode = (text: string) => escaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');

export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
