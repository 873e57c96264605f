import { readFileSync } from 'node:fs';

import { parse } from 'yaml';

import { escaped, plainPage, withCode } from './plain-page.ts';

/** Sequences of requests in Arazzo 1.0, which `redocly respect` and other tools run. */
export const workflowFiles = ['first-hour', 'first-sync', 'delta-sync', 'webhook-received'].map(
  (name) => `${name}.arazzo.yaml`,
);

export function workflowText(file: string): string {
  return readFileSync(new URL(`workflows/${file}`, import.meta.url), 'utf8');
}

/** The list of the workflows as a page, each with the command that stands at its beginning. */
export function workflowsPage(): string {
  const items = workflowFiles.map((file) => {
    const text = workflowText(file);
    const { info } = parse(text) as { info: { title: string; summary: string } };
    const commands = [...text.matchAll(/^# {5}(.+)$/gm)].map(([, command = '']) => command).join('\n');
    return `
<article>
<h2><a href="/workflows/${file}">${escaped(info.title)}</a></h2>
<p>${withCode(info.summary)}</p>
<pre tabindex="0"><code>${escaped(commands)}</code></pre>
</article>`;
  });
  return plainPage({
    title: 'Workflows of the Fieldledger API',
    content: `<p>Requests in their order, in Arazzo 1.0, for a tool to run. <a href="/reference">Reference</a></p>\n${items.join('\n')}`,
  });
}
