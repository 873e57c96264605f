import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

import { escaped, plainPage, withCode } from './plain-page.ts';

export interface Release {
  version: string;
  /** Day of the release, as `YYYY-MM-DD`. */
  date: string;
  integrators?: Changes;
  operators?: Changes;
}

type Changes = Partial<Record<'Added' | 'Changed' | 'Fixed', string[]>>;

/** Returns each release with its changes, the newest first. */
export function readChangelog(): Release[] {
  // A test checks that the file has this shape.
  return parse(readFileSync(new URL('changelog.yaml', import.meta.url), 'utf8')) as Release[];
}

export function changelogPage(): string {
  const articles = readChangelog().map(
    (release) => `
<article id="${release.version}">
<h2>${release.version} <time datetime="${release.date}">${release.date}</time></h2>
${changesOf(release, 'h3')}
</article>`,
  );
  return plainPage({
    title: 'Changelog of Fieldledger',
    head: '<link rel="alternate" type="application/atom+xml" title="Changelog of Fieldledger" href="/changelog.atom">\n',
    content: `<p><a href="/reference">Reference</a> · <a href="/changelog.atom">Atom feed</a></p>\n${articles.join('\n')}`,
  });
}

/**
 * Returns the changelog as an Atom feed (RFC 4287) with one entry for each release.
 * @param baseUrl the base URL for integrators. It is part of the entries' ids, so these change if it does.
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

function changesOf({ integrators = {}, operators = {} }: Release, heading: 'h2' | 'h3'): string {
  const kinds = Object.entries({ integrators, operators }).flatMap(([readers, ofReaders]) =>
    Object.entries(ofReaders).map(([kind, changes]) => {
      const items = changes.map((change) => `<li>${withCode(change)}</li>`);
      return `<${heading}>${kind} for ${readers}</${heading}>\n<ul>\n${items.join('\n')}\n</ul>`;
    }),
  );
  return kinds.join('\n');
}
