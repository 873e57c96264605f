import { version } from '../../contract/version.ts';
import { bundledOperations, readContractBundle } from './bundle.ts';

/**
 * Returns `llms.txt` (https://llmstxt.org), which says what the service is and where each part of its reference is, for
 * language models.
 */
export function llmsText(): string {
  const { info, servers, webhooks } = readContractBundle();
  const [{ url }] = servers;
  const linkTo = (name: string, target: string, text?: string) =>
    `- [${name}](${url}/${target})${text === undefined ? '' : `: ${text}`}`;
  const inReference = (heading: string, text?: string) =>
    linkTo(heading, `reference.md#${anchorOf(heading)}`, text);
  const [first = ''] = info.description.split('\n');
  return [
    `# ${info.title}`,
    `> ${info.summary}`,
    first,
    `Requests go to ${url}/api/v1 with the header \`Authorization: Bearer <key>\`. Lists are read page by page: ` +
      'the `nextCursor` of one page is the `cursor` of the next. A key may send 120 requests a minute.',
    '## Reference',
    [
      linkTo('Reference', 'reference.md', 'all of it in one file of Markdown'),
      linkTo('OpenAPI 3.1', 'openapi.json', 'the contract for programs, also as /openapi.yaml'),
      linkTo('OpenAPI 3.0', 'openapi-3.0.json', 'the same without the webhooks, for generators that need it'),
    ].join('\n'),
    '## Guides',
    [...info.description.matchAll(/^# (.+)$/gm)].map(([, heading = '']) => inReference(heading)).join('\n'),
    '## Operations',
    bundledOperations()
      .map(({ summary, path, description }) =>
        inReference(summary, `\`GET ${path}\`. ${firstLine(description)}`),
      )
      .join('\n'),
    '## Webhooks',
    Object.entries(webhooks)
      .map(([name, { post }]) => inReference(`Event ${name}`, `${post.summary}.`))
      .join('\n'),
    '## Clients and tools',
    [
      inReference('Clients and tools', TOOLS),
      inReference('Generated clients', 'which generators read the contract, and what they need'),
      linkTo('The package', `client-${version}.tgz`, 'which `npm install` takes by this address'),
      linkTo('Workflows', 'workflows/', 'requests in their order, in Arazzo 1.0'),
    ].join('\n'),
    '## Feed',
    [
      linkTo('Reference of the feed', 'feed-reference', 'by which a business system brings changes in'),
      linkTo('OpenAPI 3.1 of the feed', 'feed.json', 'the same for programs'),
    ].join('\n'),
    '## Optional',
    [
      linkTo('Reference for browsers', 'reference', 'the same as a page'),
      linkTo('Changelog', 'changelog.atom', 'what each release added, as an Atom feed'),
    ].join('\n'),
    '',
  ].join('\n\n');
}

const TOOLS =
  'the package `@fieldledger/client` has a client for TypeScript, `pull` for a copy in SQLite, `export` for a spreadsheet, ' +
  '`mcp` for a language model, and `webhook play` for a receiver';

const firstLine = (text: string) => text.split('\n')[0] ?? '';

/** Returns the URL fragment that GitHub and most Markdown renderers give a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}
