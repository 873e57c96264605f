import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

export interface Release {
  version: string;
  /** The day on which it was cut. */
  date: string;
  integrators?: string[];
  operators?: string[];
}

/** The changes of each release, the newest first. */
export function readChangelog(): Release[] {
  // A test holds the file to this shape.
  return parse(readFileSync(new URL('changelog.yaml', import.meta.url), 'utf8')) as Release[];
}

const STYLE = `
  :root { color-scheme: light dark; }
  body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
  li { margin-bottom: 0.5rem; }
  time { font-weight: normal; font-size: 1rem; }`;

/** The page runs nothing, loads nothing, and stands in nobody's frame. */
export const changelogPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The changelog as a page. */
export function changelogPage(): string {
  const articles = readChangelog().map(
    (release) => `
<article id="${release.version}">
<h2>${release.version} <time datetime="${release.date}">${release.date}</time></h2>
${changesOf(release, 'h3')}
</article>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Changelog of Fieldledger</title>
<link rel="alternate" type="application/atom+xml" title="Changelog of Fieldledger" href="/changelog.atom">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Changelog of Fieldledger</h1>
<p><a href="/reference">Reference</a> · <a href="/changelog.atom">Atom feed</a></p>
${articles.join('\n')}
</main>
</body>
</html>
`;
}

/**
 * The changelog as an Atom feed (RFC 4287), one entry for each release.
 * @param baseUrl the address that integrators use: entries are known by it, so that they stay the same while it does.
 */
export function changelogFeed(baseUrl: string): string {
  const releases = readChangelog();
  const timeOf = ({ date }: Release) => `${date}T00:00:00Z`;
  const entries = releases.map((release) => {
    const address = `${baseUrl}/changelog#${release.version}`;
    return `
  <entry>
    <id>${address}</id>
    <title>Fieldledger ${release.version}</title>
    <updated>${timeOf(release)}</updated>
    <link rel="alternate" type="text/html" href="${address}"/>
    <content type="html">${escaped(changesOf(release, 'h2'))}</content>
  </entry>`;
  });
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
  <id>${baseUrl}/changelog.atom</id>
  <title>Changelog of Fieldledger</title>
  <updated>${releases.map(timeOf).sort().at(-1) ?? ''}</updated>
  <author><name>Fieldledger</name></author>
  <link rel="self" type="application/atom+xml" href="${baseUrl}/changelog.atom"/>
  <link rel="alternate" type="text/html" href="${baseUrl}/changelog"/>${entries.join('')}
</feed>
`;
}

function changesOf({ integrators = [], operators = [] }: Release, heading: 'h2' | 'h3'): string {
  return Object.entries({ integrators, operators })
    .filter(([, changes]) => changes.length > 0)
    .map(([readers, changes]) => {
      const items = changes.map((change) => `<li>${withCode(escaped(change))}</li>`);
      return `<${heading}>For ${readers}</${heading}>\n<ul>\n${items.join('\n')}\n</ul>`;
    })
    .join('\n');
}

const withCode = (text: string) => text.replaceAll(/`([^`]+)`/g, '<code>$1</code>');
const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
